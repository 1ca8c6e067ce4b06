"""What a run reads, from whatever a caller gives to token ids.

- running text (a name, a file, a string): a `Stream` that windows are cut from in their order;
- documents (a JSONL file, a list of strings), or rows of token ids, with a mask or of different
  lengths: `Rows`, each of which is a window;
- one sequence of token ids: a `Stream` that is as long as it is.

Both say what limits the windows: `longest` and `room`, and `has` in words; `usual_length` and
`usual_windows` are what is read where nobody says (None: the settings' own). In what is `compared`
the reading with BOS can be set beside the one without.

`look_at` reads what needs no model, so that a mistake is told before one is loaded.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from torch import Tensor

from headgauge import models
from headgauge.errors import InputError
from headgauge.measure.settings import UnitSettings
from headgauge.measure.token_rows import TokenRows, token_rows
from headgauge.models.documents import Documents, checked_text, document_ids, from_strings
from headgauge.models.text import at_hand
from headgauge.models.windows import check_tokenizer, tokenise

Tokens = (
    str | Path | models.SourceText | Documents | Tensor | Sequence[Any] | Mapping[str, Any] | None
)
Window = tuple[int, Tensor]  # the token it starts at, its ids


@dataclass(frozen=True, eq=False)
class TextFacts:
    """What a run read: enough to find it again, without the place it lay at on this machine.

    `documents` is how many documents it is made of, None where it is one text or token ids; `chat`
    a hash of what the chat template made of them, which may differ from day to day.
    """

    name: str
    sha256: str
    origin: str
    why: str
    tokens: int
    documents: int | None = None
    chat: str | None = None

    @property
    def identity(self) -> dict[str, Any]:
        """What two runs of the same text share."""
        more = {"documents": self.documents, "chat": self.chat}
        known = {"name": self.name, "sha256": self.sha256}
        return known | {name: value for name, value in more.items() if value is not None}


@dataclass(frozen=True, eq=False)
class Stream:
    """Tokens in a row. `whole`: they are one window unless a length is asked for."""

    tokens: Tensor
    text: TextFacts
    edges: models.Edges
    compared: bool = True
    whole: bool = False
    notes: tuple[str, ...] = ()

    @property
    def usual_length(self) -> int | None:
        return len(self.tokens) if self.whole else None

    @property
    def usual_windows(self) -> int | None:
        return 1 if self.whole else None

    @property
    def has(self) -> str:
        name = "the sequence" if self.whole else self.text.name
        return f"{name} has {len(self.tokens)} tokens"

    def longest(self, settings: UnitSettings) -> int:
        """How long windows can be: those that were asked for, or one."""
        count = 1 if "windows" in settings.free else settings.windows
        return (len(self.tokens) - settings.offset) // count + self.edges.bos.put

    def room(self, settings: UnitSettings) -> int:
        """How many windows there are."""
        step = settings.length - self.edges.bos.put
        return (len(self.tokens) - settings.offset) // step

    def windows(self, settings: UnitSettings) -> tuple[list[Window], list[str]]:
        bos = self.edges.bos.id if self.edges.bos.put else None
        name = "the sequence" if self.whole else self.text.name
        sizes = (settings.length, settings.windows, settings.offset)
        return models.cut_windows(self.tokens, *sizes, bos, name=name), []


@dataclass(frozen=True, eq=False)
class Rows:
    """Windows as they were given, each with its own number of tokens. `whole`: they are read at
    full length unless another is asked for."""

    rows: tuple[Tensor, ...]
    text: TextFacts
    edges: models.Edges
    compared: bool = False
    whole: bool = False
    notes: tuple[str, ...] = ()

    @property
    def usual_length(self) -> int | None:
        return self._most if self.whole else None

    @property
    def usual_windows(self) -> int | None:
        return len(self.rows)

    @property
    def has(self) -> str:
        return f"the longest of {self._count} has {self._most} tokens"

    def longest(self, settings: UnitSettings) -> int:
        return self._most

    def room(self, settings: UnitSettings) -> int:
        return len(self.rows)

    def windows(self, settings: UnitSettings) -> tuple[list[Window], list[str]]:
        """The first of the rows, no longer than L."""
        if settings.offset:
            raise InputError(
                f"an offset of {settings.offset} tokens is for running text: {self.text.name} has "
                f"{self._count}, which are read from their beginning"
            )
        if settings.windows > len(self.rows):
            raise InputError(
                f"{self.text.name} has {self._count}, but {settings.windows} windows were asked for"
            )
        sizes = [len(row) for row in self.rows]
        read = sizes[: settings.windows]
        if len(settings.lengths) > 1 and min(read) < settings.length:
            raise InputError(
                f"several lengths need windows of at least {settings.length} tokens, and the "
                f"shortest of {self._count} has {min(read)}: use one length, or at most {min(read)}"
            )
        starts = [sum(sizes[:i]) for i in range(len(read))]
        return list(zip(starts, self.rows, strict=False)), self._said(read, settings.length)

    @property
    def uneven(self) -> bool:
        """Whether some are shorter than others."""
        return len({len(row) for row in self.rows}) > 1

    @property
    def _most(self) -> int:
        return max(len(row) for row in self.rows)

    @property
    def _count(self) -> str:
        what = "row" if self.text.documents is None else "document"
        return f"{len(self.rows)} {what}{'s' * (len(self.rows) > 1)}"

    def _said(self, sizes: Sequence[int], length: int) -> list[str]:
        """Which are longer and shorter than L, where some are."""
        longer, shorter = sum(n > length for n in sizes), sum(n < length for n in sizes)
        if not longer and not shorter:
            return []
        parts = [f"{len(sizes)} windows with {min(sizes)} to {max(sizes)} tokens of their own"]
        if longer:
            parts.append(f"{longer} longer than L = {length} cut to it")
        if shorter:
            parts.append(f"{shorter} shorter read as long as they are, without padding")
        return [f"{self.text.name}: {'; '.join(parts)}"]


Reading = Stream | Rows
Seen = models.SourceText | Documents | TokenRows | str | None


def look_at(tokens: Any = None, text: Any = None, chat: bool = False) -> Seen:
    """What was given, as far as it can be known without a model: files are read, ids checked.

    `tokens` is a text by name or path, documents as a list of strings, or token ids; `text` is the
    text itself. A name that may need a download stays a name.
    """
    if text is not None:
        if tokens is not None:
            raise InputError("a text by name and a text itself were given: give one")
        if not isinstance(text, (str, list, tuple)) or not text:
            raise InputError(f"text must be a string or a list of them, got {text!r}")
        if chat or not isinstance(text, str):
            several = [text] if isinstance(text, str) else text
            return _documents(several, "text-string", chat)
        checked_text(text, "text-string")
        return models.SourceText("text-string", text, "given as a string", "asked for")
    if isinstance(tokens, (Documents, TokenRows)):
        return tokens
    if isinstance(tokens, (list, tuple)) and tokens and isinstance(tokens[0], str):
        return _documents(tokens, "documents", chat)
    found = at_hand(tokens, chat) if isinstance(tokens, (str, Path)) else tokens
    if chat and not isinstance(found, Documents):
        raise InputError(
            "a chat template is put on prompts: give a JSONL file or the text itself "
            '(--text-string, text="…")'
        )
    if found is None or isinstance(found, (str, models.SourceText, Documents)):
        return found
    return token_rows(found)


def read(loaded: models.LoadedModel, given: Tokens | TokenRows, bos: str) -> Reading:
    """The token ids of whatever was given, once the model is there."""
    seen = look_at(given)
    if isinstance(seen, TokenRows):
        return _read_ids(loaded, seen)
    if not isinstance(seen, Documents) or seen.kind != "ids":
        check_tokenizer(loaded)
    if isinstance(seen, Documents):
        return _read_documents(loaded, seen, bos)
    text = seen if isinstance(seen, models.SourceText) else models.read_text(seen)
    tokens = tokenise(loaded.tokenizer, text.text)
    facts = TextFacts(text.name, text.sha256, _origin(text.origin), text.why, len(tokens))
    return Stream(tokens, facts, models.edges(loaded, cast(models.Bos, bos)))


def _read_ids(loaded: models.LoadedModel, given: TokenRows) -> Reading:
    known = ("given as token ids", "asked for", sum(len(row) for row in given.rows))
    facts = TextFacts("tokens", _digest(given.rows), *known)
    edges = models.edges(loaded, None)
    if given.sequence:
        return Stream(given.rows[0], facts, edges, compared=False, whole=True)
    return Rows(given.rows, facts, edges, whole=True)


def _read_documents(loaded: models.LoadedModel, given: Documents, bos: str) -> Reading:
    plain = given.kind == "text"
    edges = models.edges(loaded, cast(models.Bos, bos) if plain else None)
    rows = tuple(document_ids(loaded, given, edges.bos.id if edges.bos.put else None))
    first = edges.bos
    if given.chat:
        put = first.id is not None and all(int(row[0]) == first.id for row in rows)
        first = replace(first, put=put, why="as the chat template writes it")
    last = replace(edges.eos, why="a document is read as it stands")
    facts = TextFacts(
        name=given.name,
        sha256=given.sha256,
        origin=_origin(given.origin),
        why=given.why + ", in the model's chat template" * given.chat,
        tokens=sum(len(row) for row in rows) - len(rows) * (plain and first.put),
        documents=len(rows),
        chat=_digest(rows) if given.chat else None,
    )
    return Rows(rows, facts, replace(edges, bos=first, eos=last), plain, notes=given.notes)


def _documents(texts: Any, name: str, chat: bool) -> Documents:
    for number, each in enumerate(texts, 1):
        if not isinstance(each, str):
            raise InputError(f"document {number} must be a string, got {type(each).__name__}")
    return from_strings(texts, name, chat)


def _origin(origin: str) -> str:
    return "a file on this machine" if Path(origin).is_absolute() else origin


def _digest(rows: Sequence[Tensor]) -> str:
    """Of ids alone where the rows are alike, so that only other ids are another text."""
    sizes = [len(row) for row in rows]
    digest = hashlib.sha256(b"" if len(set(sizes)) == 1 else str(sizes).encode())
    for row in rows:
        digest.update(row.numpy().tobytes())
    return digest.hexdigest()
