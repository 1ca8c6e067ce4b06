"""The cache folder: what headgauge keeps between runs, and how to look at it and empty it.

`HEADGAUGE_CACHE_DIR`, else `headgauge` in the user's cache folder. `gguf/` has converted models,
one folder each; `texts/` has downloaded texts. All of it is made again on demand, as is
what no longer has the sum it was kept with.
"""

import os
import shutil
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path

from headgauge.errors import InputError

PARTS = ("gguf", "texts")


@dataclass(frozen=True)
class CacheEntry:
    """One thing in the cache: a folder or a file, and its size in bytes."""

    part: str
    name: str
    path: Path
    size: int


def cache_folder() -> Path:
    """Where the cache is; it may not exist yet."""
    try:
        named = os.environ.get("HEADGAUGE_CACHE_DIR")
        if named:
            return Path(named).expanduser()
        if sys.platform == "darwin":
            return Path.home() / "Library" / "Caches" / "headgauge"
        if sys.platform == "win32":
            base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
            return Path(base) / "headgauge" / "Cache"
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "headgauge"
    except RuntimeError:  # neither HOME nor an entry for this user
        raise InputError(
            "there is no home folder to keep a cache in: set HEADGAUGE_CACHE_DIR to a folder for it"
        ) from None


def file_sum(path: Path) -> str:
    """CRC-32 of a file: it sees damage, not malice, at 2 GB a second where SHA-256 has half."""
    found = 0
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            found = zlib.crc32(block, found)
    return f"{found:08x}"


def list_cache() -> list[CacheEntry]:
    """What the cache holds, also what an interrupted run left there (`.writing-…`)."""
    entries: list[CacheEntry] = []
    for part in PARTS:
        folder = cache_folder() / part
        try:
            for path in sorted(folder.iterdir()) if folder.is_dir() else ():
                entries.append(CacheEntry(part, path.name, path, _size(path)))
        except OSError as error:
            raise InputError(f"cannot read the cache at {folder}: {error.strerror}") from None
    return entries


def clear_cache() -> list[CacheEntry]:
    """Remove everything `list_cache` lists, and say what it was."""
    entries = list_cache()
    for entry in entries:
        try:
            if entry.path.is_dir() and not entry.path.is_symlink():
                shutil.rmtree(entry.path)
            else:
                entry.path.unlink(missing_ok=True)
        except OSError as error:
            raise InputError(f"cannot remove {entry.path}: {error.strerror}") from None
    return entries


def _size(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.lstat().st_size for file in files if file.is_file())
