"""The text that a model reads while it is measured.

- a file, by its path; a `.jsonl` file holds documents, a window each (`documents`);
- `war-and-peace`: Tolstoy in the Maude translation, from `HEADGAUGE_DATA_DIR`, the cache, or
  Project Gutenberg; always from "Well, Prince," to the last sentence, so that all copies agree;
- `python-reference`: the Python language reference that comes with CPython, always at hand.

Without a name: War and Peace where it is available, else the reference, and the result says which
and why. A download is checked, and only then kept; its file bears its sum in its name, so that a
damaged one is known and fetched anew.
"""

import hashlib
import http.client
import os
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from zlib import crc32

from headgauge.atomic import sweep, whole_file
from headgauge.errors import InputError
from headgauge.models.cache import cache_folder, file_sum
from headgauge.models.documents import Documents, from_jsonl

WAR_AND_PEACE = "war-and-peace"
PYTHON_REFERENCE = "python-reference"
FILE_NAME = "war_and_peace.txt"

_OPENING = "Well, Prince,"
_LICENCE = "*** END OF TH"  # "THE" or "THIS" PROJECT GUTENBERG EBOOK
_SHOWN = 80  # characters of a name that is none
_STORY_SIZES = range(3_000_000, 3_500_000)
# Ebook 2600, War and Peace; the second is the older address of the same file.
_URLS = (
    "https://www.gutenberg.org/cache/epub/2600/pg2600.txt",
    "https://www.gutenberg.org/files/2600/2600-0.txt",
)
_SECONDS = 10
_CHUNK = 1 << 16
_MOST_BYTES = 8 << 20

Progress = Callable[[int, int | None], None]
"""`progress(bytes so far, bytes in all)`; the second is None where the server does not say."""


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
        return default_texts(progress)[0]
    if name == WAR_AND_PEACE:
        return _war_and_peace(progress)
    if name == PYTHON_REFERENCE:
        return _python_reference()
    return _from_file(Path(name))


def at_hand(name: str | Path, chat: bool = False) -> SourceText | Documents | str:
    """What lies in a file, read now, so that a mistake is told before a model is loaded for it; a
    name that may need a download stays a name."""
    if name in (WAR_AND_PEACE, PYTHON_REFERENCE):
        return str(name)
    found = _from_file(Path(name))
    if Path(name).suffix.lower() != ".jsonl":
        return found
    return from_jsonl(found.text, found.name, found.origin, chat)


def default_texts(progress: Progress | None = None) -> list[SourceText]:
    """Every text that needs no name: War and Peace first, where it is available."""
    second = _python_reference()
    try:
        first = replace(_war_and_peace(progress), why="the default")
    except InputError as error:
        return [replace(second, why=f"the default is not available: {error}")]
    return [first, replace(second, why="the default, the second text")]


def _war_and_peace(progress: Progress | None) -> SourceText:
    """War and Peace, from the data folder, the cache or the network, in this order."""
    named = os.environ.get("HEADGAUGE_DATA_DIR")
    path = Path(named).expanduser() / FILE_NAME if named else None
    if path is None or not path.is_file():
        path = _kept(cache_folder() / "texts" / FILE_NAME)
    if path is None:
        text, origin = _download(cache_folder() / "texts" / FILE_NAME, progress)
    else:
        text, origin = _decode(path), str(path)
    return SourceText(WAR_AND_PEACE, story(text), origin, "asked for")


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


def check_story(text: str, where: str) -> None:
    """Refuse what is not as long as the whole book."""
    size = len(story(text, where))
    if size not in _STORY_SIZES:
        raise InputError(
            f"{where} is not the whole of War and Peace: {size} characters, expected "
            f"{_STORY_SIZES.start} to {_STORY_SIZES.stop}"
        )


def _kept(target: Path) -> Path | None:
    """The file in which `target` is kept, if it still has its sum."""
    for path in sorted(target.parent.glob(f"{target.stem}-*{target.suffix}")):
        if path == _with_sum(target, file_sum(path)):
            return path
    return None


def _download(target: Path, progress: Progress | None) -> tuple[str, str]:
    """The text from the first address that answers with the whole book, and that address.

    It is kept as `target`, complete and checked; a cache that cannot be written costs time at the
    next start and nothing now.
    """
    reasons: list[str] = []
    for url in _URLS:
        try:
            content = _fetch(url, progress)
            text = content.decode("utf-8-sig")
            check_story(text, "the download")
        except (OSError, http.client.HTTPException, UnicodeDecodeError, InputError) as error:
            reasons.append(str(getattr(error, "reason", error)))
            continue
        with suppress(OSError, InputError):
            _keep(target, content)
        return text, url
    raise InputError(
        f"cannot download War and Peace ({'; '.join(dict.fromkeys(reasons))}): put the text at "
        f"HEADGAUGE_DATA_DIR/{target.name}, or name a text file or 'python-reference'"
    )


def _fetch(url: str, progress: Progress | None) -> bytes:
    request = urllib.request.Request(url, headers={"User-Agent": "headgauge"})
    with urllib.request.urlopen(request, timeout=_SECONDS) as response:
        length = response.headers.get("Content-Length")
        total = int(length) if length and length.isdigit() else None
        content = bytearray()
        while chunk := response.read(_CHUNK):
            content += chunk
            if len(content) > _MOST_BYTES:
                raise InputError(f"{url} sends more than {_MOST_BYTES} bytes")
            if progress is not None:
                progress(len(content), total)
    return bytes(content)


def _keep(target: Path, content: bytes) -> None:
    folder = target.parent
    folder.mkdir(parents=True, exist_ok=True)
    sweep(folder)
    for path in folder.glob(f"{target.stem}*{target.suffix}"):  # damaged, or from before the sums
        path.unlink(missing_ok=True)
    with whole_file(_with_sum(target, f"{crc32(content):08x}"), len(content)) as new:
        new.write_bytes(content)


def _with_sum(target: Path, sum_: str) -> Path:
    return target.with_stem(f"{target.stem}-{sum_}")


def _python_reference() -> SourceText:
    """The chapters of the language reference that `help()` shows, in their order."""
    import platform
    from pydoc_data.topics import topics

    text = "\n\n".join(body.strip() for _, body in sorted(topics.items())) + "\n"
    origin = f"pydoc_data.topics of Python {platform.python_version()}"
    return SourceText(PYTHON_REFERENCE, text, origin, "asked for")


def _from_file(path: Path) -> SourceText:
    try:
        there = path.is_file()
    except OSError:  # a name too long for a file: most likely the text itself
        there = False
    if not there:
        shown = str(path) if len(str(path)) <= _SHOWN else str(path)[:_SHOWN] + "…"
        raise InputError(
            f"no text {shown!r}: give a file, {WAR_AND_PEACE!r} or {PYTHON_REFERENCE!r}, or the "
            'text itself with --text-string (text="…")'
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
