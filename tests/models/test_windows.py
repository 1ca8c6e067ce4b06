"""Windows are consecutive tokens of a text tokenised whole; every kind of model reads the same."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
import transformers as hf
from tokenizers import Tokenizer, pre_tokenizers, processors
from tokenizers import models as token_models
from torch.nn import functional as F  # noqa: N812

from headgauge import models
from headgauge.errors import InputError
from headgauge.models.facts import describe
from headgauge.models.windows import check_context, check_tokenizer

TEN = torch.arange(10)
IDS = torch.arange(3, 19).reshape(2, 8)


def _cut(*args: Any, **kwargs: Any) -> list[tuple[int, list[int]]]:
    return [(start, ids.tolist()) for start, ids in models.cut_windows(TEN, *args, **kwargs)]


def test_windows_follow_one_another() -> None:
    assert _cut(length=3, count=2, offset=2) == [(2, [2, 3, 4]), (5, [5, 6, 7])]
    assert _cut(length=5, count=2)[1] == (5, [5, 6, 7, 8, 9])  # all tokens can be used


def test_bos_is_one_of_the_tokens() -> None:
    found = _cut(length=3, count=2, offset=1, bos_token=11)
    assert found == [(1, [11, 1, 2]), (3, [11, 3, 4])]


def test_no_special_tokens_in_the_text() -> None:
    words = {f"w{i}": i for i in range(10)} | {"<s>": 11, "</s>": 12, "<unk>": 13}
    inner = Tokenizer(token_models.WordLevel(words, unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.Whitespace()  # type: ignore[assignment]
    inner.post_processor = processors.TemplateProcessing(  # type: ignore[assignment]
        single="<s> $A </s>", special_tokens=[("<s>", 11), ("</s>", 12)]
    )
    tokenizer = hf.PreTrainedTokenizerFast(tokenizer_object=inner, bos_token="<s>")
    text = " ".join(f"w{i}" for i in range(10))
    assert models.tokenise(tokenizer, text).tolist() == list(range(10))


def test_mistakes(build: Callable[[str, str], Any]) -> None:
    loaded = replace(_loaded(build, "llama", "decoder"), name="tiny")
    with pytest.raises(InputError, match="65 tokens is longer than the context of tiny: at most"):
        check_context(loaded, 65)
    check_context(loaded, 64)
    with pytest.raises(InputError, match="tiny came without a tokenizer"):
        check_tokenizer(loaded)
    mistakes: list[tuple[dict[str, Any], str]] = [
        ({"length": 64, "count": 1, "name": "x"}, "x has 10 tokens, but 64 are needed (1 × 64"),
        ({"length": 5, "count": 2, "offset": 1}, "the text has 10 tokens, but 11 are needed"),
        ({"length": 0, "count": 1}, "must be at least 1"),
        ({"length": 1, "count": 1, "bos_token": 11}, "BOS alone"),
    ]
    for given, said in mistakes:
        with pytest.raises(InputError, match=re.escape(said)):
            _cut(**given)


def _loaded(build: Callable[[str, str], Any], name: str, kind: Any) -> models.LoadedModel:
    model = build(name, "sdpa").model
    return models.LoadedModel(model, None, name, "folder", describe(model, kind))


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
    assert found.unseen == []
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
    facts = describe(model, "encoder-decoder")
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
