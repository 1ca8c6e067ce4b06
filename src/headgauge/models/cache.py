"""The cache folder: what headgauge keeps between runs, and how to look at it and empty it.

`HEADGAUGE_CACHE_DIR`, else `headgauge` in the user's cache folder. `gguf/` has converted models,
one folder each; `texts/` has downloaded texts. All of it is made again on demand, as is
what no longer has the sum it was kept with.

Converting a GGUF file takes up to half a minute at each start (weights first, then the tokenizer).
So a copy is kept as safetensors with its configuration and tokenizer, under the file's sha256 and
the version of transformers that converted it. It appears under its name only when it is complete,
and with a sum of each of its files, which are compared at every load (0.3 s for 540 MB): a damaged
copy would give wrong numbers and say nothing.
"""

import json
import os
import shutil
import sys
import zlib
from pathlib import Path
from typing import Any

from torch import nn

from headgauge.atomic import sweep, whole_folder
from headgauge.errors import InputError

PARTS = ("gguf", "texts")
_FACTS = "headgauge.json"
_SPARE_BYTES = 1 << 30  # what the disk should still have free after a copy


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


def list_cache() -> dict[Path, int]:
    """What the cache holds, folders and files, with their sizes in bytes; also what an interrupted
    run left there (`.writing-…`)."""
    sizes: dict[Path, int] = {}
    for part in PARTS:
        folder = cache_folder() / part
        try:
            for path in sorted(folder.iterdir()) if folder.is_dir() else ():
                files = path.rglob("*") if path.is_dir() else [path]
                sizes[path] = sum(file.lstat().st_size for file in files if file.is_file())
        except OSError as error:
            raise InputError(f"cannot read the cache at {folder}: {error.strerror}") from None
    return sizes


def clear_cache() -> dict[Path, int]:
    """Remove everything `list_cache` lists, and say what it was."""
    sizes = list_cache()
    for path in sizes:
        try:
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
        except OSError as error:
            raise InputError(f"cannot remove {path}: {error.strerror}") from None
    return sizes


def copy_folder(sha256: str) -> Path:
    """Where the converted copy of a GGUF file belongs."""
    import transformers

    return cache_folder() / "gguf" / f"{sha256[:32]}-transformers-{transformers.__version__}"


def find_copy(sha256: str) -> tuple[Path | None, str | None]:
    """The converted copy of a file, or None; and why there is none any more where there was."""
    folder = copy_folder(sha256)
    if not folder.exists():
        return None, None
    try:
        said = json.loads((folder / _FACTS).read_text(encoding="utf-8"))
        there = {file.name: file_sum(file) for file in folder.iterdir() if file.name != _FACTS}
        if said["sha256"] == sha256 and said["sums"] == there:
            return folder, None
        reason = "its files are not what was kept"
    except (OSError, ValueError, TypeError, LookupError):
        reason = "it is not whole or has no sums"
    return None, f"the converted copy in the cache was made anew: {reason}"


def keep_copy(model: nn.Module, tokenizer: Any, file: str, sha256: str) -> str | None:
    """Write the converted copy of a file; returns None, or why there is none.

    A cache that cannot be written (no room, no right) costs time at the next start and nothing now.
    """
    loose: Any = model
    folder = copy_folder(sha256)
    size = sum(weight.numel() * weight.element_size() for weight in model.parameters())
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        sweep(folder.parent)
        if find_copy(sha256)[0] is not None:
            return None  # another process was faster
        shutil.rmtree(folder, ignore_errors=True)
        if shutil.disk_usage(folder.parent).free < size + _SPARE_BYTES:
            return f"no converted copy kept: {folder.parent} has too little room ({size} bytes)"
        with whole_folder(folder, size) as new:
            loose.save_pretrained(new)
            tokenizer.save_pretrained(new)
            sums = {each.name: file_sum(each) for each in sorted(new.iterdir())}
            text = json.dumps({"file": file, "sha256": sha256, "sums": sums}, indent=2)
            (new / _FACTS).write_text(text + "\n", encoding="utf-8")
    except (OSError, InputError) as error:
        return f"no converted copy kept: {error}"
    return None
