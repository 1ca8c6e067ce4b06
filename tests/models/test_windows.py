"""Windows are consecutive tokens of a text tokenised whole."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import transformers as hf
from tokenizers import Tokenizer, pre_tokenizers, processors
from tokenizers import models as token_models

from headgauge import models
from headgauge.errors import InputError
from headgauge.models.windows import cut, tokenise

TEXT = models.SourceText("ten words", " ".join(f"w{i}" for i in range(10)), "", "")


def _tokenizer(bos: bool, adds: bool) -> Any:
    words = {f"w{i}": i for i in range(10)} | {"a": 10, "<s>": 11, "</s>": 12, "<unk>": 13}
    inner = Tokenizer(token_models.WordLevel(words, unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.Whitespace()  # type: ignore[assignment]
    if adds:
        inner.post_processor = processors.TemplateProcessing(  # type: ignore[assignment]
            single="<s> $A </s>", special_tokens=[("<s>", 11), ("</s>", 12)]
        )
    named = {"bos_token": "<s>"} if bos else {}
    return hf.PreTrainedTokenizerFast(tokenizer_object=inner, **named)


def _loaded(build: Callable[[str, str], Any], bos: bool = True, adds: bool = False) -> Any:
    model = build("llama", "sdpa").model
    facts = models.describe(model, "decoder")
    return models.LoadedModel(model, _tokenizer(bos, adds), "tiny", "folder", facts)


def test_windows_follow_one_another(build: Callable[[str, str], Any]) -> None:
    windows = models.cut_windows(_loaded(build), TEXT, length=3, count=2, offset=2)
    assert windows.ids.tolist() == [[2, 3, 4], [5, 6, 7]]
    assert windows.starts == (2, 5)
    assert windows.text_tokens == 10
    assert not windows.bos


def test_bos_is_one_of_the_tokens(build: Callable[[str, str], Any]) -> None:
    windows = models.cut_windows(_loaded(build, adds=True), TEXT, length=3, count=2, offset=1)
    assert windows.ids.tolist() == [[11, 1, 2], [11, 3, 4]]
    assert windows.starts == (1, 3)
    assert windows.bos
    never = models.cut_windows(_loaded(build, adds=True), TEXT, length=3, bos="never")
    assert never.ids.tolist() == [[0, 1, 2]]
    always = models.cut_windows(_loaded(build), TEXT, length=3, bos="always")
    assert always.ids.tolist() == [[11, 0, 1]]


def test_no_special_tokens_in_the_text() -> None:
    assert tokenise(_tokenizer(bos=True, adds=True), TEXT.text).tolist() == list(range(10))


def test_all_tokens_can_be_used() -> None:
    assert cut(torch.arange(10), length=5, count=2).ids.tolist()[1] == [5, 6, 7, 8, 9]
    with pytest.raises(InputError, match="the text has 10 tokens, but 11 are needed"):
        cut(torch.arange(10), length=5, count=2, offset=1)


def test_mistakes(build: Callable[[str, str], Any]) -> None:
    loaded = _loaded(build)
    with pytest.raises(InputError, match=r"ten words has 10 tokens, but 64 are needed \(1 × 64"):
        models.cut_windows(loaded, TEXT, length=64)
    with pytest.raises(
        InputError, match="65 tokens is longer than the context of tiny: at most 64"
    ):
        models.cut_windows(loaded, TEXT, length=65)
    with pytest.raises(InputError, match="must be at least 1"):
        models.cut_windows(loaded, TEXT, length=0)
    with pytest.raises(InputError, match="BOS alone"):
        models.cut_windows(loaded, TEXT, length=1, bos="always")
    with pytest.raises(InputError, match="no BOS"):
        models.cut_windows(_loaded(build, bos=False), TEXT, length=2, bos="always")
    bare = models.LoadedModel(loaded.model, None, "bare", "folder", loaded.facts)
    with pytest.raises(InputError, match="bare came without a tokenizer"):
        models.cut_windows(bare, TEXT, length=2)
