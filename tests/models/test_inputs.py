"""Every kind of model reads the same text."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch.nn import functional as F  # noqa: N812

from headgauge import models

IDS = torch.arange(3, 19).reshape(2, 8)


def _loaded(build: Callable[[str, str], Any], name: str, kind: Any) -> models.LoadedModel:
    model = build(name, "sdpa").model
    return models.LoadedModel(model, None, name, "folder", models.describe(model, kind))


@pytest.mark.parametrize(
    ("name", "kind", "seen"),
    [("llama", "decoder", 2), ("bert", "encoder", 2), ("t5", "encoder-decoder", 6)],
)
def test_all_attention_runs(
    build: Callable[[str, str], Any], name: str, kind: str, seen: int
) -> None:
    loaded = _loaded(build, name, kind)
    with torch.no_grad(), models.intercept(loaded.model, lambda call: None) as found:
        output = loaded.model(**models.model_inputs(loaded, IDS))
    assert len(found.observed) == seen
    assert found.idle == []
    loss = models.next_token_loss(loaded, output, IDS)
    assert (loss is None) == (kind == "encoder")


def test_the_decoder_reads_the_text_one_place_later(build: Callable[[str, str], Any]) -> None:
    inputs = models.model_inputs(_loaded(build, "t5", "encoder-decoder"), IDS)
    assert inputs["decoder_input_ids"].tolist()[1] == [0, 11, 12, 13, 14, 15, 16, 17]


def test_the_loss_is_that_of_the_model(build: Callable[[str, str], Any]) -> None:
    loaded = _loaded(build, "llama", "decoder")
    with torch.no_grad():
        output = loaded.model(IDS, labels=IDS)
    loss = models.next_token_loss(loaded, output, IDS)
    assert loss is not None
    torch.testing.assert_close(loss.mean(), output.loss)
    torch.testing.assert_close(loss[1], F.cross_entropy(output.logits[1, :-1], IDS[1, 1:]))


def test_the_loss_of_many_tokens_is_that_of_all_at_once(
    build: Callable[[str, str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = _loaded(build, "llama", "decoder")
    source = torch.Generator().manual_seed(0)
    logits = 9 * torch.randn(2, 101, 37, generator=source)
    ids = torch.randint(37, (2, 101), generator=source)
    largest: list[int] = []
    whole = F.cross_entropy

    def watched(rows: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
        largest.append(rows.numel())
        return whole(rows, *args, **kwargs)

    monkeypatch.setattr("headgauge.models.inputs._AT_ONCE", 400)
    monkeypatch.setattr(F, "cross_entropy", watched)
    loss = models.next_token_loss(loaded, SimpleNamespace(logits=logits), ids)
    assert loss is not None
    assert max(largest) <= 400
    wanted = [whole(logits[i, :-1].double(), ids[i, 1:]) for i in range(2)]
    torch.testing.assert_close(loss.double(), torch.stack(wanted), atol=1e-6, rtol=0)
