"""Files and folders that appear whole or not at all.

What is written goes to a name that starts with `.writing-` beside its place, is flushed to the
disk, and takes its place in one rename. So a reader never meets half a file, and a run that is
killed leaves at most such names, which whoever next writes there sweeps away.
"""

import errno
import hashlib
import os
import platform
import re
import secrets
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import polars as pl
import psutil

from headgauge.errors import InputError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

WRITING = ".writing-"
_LOCK = f"{WRITING}lock"
_SHOWN = 40  # characters of a name that its temporary one has: both must fit into 255 bytes
# Which process writes can be asked on this machine alone; from elsewhere only the age tells.
_MACHINE = hashlib.sha256(platform.node().encode()).hexdigest()[:8]
_STALE_SECONDS = 3600.0
_FULL = {
    errno.ENOSPC: "no space left on the disk",
    errno.EDQUOT: "the disk quota is used up",
    errno.EFBIG: "the largest file allowed is reached",
}


@contextmanager
def whole_file(target: Path, needed: int | None = None) -> Iterator[Path]:
    """A path to write to; what it holds when the block ends well becomes `target`.

    `needed` is about how many bytes it will take, for the message if the disk is full.
    """
    with _beside(target, needed) as temporary:
        yield temporary
        _flush(temporary)
        os.replace(temporary, target)


@contextmanager
def whole_folder(target: Path, needed: int | None = None) -> Iterator[Path]:
    """An empty folder to write to, which becomes `target`; one that stands there already stays."""
    with _beside(target, needed) as temporary:
        temporary.mkdir(parents=True)
        yield temporary
        for path in (*sorted(temporary.iterdir()), temporary):
            _flush(path)
        try:
            temporary.rename(target)
        except OSError:
            if not target.is_dir():
                raise


@contextmanager
def _beside(target: Path, needed: int | None) -> Iterator[Path]:
    """A temporary name beside `target`, with nothing under it when the block has ended."""
    name = f"{WRITING}{target.name[:_SHOWN]}-{_MACHINE}-{os.getpid()}-{secrets.token_hex(4)}"
    temporary = target.with_name(name)
    try:
        with one_line(target, needed):
            sweep(target.parent)
            yield temporary
            _flush(target.parent)
    finally:
        _remove(temporary)


def folder_to_write(path: Path) -> None:
    """Have a folder at `path`, without what the dead have left in it."""
    check_name(path)
    with one_line(path):
        if os.path.lexists(path) and not path.is_dir():
            what = "a file" if path.exists() else "a link to nowhere"
            raise InputError(f"{path} is {what}: give a folder to write to")
        path.mkdir(parents=True, exist_ok=True)
        sweep(path)


def check_name(path: Path) -> None:
    """Refuse what is no text, though the system may take it for a name: polars takes none."""
    if "\0" in str(path) or not encodes(str(path)):
        raise InputError(f"{str(path)!a} is no name in UTF-8: give the folder another")


def encodes(text: str) -> bool:
    """Whether a text can be written in UTF-8: a file's name and JSON may hold halves of letters."""
    return text == text.encode("utf-8", "replace").decode()


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Alone in a folder, among the processes and threads that ask likewise.

    Who is killed holds nothing any more. A file system that knows no locks gives none.
    """
    path = folder / _LOCK
    with one_line(folder):
        while True:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
            with suppress(OSError):
                if sys.platform == "win32":
                    msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)
                else:
                    fcntl.flock(descriptor, fcntl.LOCK_EX)
            # Who held it before has removed the file: what was waited for is no longer the lock.
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(descriptor), path.stat()):
                    break
            os.close(descriptor)
    try:
        yield
    finally:
        with suppress(OSError):
            path.unlink()
        os.close(descriptor)


@contextmanager
def one_line(target: Path, needed: int | None = None) -> Iterator[None]:
    """What the system or polars says against writing `target`, as an InputError of one line."""
    try:
        yield
    except (OSError, pl.exceptions.PolarsError) as error:
        number = _error_number(error)
        if number in _FULL:
            raise InputError(
                f"{_FULL[number]} while writing {target}{_room(target, needed)}"
            ) from None
        if isinstance(error, OSError):
            raise InputError(f"cannot write {target}: {error.strerror or error}") from None
        if "transport error" in str(error):  # a parquet file's last bytes: polars keeps no reason
            raise InputError(
                f"cannot write all of {target}: the disk may be full, or a limit reached"
                f"{_room(target, needed)}"
            ) from None
        raise


def sweep(folder: Path) -> None:
    """Remove what writers that no longer live have left in a folder."""
    for path in folder.glob(WRITING + "*"):
        # Whoever takes the lock next removes its file.
        if path.name != _LOCK and not _has_writer(path):
            _remove(path)


def _remove(path: Path) -> None:
    shutil.rmtree(path, ignore_errors=True)
    with suppress(OSError):
        path.unlink()


def _has_writer(path: Path) -> bool:
    found = re.search(r"-([0-9a-f]{8})-(\d+)-[0-9a-f]{8}$", path.name)
    try:
        written = path.stat().st_mtime
    except FileNotFoundError:
        return False
    if found is None or found[1] != _MACHINE:
        return time.time() - written < _STALE_SECONDS
    try:
        process = psutil.Process(int(found[2]))
        # A process younger than the file has only inherited the number.
        return process.status() != psutil.STATUS_ZOMBIE and process.create_time() < written + 1
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:
        return True


def _flush(path: Path) -> None:
    """Have the disk hold what was written; a folder holds the names in it."""
    if path.is_dir() and os.name != "posix":
        return
    descriptor = os.open(path, os.O_RDONLY if os.name == "posix" else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _error_number(error: Exception) -> int | None:
    """errno, which polars has only in its text: "... (os error 28)"."""
    found = re.search(r"(?:os error |Errno )(\d+)", str(error))
    return int(found[1]) if found else getattr(error, "errno", None)


def _room(target: Path, needed: int | None) -> str:
    try:
        free = shutil.disk_usage(target.parent).free
    except OSError:
        return ""
    wanted = "" if needed is None else f", about {needed / 1e6:.1f} MB needed"
    return f" ({free / 1e6:.1f} MB free{wanted})"
