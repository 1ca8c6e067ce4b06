"""One file from Project Gutenberg: fetched, checked, and only then put in its place."""

import http.client
import os
import tempfile
import urllib.request
from collections.abc import Callable
from pathlib import Path

from headgauge.errors import InputError

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


def download(
    target: Path,
    check: Callable[[str], object],
    progress: Progress | None = None,
    urls: tuple[str, ...] = URLS,
) -> str:
    """Fetch the first address that answers into `target` if `check` accepts it; returns it.

    The file appears under its name only when it is complete and checked.
    """
    reasons: list[str] = []
    for url in urls:
        try:
            content = _fetch(url, progress)
            check(content.decode("utf-8-sig"))
        except (OSError, http.client.HTTPException, UnicodeDecodeError, InputError) as error:
            reasons.append(str(getattr(error, "reason", error)))
            continue
        _write(target, content)
        return url
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


def _write(target: Path, content: bytes) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=".writing-", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
