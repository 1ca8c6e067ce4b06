"""The text that a model reads while it is measured.

- a file, by its path;
- `war-and-peace`: Tolstoy in the Maude translation, from `HEADGAUGE_DATA_DIR`, the cache, or
  Project Gutenberg; always from "Well, Prince," to the last sentence, so that all copies agree;
- `python-reference`: the Python language reference that comes with CPython, always at hand.

Without a name: War and Peace where it can be had, else the reference, and the result says which and
why.
"""

import hashlib
import os
from dataclasses import dataclass, replace
from pathlib import Path

from headgauge.errors import InputError
from headgauge.models.cache import cache_folder
from headgauge.models.gutenberg import Progress, download

WAR_AND_PEACE = "war-and-peace"
PYTHON_REFERENCE = "python-reference"
FILE_NAME = "war_and_peace.txt"

_OPENING = "Well, Prince,"
_LICENCE = "*** END OF TH"  # "THE" or "THIS" PROJECT GUTENBERG EBOOK
_STORY_SIZES = range(3_000_000, 3_500_000)


@dataclass(frozen=True)
class SourceText:
    """A text, where it came from and why it was chosen; `sha256` is of `text` in UTF-8."""

    name: str
    text: str
    origin: str
    why: str

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()


def read_text(name: str | Path | None = None, progress: Progress | None = None) -> SourceText:
    """A text by name or path; see the module. `progress(done, total)` follows a download."""
    if name is None:
        try:
            return replace(war_and_peace(progress), why="the default")
        except InputError as error:
            return replace(python_reference(), why=f"the default could not be had: {error}")
    if name == WAR_AND_PEACE:
        return war_and_peace(progress)
    if name == PYTHON_REFERENCE:
        return python_reference()
    return _from_file(Path(name))


def default_texts(progress: Progress | None = None) -> list[SourceText]:
    """Every text that can be had without being named: War and Peace first, where it is at hand."""
    first = read_text(None, progress)
    if first.name == PYTHON_REFERENCE:
        return [first]
    return [first, replace(python_reference(), why="the default, the second text")]


def war_and_peace(progress: Progress | None = None) -> SourceText:
    """War and Peace, from the data folder, the cache or the network, in this order."""
    named = os.environ.get("HEADGAUGE_DATA_DIR")
    cached = cache_folder() / "texts" / FILE_NAME
    for path in ([Path(named).expanduser() / FILE_NAME] if named else []) + [cached]:
        if path.is_file():
            return SourceText(WAR_AND_PEACE, story(_decode(path)), str(path), "asked for")
    url = download(
        cached, check=lambda text: checked_story(text, "the download"), progress=progress
    )
    return SourceText(WAR_AND_PEACE, story(_decode(cached)), url, "asked for")


def story(text: str, where: str = FILE_NAME) -> str:
    """From the opening words to the last sentence: no contents, preamble or licence.

    Line ends and the white space at the end differ between copies and are made one.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    start = text.find(_OPENING)
    if start < 0:
        raise InputError(f"{where} is not War and Peace: it has no {_OPENING!r}")
    if start > 0 and text[start - 1] in "“\"'":
        start -= 1
    end = text.find(_LICENCE, start)
    return (text[start:] if end < 0 else text[start:end]).rstrip() + "\n"


def checked_story(text: str, where: str) -> str:
    """The story, if it is as long as the whole book; else an error that says how long it is."""
    found = story(text, where)
    if len(found) not in _STORY_SIZES:
        raise InputError(
            f"{where} is not the whole of War and Peace: {len(found)} characters, expected "
            f"{_STORY_SIZES.start} to {_STORY_SIZES.stop}"
        )
    return found


def python_reference() -> SourceText:
    """The chapters of the language reference that `help()` shows, in their order."""
    import platform
    from pydoc_data.topics import topics

    text = "\n\n".join(body.strip() for _, body in sorted(topics.items())) + "\n"
    origin = f"pydoc_data.topics of Python {platform.python_version()}"
    return SourceText(PYTHON_REFERENCE, text, origin, "asked for")


def _from_file(path: Path) -> SourceText:
    if not os.path.isfile(path):
        raise InputError(
            f"no text {str(path)!r}: give a file, {WAR_AND_PEACE!r} or {PYTHON_REFERENCE!r}"
        )
    return SourceText(path.name, _decode(path), str(path), "asked for")


def _decode(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path} is not UTF-8 text: {error.reason} at byte {error.start}"
        ) from None
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None
