"""Who says whether BOS stands in front of a text, and who is believed."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers as hf
from tokenizers import Tokenizer, pre_tokenizers, processors
from tokenizers import models as token_models

from headgauge import models
from headgauge.errors import InputError
from headgauge.models import cache, loading
from headgauge.models.edge_tokens import adds, gguf_word
from tiny_gguf import BOS, EOS, write_gguf

TEXT = "the prince said the prince said the prince"
WORDS = {"the": 0, "prince": 1, "said": 2, "a": 3, "<s>": 4, "</s>": 5, "<unk>": 6}


def _tokenizer(template: str | None, bos: bool = True, eos: bool = True) -> Any:
    inner = Tokenizer(token_models.WordLevel(WORDS, unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.Whitespace()  # type: ignore[assignment]
    if template is not None:
        inner.post_processor = processors.TemplateProcessing(  # type: ignore[assignment]
            single=template, special_tokens=[("<s>", 4), ("</s>", 5)]
        )
    named = ({"bos_token": "<s>"} if bos else {}) | ({"eos_token": "</s>"} if eos else {})
    return hf.PreTrainedTokenizerFast(tokenizer_object=inner, **named)


@pytest.fixture
def folder(build: Callable[[str, str], Any], tmp_path: Path) -> Callable[..., models.LoadedModel]:
    """A model of a folder whose tokenizer does one thing and whose tokenizer_config another."""

    def make(template: str | None, bos: bool = True, **said: Any) -> models.LoadedModel:
        build("llama", "sdpa").model.save_pretrained(tmp_path / "model")
        _tokenizer(template, bos).save_pretrained(tmp_path / "model")
        config = tmp_path / "model" / "tokenizer_config.json"
        config.write_text(json.dumps(json.loads(config.read_text()) | said))
        return models.load(tmp_path / "model")

    return make


@pytest.fixture
def gguf_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    pytest.importorskip("gguf")
    monkeypatch.setenv("HEADGAUGE_CACHE_DIR", str(tmp_path / "cache"))
    return lambda **said: write_gguf(tmp_path / "tiny.gguf", **said)


def _ids(loaded: models.LoadedModel, bos: Any = "auto") -> list[list[int]]:
    return [ids.tolist() for ids in _windows(loaded, 4, 2, bos)]


def _windows(loaded: models.LoadedModel, length: int, count: int, bos: Any = "auto") -> list[Any]:
    first, tokens = models.edges(loaded, bos).bos, models.tokenise(loaded.tokenizer, TEXT)
    found = models.cut_windows(tokens, length, count, 0, first.id if first.put else None)
    return [ids for _, ids in found]


def test_what_a_tokenizer_does_by_itself() -> None:
    assert adds(_tokenizer("<s> $A"), "bos")
    assert not adds(_tokenizer(None), "bos")
    # BERT puts [CLS] in front, which is no BOS.
    assert not adds(_tokenizer("<s> $A", bos=False), "bos")
    assert adds(_tokenizer("$A </s>"), "eos")
    assert not adds(_tokenizer("<s> $A"), "eos")
    assert not adds(_tokenizer("$A </s>", eos=False), "eos")


@pytest.mark.parametrize("said", [True, False])
def test_a_gguf_file_is_followed_also_from_its_copy(
    gguf_file: Callable[..., Path], said: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = gguf_file(add_bos_token=said, add_eos_token=True)
    fresh = models.load(path)
    monkeypatch.setattr(loading, "_convert", lambda *args: pytest.fail("converted again"))
    for loaded in (fresh, models.load(path)):
        assert loaded.word == models.FileWord("the GGUF file", said, True, BOS, EOS)
        found = models.edges(loaded, "auto")
        assert found.bos.put == found.bos.file == said
        assert found.bos.why == "the GGUF file says so"
        assert found.bos.id == BOS
        assert (found.eos.put, found.eos.file, found.eos.id) == (False, True, EOS)
        rows = torch.stack(_windows(loaded, 9, 3))
        assert (rows[:, 0] == BOS).all() == said
        assert not (rows[:, 1:] == BOS).any()
        assert not (rows == EOS).any()


def test_a_copy_from_before_the_file_was_asked(
    gguf_file: Callable[..., Path], tmp_path: Path
) -> None:
    """It has nothing on BOS, and a tokenizer without: the file is asked, not the copy."""
    path = gguf_file(add_bos_token=True)
    models.load(path)
    found, _ = cache.find_copy(hashlib.sha256(path.read_bytes()).hexdigest())
    assert found is not None
    kept = json.loads((found / "headgauge.json").read_text())
    assert sorted(kept) == ["file", "sha256", "sums"]
    assert "add_bos_token" not in (found / "tokenizer_config.json").read_text()
    assert models.edges(models.load(path), "auto").bos.put


def test_two_files_that_differ_in_that_word_alone(
    gguf_file: Callable[..., Path], tmp_path: Path
) -> None:
    puts = [models.edges(models.load(gguf_file(add_bos_token=said)), "auto").bos.put
            for said in (True, False, True)]  # fmt: skip
    assert puts == [True, False, True]


def test_a_disagreement_is_told(gguf_file: Callable[..., Path]) -> None:
    loaded = models.load(gguf_file(add_bos_token=True))
    assert not adds(loaded.tokenizer, "bos")  # transformers drops the file's word
    (note,) = models.edges(loaded, "auto").notes
    assert note.startswith(
        "the GGUF file puts BOS in front of a text, the tokenizer as loaded does"
    )
    assert note.endswith("the GGUF file was followed")
    assert models.edges(loaded, "never").notes == ()
    loaded.tokenizer.bos_token = "</s>"  # type: ignore[union-attr]
    assert f"is token {BOS}, that of the tokenizer {EOS}" in models.edges(loaded, "auto").notes[1]
    assert models.edges(loaded, "auto").bos.id == BOS


@pytest.mark.parametrize(
    ("model", "pre", "said", "put"),
    [
        ("llama", "default", None, True),  # the files of Llama 2
        ("llama", "default", False, False),
        ("gpt2", "llama-bpe", None, True),  # the files of Llama 3
        ("gpt2", "llama-bpe", False, False),
        ("gpt2", "qwen2", None, None),
        ("gpt2", "smollm", True, True),
    ],
)
def test_what_a_silent_gguf_file_means(
    model: str, pre: str, said: bool | None, put: bool | None
) -> None:
    header: dict[str, Any] = {"tokenizer.ggml.model": model, "tokenizer.ggml.pre": pre}
    header |= {} if said is None else {"tokenizer.ggml.add_bos_token": said}
    word = gguf_word(header)
    assert word.add_bos is put
    assert ("llama.cpp" in word.place) == (said is None and put is True)


def test_words_of_another_kind_are_none() -> None:
    said = {"add_bos_token": 1, "add_eos_token": "yes", "bos_token_id": "\x1b[31m", "model": 3}
    word = gguf_word({f"tokenizer.ggml.{key}": value for key, value in said.items()})
    assert word == models.FileWord("the GGUF file")


def test_a_silent_gguf_file_read(gguf_file: Callable[..., Path]) -> None:
    assert models.edges(models.load(gguf_file(pre="llama-bpe")), "auto").bos.put
    silent = models.edges(models.load(gguf_file()), "auto")
    assert (silent.bos.put, silent.bos.why) == (False, "as the tokenizer does")
    assert silent.notes == ()


@pytest.mark.parametrize(
    ("template", "said", "put", "told"),
    [
        ("<s> $A", {}, True, False),
        (None, {}, False, False),
        ("<s> $A </s>", {"add_bos_token": True, "add_eos_token": True}, True, False),
        (None, {"add_bos_token": True}, True, True),
        ("<s> $A", {"add_bos_token": False}, False, True),
        ("<s> $A", {"add_bos_token": None}, True, False),
    ],
)
def test_a_folder(
    folder: Callable[..., models.LoadedModel],
    template: str | None,
    said: dict[str, Any],
    put: bool,
    told: bool,
) -> None:
    loaded = folder(template, **said)
    found = models.edges(loaded, "auto")
    assert found.bos.put == put
    assert found.bos.id == 4
    assert found.bos.file is said.get("add_bos_token")
    assert found.bos.tokenizer == (template is not None)
    assert found.bos.why == (
        "as the tokenizer does"
        if said.get("add_bos_token") is None
        else "tokenizer_config.json says so"
    )
    assert bool(found.notes) == told
    assert found.eos == models.EdgeToken(
        False, 5, "a window of running text has no end",
        said.get("add_eos_token"), template == "<s> $A </s>",
    )  # fmt: skip
    assert _ids(loaded) == ([[4, 0, 1, 2], [4, 0, 1, 2]] if put else [[0, 1, 2, 0], [1, 2, 0, 1]])
    assert _ids(loaded, "never")[0] == [0, 1, 2, 0]
    assert _ids(loaded, "always")[1] == [4, 0, 1, 2]
    assert models.edges(loaded, "always").bos.why == "asked for"


def test_a_bos_that_nobody_names(folder: Callable[..., models.LoadedModel]) -> None:
    loaded = folder(None, bos=False, add_bos_token=True)
    found = models.edges(loaded, "auto")
    assert not found.bos.put
    assert found.notes == (
        "no BOS in front of the windows: tokenizer_config.json wants a BOS, but names none and "
        "neither does the tokenizer",
    )
    with pytest.raises(InputError, match="has no BOS token"):
        models.edges(loaded, "always")


def test_a_folder_without_a_tokenizer_config(folder: Callable[..., models.LoadedModel]) -> None:
    place = Path(folder("<s> $A").name)
    (place / "tokenizer_config.json").write_text("{")
    assert models.load(place).tokenizer is None
    (place / "tokenizer_config.json").unlink()
    assert models.load(place).word == models.FileWord("tokenizer_config.json")


def test_given_token_ids_are_left_alone(folder: Callable[..., models.LoadedModel]) -> None:
    found = models.edges(folder("<s> $A"), None)
    assert (found.bos.put, found.bos.why) == (False, "token ids were given")
