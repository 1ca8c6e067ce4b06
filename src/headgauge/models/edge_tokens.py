"""The tokens a model expects around a text: who says so, and what is put there.

Whether BOS stands in front of a text is said by, in the order in which they are believed,

1. the model's file: `tokenizer.ggml.add_bos_token` of a GGUF file (where it has none, what
   llama.cpp does for that kind of tokenizer), `add_bos_token` in a folder's tokenizer_config.json;
2. the tokenizer, by what it does to a text.

The tokenizer comes second because it is made anew at each load: transformers makes that of a GGUF
file without its BOS, and leaves the word of tokenizer_config.json aside where there is a
tokenizer.json. llama.cpp's converter has the same order, so that a folder and the GGUF file made of
it are read alike.

EOS stands where a text ends. No window of running text holds such a place, so it is never put; what
is said of it is kept.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from headgauge.errors import InputError
from headgauge.models.facts import FileWord, LoadedModel
from headgauge.models.gguf_header import Value

Bos = Literal["auto", "always", "never"]
Edge = Literal["bos", "eos"]

# Byte-level tokenizers (`tokenizer.ggml.pre`) that llama.cpp gives a BOS where the file is silent,
# as the files of Llama 3 are. With "llama" (sentencepiece) it always does.
_SILENT_BOS = frozenset(
    {"llama3", "llama-v3", "llama-bpe", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2"}
    | {"jina-v5-nano", "tekken", "chameleon"}
)


@dataclass(frozen=True)
class EdgeToken:
    """BOS or EOS: whether it was put in front of (behind) each window, and why.

    `file` is what the model's file says and `tokenizer` what its tokenizer does; None: nothing.
    """

    put: bool
    id: int | None
    why: str
    file: bool | None
    tokenizer: bool | None


@dataclass(frozen=True)
class Edges:
    """What stands around every window, and what a reader should know of it."""

    bos: EdgeToken
    eos: EdgeToken
    notes: tuple[str, ...] = ()


def gguf_word(header: Mapping[str, Value]) -> FileWord:
    """What a GGUF file says, or what llama.cpp reads into its silence."""

    def said(key: str, kind: type) -> Any:
        found = header.get(f"tokenizer.ggml.{key}")
        return found if type(found) is kind else None

    add_bos, place = said("add_bos_token", bool), "the GGUF file"
    model, pre = said("model", str), said("pre", str)
    if add_bos is None and (model == "llama" or (model == "gpt2" and pre in _SILENT_BOS)):
        add_bos, place = True, "llama.cpp's default for the GGUF file's tokenizer"
    ids = said("bos_token_id", int), said("eos_token_id", int)
    return FileWord(place, add_bos, said("add_eos_token", bool), *ids)


def folder_word(tokenizer_config: Mapping[str, Any]) -> FileWord:
    """What a folder's tokenizer_config.json says."""
    bos, eos = (tokenizer_config.get(f"add_{name}_token") for name in ("bos", "eos"))
    said = (each if isinstance(each, bool) else None for each in (bos, eos))
    return FileWord("tokenizer_config.json", *said)


def edges(loaded: LoadedModel, asked: Bos | None) -> Edges:
    """What is put around the windows of a text; `asked` is None where token ids were given."""
    put, why, notes = _bos(loaded, asked)
    end = "token ids were given" if asked is None else "a window of running text has no end"
    return Edges(_edge(loaded, "bos", put, why), _edge(loaded, "eos", False, end), tuple(notes))


def adds(tokenizer: Any, name: Edge) -> bool:
    """Whether the tokenizer itself puts its BOS in front of a text, its EOS behind it."""
    token = getattr(tokenizer, f"{name}_token_id")
    place = slice(1) if name == "bos" else slice(-1, None)
    return token is not None and tokenizer("a")["input_ids"][place] == [token]


def _edge(loaded: LoadedModel, name: Edge, put: bool, why: str) -> EdgeToken:
    file = getattr(loaded.word, f"add_{name}", None)
    does = None if loaded.tokenizer is None else adds(loaded.tokenizer, name)
    return EdgeToken(put, _id(loaded, name), why, file, does)


def _id(loaded: LoadedModel, name: Edge) -> int | None:
    said = getattr(loaded.word, f"{name}_id", None)
    return getattr(loaded.tokenizer, f"{name}_token_id", None) if said is None else said


def _bos(loaded: LoadedModel, asked: Bos | None) -> tuple[bool, str, list[str]]:
    """Whether it is put, why, and what a reader should know of it."""
    word, known = loaded.word, _id(loaded, "bos")
    if asked is None:
        return False, "token ids were given", []
    if asked != "auto":
        if asked == "always" and known is None:
            raise InputError(f"the tokenizer of {loaded.name} has no BOS token")
        return asked == "always", "asked for", []
    does = None if loaded.tokenizer is None else adds(loaded.tokenizer, "bos")
    if word is None or word.add_bos is None:
        return bool(does), "as the tokenizer does", []
    if word.add_bos and known is None:
        why = f"{word.place} wants a BOS, but names none and neither does the tokenizer"
        return False, why, [f"no BOS in front of the windows: {why}"]
    notes = []
    if does is not None and does != word.add_bos:
        words = ("puts", "does not") if word.add_bos else ("puts no", "does")
        notes.append(
            f"{word.place} {words[0]} BOS in front of a text, the tokenizer as loaded {words[1]}: "
            f"{word.place} was followed"
        )
    other = getattr(loaded.tokenizer, "bos_token_id", None)
    if word.add_bos and word.bos_id is not None and other not in (None, word.bos_id):
        notes.append(
            f"the BOS of {word.place} is token {word.bos_id}, that of the tokenizer {other}: "
            f"{word.place} was followed"
        )
    return word.add_bos, f"{word.place} says so", notes
