"""The cache folder: what headgauge keeps between runs, and how to look at it and empty it.

`HEADGAUGE_CACHE_DIR`, else `headgauge` in the user's cache folder. `gguf/` has converted models,
one folder each; `texts/` has downloaded texts. All of it is made again on demand.
"""

import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

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
    named = os.environ.get("HEADGAUGE_CACHE_DIR")
    if named:
        return Path(named).expanduser()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "headgauge"
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
        return Path(base) / "headgauge" / "Cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "headgauge"


def list_cache() -> list[CacheEntry]:
    """What the cache holds, also what an interrupted run left there (`.writing-…`)."""
    entries: list[CacheEntry] = []
    for part in PARTS:
        folder = cache_folder() / part
        for path in sorted(folder.iterdir()) if folder.is_dir() else ():
            entries.append(CacheEntry(part, path.name, path, _size(path)))
    return entries


def clear_cache() -> list[CacheEntry]:
    """Remove everything `list_cache` lists, and say what it was."""
    entries = list_cache()
    for entry in entries:
        if entry.path.is_dir():
            shutil.rmtree(entry.path)
        else:
            entry.path.unlink()
    return entries


def _size(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())
