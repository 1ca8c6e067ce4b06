"""Every kind of model reads the same text."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import transformers as hf
from torch.nn import functional as F  # noqa: N812

from headgauge import models
from headgauge.errors import InputError

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


def _bart(**more: Any) -> models.LoadedModel:
    config = hf.BartConfig(
        vocab_size=50, d_model=32, encoder_layers=1, decoder_layers=1, encoder_attention_heads=4,
        decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=48, bos_token_id=0,
        pad_token_id=1, eos_token_id=2, decoder_start_token_id=2, max_position_embeddings=64,
    )  # fmt: skip
    torch.manual_seed(0)
    model = hf.BartForConditionalGeneration(config).eval()
    for name, value in more.items():
        setattr(model.generation_config, name, value)
    facts = models.describe(model, "encoder-decoder")
    return models.LoadedModel(model, None, "bart", "folder", facts)


@pytest.mark.parametrize(
    ("forced", "first", "start"),
    [(None, 3, [2, 3, 4]), (0, 3, [2, 0, 3, 4]), (0, 0, [2, 0, 4])],
)
def test_a_decoder_starts_as_its_own_output_does(
    forced: int | None, first: int, start: list[int]
) -> None:
    """BART generates </s> <s> text: so it reads, also where the window has its BOS already."""
    loaded = _bart(forced_bos_token_id=forced)
    ids = IDS[:1].clone()
    ids[0, 0] = first
    found = models.model_inputs(loaded, ids)["decoder_input_ids"]
    assert found.shape == ids.shape
    assert found[0, : len(start)].tolist() == start
    model: Any = loaded.model
    generated = model.generate(ids, max_new_tokens=1, forced_eos_token_id=None)[0].tolist()
    assert generated[: 1 + (forced is not None)] == start[: 1 + (forced is not None)]


def test_the_loss_behind_a_forced_start() -> None:
    """Token for token what the model gives the same text behind the same start."""
    loaded = _bart(forced_bos_token_id=7)
    inputs = models.model_inputs(loaded, IDS)
    assert inputs["decoder_input_ids"].tolist()[0] == [2, 7, 3, 4, 5, 6, 7, 8]
    with torch.no_grad():
        output = loaded.model(**inputs)
    loss = models.next_token_loss(loaded, output, IDS)
    assert loss is not None
    expected = F.cross_entropy(output.logits[0, 1:], torch.tensor([3, 4, 5, 6, 7, 8, 9]))
    torch.testing.assert_close(loss[0], expected)


@pytest.mark.parametrize(
    ("names", "start"),
    [
        ({"decoder_start_token_id": 9}, 9),
        ({"decoder_start_token_id": None, "bos_token_id": 8}, 8),
        ({"decoder_start_token_id": None, "bos_token_id": None}, 1),
    ],
)
def test_where_a_decoder_finds_its_start(names: dict[str, Any], start: int) -> None:
    loaded = _bart()
    model: Any = loaded.model
    for name, value in names.items():
        setattr(model.config, name, value)
        setattr(model.generation_config, name, value)
    assert models.model_inputs(loaded, IDS)["decoder_input_ids"][1, 0] == start
    model.config.pad_token_id = model.generation_config.pad_token_id = None
    if start == 1:
        with pytest.raises(InputError, match="names no decoder start token"):
            models.model_inputs(loaded, IDS)


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


@pytest.mark.parametrize(
    ("ids", "said"),
    [
        (torch.tensor([[3, 4], [5, 50]]), "token id 50 at place 1 of window 1"),
        (torch.tensor([3, -7]), "token id -7 at place 1 is none: llama knows the tokens 0 to 49"),
        (torch.tensor([3, 2**40]), "token id 1099511627776 at place 1"),
        (torch.tensor([3.0, 4.0]), "torch.float32 of shape (2,)"),
        (torch.tensor([True, False]), "torch.bool"),
        (torch.ones(1, 2, 3, dtype=torch.long), "shape (1, 2, 3)"),
        (torch.tensor(3), "shape ()"),
        (torch.ones(2, 0, dtype=torch.long), "shape (2, 0)"),
    ],
)
def test_ids_that_the_model_does_not_know(
    build: Callable[[str, str], Any], ids: torch.Tensor, said: str
) -> None:
    loaded = _loaded(build, "llama", "decoder")
    with pytest.raises(InputError) as caught:
        models.check_ids(loaded, ids)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_vocabulary_is_the_embeddings(build: Callable[[str, str], Any]) -> None:
    """A model's configuration may be older than its embedding."""
    loaded = _loaded(build, "llama", "decoder")
    loaded.model.resize_token_embeddings(60)  # type: ignore[operator]
    loaded.model.config.vocab_size = 50  # type: ignore[union-attr]
    assert models.vocabulary(loaded) == 60
    models.check_ids(loaded, torch.tensor([59]))
    with pytest.raises(InputError, match="token id 60 "):
        models.model_inputs(loaded, torch.tensor([[60]]))
