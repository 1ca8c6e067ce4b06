"""Prompts and documents that are read one by one, each a window of its own.

A JSONL file has one in each line: `{"text": …}` or `{"prompt": …}`, `{"messages": […]}` (a chat),
or `{"input_ids": […]}`. None is ever joined to another or cut across. A window is read alone, so a
short one is read as long as it is: that equals padding it and masking the padding, and nothing but
its own tokens can enter a measure.

With `chat` the tokenizer's chat template writes what the model reads: a plain prompt is the user's
message, and where the assistant has not spoken last the template opens its turn. BOS is then as the
template writes it.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor

from headgauge.atomic import encodes
from headgauge.errors import InputError
from headgauge.models.facts import LoadedModel
from headgauge.models.windows import token_ids

Messages = list[dict[str, Any]]
Kind = Literal["text", "chat", "ids"]
_FIELDS = ("text", "prompt", "messages", "input_ids")


@dataclass(frozen=True)
class Document:
    """A text, the messages of a chat, or token ids; `place` is where it stood, for an error."""

    content: str | Messages | list[int]
    place: str


@dataclass(frozen=True)
class Documents:
    """Documents, where they came from and why they were chosen; `sha256` is of all of them."""

    name: str
    documents: tuple[Document, ...]
    origin: str
    why: str
    sha256: str
    chat: bool = False
    notes: tuple[str, ...] = ()

    @property
    def kind(self) -> Kind:
        """How they become tokens."""
        if self.chat:
            return "chat"
        return "ids" if isinstance(self.documents[0].content, list) else "text"


def from_strings(texts: Sequence[Any], name: str, chat: bool = False) -> Documents:
    """Texts that the caller has at hand."""
    found = []
    for number, text in enumerate(texts, 1):
        place = f"{name}, document {number}"
        found.append(Document(checked_text(text, place), place))
    digest = hashlib.sha256(json.dumps(list(texts)).encode()).hexdigest()
    return Documents(name, tuple(found), "given as strings", "asked for", digest, chat)


def from_jsonl(text: str, name: str, origin: str, chat: bool = False) -> Documents:
    """The documents of a JSONL file."""
    found: list[Document] = []
    others: dict[str, None] = {}
    # Not `splitlines`: a string in JSON may hold the other line ends that it knows.
    for number, line in enumerate(text.rstrip().split("\n"), 1):
        place = f"{name}, line {number}"
        record = _record(line, place)
        known = [field for field in _FIELDS if field in record]
        if len(known) != 1:
            has = " and ".join(known) if known else f"only {', '.join(record) or 'nothing'}"
            raise InputError(f"{place} needs one of {', '.join(_FIELDS)}, and has {has}")
        found.append(Document(_content(known[0], record[known[0]], place, chat), place))
        others |= dict.fromkeys(key for key in record if key != known[0])
    # Ids get no BOS and text may: a file without chats (which have no ids) has one or the other.
    ids = [isinstance(each.content, list) for each in found]
    if not chat and any(ids) and not all(ids):
        raise InputError(
            f"{found[ids.index(True)].place} has token ids and {found[ids.index(False)].place} "
            "has text: give them in two files"
        )
    digest = hashlib.sha256(text.encode()).hexdigest()
    notes = [f"{name}: fields that were not read: {', '.join(others)}"] if others else []
    return Documents(name, tuple(found), origin, "asked for", digest, chat, tuple(notes))


class Row(NamedTuple):
    """What the model reads of a document; `text` is None where it was given as token ids."""

    ids: Tensor
    text: str | None


def document_rows(loaded: LoadedModel, given: Documents, bos: int | None) -> list[Row]:
    """The tokens of every document, with `bos` in front of a plain text unless None."""
    if given.kind == "chat" and getattr(loaded.tokenizer, "chat_template", None) is None:
        raise InputError(f"{loaded.name} has no chat template: leave --chat (chat=True) out")
    rows = []
    for document in given.documents:
        content: Any = document.content
        if given.kind == "chat":
            content = _written(loaded.tokenizer, content, document.place)
        whole = content if given.kind == "ids" else token_ids(loaded.tokenizer, content)
        whole = whole if bos is None or given.kind != "text" else [bos, *whole]
        if len(whole) < 2:
            raise InputError(
                f"{document.place} has {len(whole)} token{'s' * (len(whole) != 1)}: a window needs "
                "at least 2"
            )
        text = None if given.kind == "ids" else content
        rows.append(Row(torch.tensor(whole, dtype=torch.long), text))
    return rows


def _written(tokenizer: Any, content: Any, place: str) -> str:
    """A chat as the model's template writes it."""
    messages = [{"role": "user", "content": content}] if isinstance(content, str) else content
    last = messages[-1]["role"]
    try:
        return tokenizer.apply_chat_template(
            messages, tokenize=False, add_generation_prompt=last != "assistant"
        )
    except Exception as error:  # a template is a program, and fails as it likes
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise InputError(f"{place} does not fit the chat template ({reason})") from None


def _record(line: str, place: str) -> dict[str, Any]:
    if not line.strip():
        raise InputError(f"{place} is empty: remove it")
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{place} is no JSON ({error})") from None
    if not isinstance(found, dict):
        raise InputError(f'{place} is no JSON object: write {{"text": …}}')
    return found


def _content(field: str, value: Any, place: str, chat: bool) -> str | Messages | list[int]:
    if field == "input_ids":
        if chat:
            raise InputError(f"{place} has token ids, which no chat template can be put on")
        whole = isinstance(value, list) and all(type(each) is int and each >= 0 for each in value)
        if not whole or max(value, default=0) >= 1 << 63:
            raise InputError(f"{place}: input_ids must be a list of whole numbers of 0 or more")
        return value
    if field == "messages":
        if not chat:
            raise InputError(f"{place} has messages: give --chat (chat=True) with them")
        fits = isinstance(value, list) and all(
            isinstance(each, dict) and isinstance(each.get("role"), str) and "content" in each
            for each in value
        )
        if not fits or not value:
            raise InputError(
                f'{place}: messages must be a list of {{"role": …, "content": …}}, one at least'
            )
        return value
    if not isinstance(value, str):
        raise InputError(f"{place}: {field} must be a string, got {type(value).__name__}")
    return checked_text(value, place)


def checked_text(text: Any, place: str) -> str:
    """The text, if it is one, not empty and whole."""
    if not isinstance(text, str):
        raise InputError(f"{place} must be a string, got {type(text).__name__}")
    if not text.strip():
        raise InputError(f"{place} is an empty text")
    if not encodes(text):
        raise InputError(f"{place} has half a character (a lone surrogate)")
    return text
