"""What a run reads, from whatever a caller gives to token ids.

- running text (a name, a file, a string): windows are cut from it in their order;
- documents (a JSONL file, a list of strings), or rows of token ids, with a mask or of different
  lengths: each is a window;
- one sequence of token ids: running text that is as long as it is.

`look_at` reads what needs no model, so that a mistake is told before one is loaded.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar, cast

from torch import Tensor

from headgauge import models
from headgauge.errors import InputError
from headgauge.measure.settings import UnitSettings
from headgauge.measure.token_rows import token_rows
from headgauge.models.documents import Documents, checked_text, document_rows, from_strings
from headgauge.models.text import at_hand
from headgauge.models.windows import check_tokenizer, tokenise

Tokens = (
    str | Path | models.SourceText | Documents | Tensor | Sequence[Any] | Mapping[str, Any] | None
)
Seen = models.SourceText | Documents | Tensor | tuple[Tensor, ...] | str | None
Settings = TypeVar("Settings", bound=UnitSettings)
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
        names = ("name", "sha256", "documents", "chat")
        return {name: value for name in names if (value := getattr(self, name)) is not None}


@dataclass(frozen=True, eq=False, kw_only=True)
class Reading:
    """Rows of token ids: each a window, or, of a `running` text, one that windows are cut from.

    `whole`: it is read at full length unless another is asked for. `compared`: the reading with BOS
    can be set beside the one without. `longest` and `room` say what limits the windows, `has` says
    it in words; `usual` is the length and the number of windows that is read where nobody says
    (None: the settings' own). `texts` are the rows as text, where they are any, and `before` is how
    many tokens stand in a window before those of the text.
    """

    rows: tuple[Tensor, ...]
    running: bool
    text: TextFacts
    edges: models.Edges
    compared: bool = False
    whole: bool = False
    notes: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    before: int = 0

    @property
    def sizes(self) -> list[int]:
        return [len(row) for row in self.rows]

    @property
    def usual(self) -> tuple[int | None, int | None]:
        windows = None if self.running and not self.whole else len(self.rows)
        return max(self.sizes) if self.whole else None, windows

    @property
    def has(self) -> str:
        return (
            f"{'' if self.running else 'the longest of '}{self._name} has {max(self.sizes)} tokens"
        )

    @property
    def _name(self) -> str:
        if self.running:
            return "the sequence" if self.whole else self.text.name
        what = "row" if self.text.documents is None else "document"
        return f"{len(self.rows)} {what}{'s' * (len(self.rows) > 1)}"

    def longest(self, settings: UnitSettings) -> int:
        """How long windows can be: those that were asked for, or one."""
        if not self.running:
            return max(self.sizes)
        count = (1 if "windows" in settings.free else settings.windows) + settings.parts - 1
        return (max(self.sizes) - settings.offset) // count + self.edges.bos.put

    def room(self, settings: UnitSettings) -> int:
        """How many windows there are."""
        if not self.running:
            return len(self.rows)
        return (max(self.sizes) - settings.offset) // (settings.length - self.edges.bos.put)

    def following(self, settings: UnitSettings, fewer: bool = False) -> list[Tensor]:
        """As many windows behind those that are read; none where there are not as many, or
        `fewer`: those that there are."""
        rest, later = self.behind(settings)
        room = min(rest.room(later), settings.windows)
        if room < 1 or (room < settings.windows and not fewer):
            return []
        found = rest.windows(replace(later, windows=room))[0]
        return [ids[: settings.length] for _, ids in found]

    def behind(self, settings: Settings) -> "tuple[Reading, Settings]":
        """What is left behind the windows that these settings read, and the settings that read on
        there."""
        if self.running:
            read = settings.windows * (settings.length - self.edges.bos.put)
            return self, replace(settings, offset=settings.offset + read)
        rows, texts = (each[settings.windows :] for each in (self.rows, self.texts))
        return replace(self, rows=rows, texts=texts), settings

    def windows(self, settings: UnitSettings) -> tuple[list[Window], list[str]]:
        """The windows, and what is to be said of them. Of rows the first, no longer than L."""
        if self.running:
            bos = self.edges.bos.id if self.edges.bos.put else None
            asked = (settings.length, settings.windows, settings.offset)
            return models.cut_windows(self.rows[0], *asked, bos, name=self._name), []
        if settings.offset:
            raise InputError(
                f"an offset of {settings.offset} tokens is for running text: {self.text.name} has "
                f"{self._name}, which are read from their beginning"
            )
        if settings.windows > len(self.rows):
            raise InputError(
                f"{self.text.name} has {self._name}, but {settings.windows} windows were asked for"
            )
        sizes = self.sizes[: settings.windows]
        if len(settings.lengths) > 1 and min(sizes) < settings.length:
            raise InputError(
                f"several lengths need windows of at least {settings.length} tokens, and the "
                f"shortest of {self._name} has {min(sizes)}: use one length, or at most "
                f"{min(sizes)}"
            )
        longer = sum(n > settings.length for n in sizes)
        shorter = sum(n < settings.length for n in sizes)
        said = [f"{len(sizes)} windows with {min(sizes)} to {max(sizes)} tokens of their own"]
        if longer:
            said.append(f"{longer} longer than L = {settings.length} cut to it")
        if shorter:
            said.append(f"{shorter} shorter read as long as they are, without padding")
        notes = [f"{self.text.name}: {'; '.join(said)}"] if longer or shorter else []
        starts = [sum(sizes[:i]) for i in range(len(sizes))]
        return list(zip(starts, self.rows, strict=False)), notes


def look_at(tokens: Any = None, text: Any = None, chat: bool = False) -> Seen:
    """What was given, as far as it can be known without a model: files are read, ids checked.

    `tokens` is a text by name or path, documents as a list of strings, or token ids; `text` is the
    text itself. A name that may need a download stays a name, a sequence of ids is one tensor.
    """
    if text is not None:
        if tokens is not None:
            raise InputError("a text by name and a text itself were given: give one")
        if not isinstance(text, (str, list, tuple)) or not text:
            raise InputError(f"text must be a string or a list of them, got {text!r}")
        name = "text-string"
        if chat or not isinstance(text, str):
            return from_strings([text] if isinstance(text, str) else text, name, chat)
        return models.SourceText(name, checked_text(text, name), "given as a string", "asked for")
    if isinstance(tokens, (list, tuple)) and tokens and isinstance(tokens[0], str):
        return from_strings(tokens, "documents", chat)
    found = at_hand(tokens, chat) if isinstance(tokens, (str, Path)) else tokens
    if chat and not isinstance(found, Documents):
        raise InputError(
            "a chat template is put on prompts: give a JSONL file or the text itself "
            '(--text-string, text="…")'
        )
    if found is None or isinstance(found, (str, models.SourceText, Documents)):
        return found
    return token_rows(found)


def read(loaded: models.LoadedModel, seen: Seen, bos: str) -> Reading:
    """The token ids of what was given, once the model is there."""
    if isinstance(seen, (Tensor, tuple)):
        return _read_ids(loaded, seen)
    if not isinstance(seen, Documents) or seen.kind != "ids":
        check_tokenizer(loaded)
    if isinstance(seen, Documents):
        return _read_documents(loaded, seen, bos)
    text = seen if isinstance(seen, models.SourceText) else models.read_text(seen)
    tokens = tokenise(loaded.tokenizer, text.text)
    facts = TextFacts(text.name, text.sha256, _origin(text.origin), text.why, len(tokens))
    edges = models.edges(loaded, cast(models.Bos, bos))
    return Reading(
        rows=(tokens,),
        running=True,
        text=facts,
        edges=edges,
        compared=True,
        texts=(text.text,),
        before=int(edges.bos.put),
    )


def _read_ids(loaded: models.LoadedModel, seen: Tensor | tuple[Tensor, ...]) -> Reading:
    rows = (seen,) if isinstance(seen, Tensor) else seen
    known = ("given as token ids", "asked for", sum(len(row) for row in rows))
    facts, edges = TextFacts("tokens", _digest(rows), *known), models.edges(loaded, None)
    running = isinstance(seen, Tensor)
    return Reading(rows=rows, running=running, text=facts, edges=edges, whole=True)


def _read_documents(loaded: models.LoadedModel, given: Documents, bos: str) -> Reading:
    plain = given.kind == "text"
    edges = models.edges(loaded, cast(models.Bos, bos) if plain else None)
    written = document_rows(loaded, given, edges.bos.id if edges.bos.put else None)
    rows = tuple(row.ids for row in written)
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
    return Reading(
        rows=rows,
        running=False,
        text=facts,
        edges=replace(edges, bos=first, eos=last),
        compared=plain,
        notes=given.notes,
        texts=tuple(row.text for row in written if row.text is not None),
        before=int(plain and first.put),
    )


def _origin(origin: str) -> str:
    return "a file on this machine" if Path(origin).is_absolute() else origin


def _digest(rows: Sequence[Tensor]) -> str:
    """Of ids alone where the rows are alike, so that only other ids are another text."""
    sizes = [len(row) for row in rows]
    digest = hashlib.sha256(b"" if len(set(sizes)) == 1 else str(sizes).encode())
    for row in rows:
        digest.update(row.numpy().tobytes())
    return digest.hexdigest()
