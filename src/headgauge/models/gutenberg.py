"""One file from Project Gutenberg: fetched, checked, and only then put in its place.

The file it is kept in bears its sum in its name, so that a damaged one is known and fetched anew.
"""

import http.client
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from zlib import crc32

from headgauge.atomic import sweep, whole_file
from headgauge.errors import InputError
from headgauge.models.cache import file_sum

# Ebook 2600, War and Peace; the second is the older address of the same file.
URLS = (
    "https://www.gutenberg.org/cache/epub/2600/pg2600.txt",
    "https://www.gutenberg.org/files/2600/2600-0.txt",
)
SECONDS = 10
_CHUNK = 1 << 16
_MOST_BYTES = 8 << 20

Progress = Callable[[int, int | None], None]
"""`progress(bytes so far, bytes in all)`; the second is None where the server does not say."""


def kept(target: Path) -> Path | None:
    """The file in which `target` is kept, if it still has its sum."""
    for path in sorted(target.parent.glob(f"{target.stem}-*{target.suffix}")):
        if path == _with_sum(target, file_sum(path)):
            return path
    return None


def download(
    target: Path,
    check: Callable[[str], object],
    progress: Progress | None = None,
    urls: tuple[str, ...] = URLS,
) -> tuple[str, str]:
    """The text from the first address that answers, if `check` accepts it, and that address.

    It is kept as `target`, complete and checked; a cache that cannot be written costs time at the
    next start and nothing now.
    """
    reasons: list[str] = []
    for url in urls:
        try:
            content = _fetch(url, progress)
            text = content.decode("utf-8-sig")
            check(text)
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
    with urllib.request.urlopen(request, timeout=SECONDS) as response:
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
