"""GGUF files: what they are, and converted copies of them.

Converting a file takes up to half a minute at each start (weights first, then the tokenizer). So a
copy is kept as safetensors with its configuration and tokenizer, under the file's sha256 and the
version of transformers that converted it. It appears under its name only when it is complete, and
with a sum of each of its files, which are compared at every load (0.3 s for 540 MB): a damaged copy
would give wrong numbers and say nothing. What the file says of BOS and EOS is not in it:
transformers drops that, and the file is at hand.
"""

import hashlib
import json
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from torch import nn

from headgauge.atomic import sweep, whole_folder
from headgauge.errors import InputError
from headgauge.models.cache import cache_folder, file_sum
from headgauge.models.gguf_header import Value

_FACTS = "headgauge.json"
# What the disk should still have free after a copy.
_SPARE_BYTES = 1 << 30


@dataclass(frozen=True)
class GgufFacts:
    """What is known of a GGUF file."""

    file: str
    sha256: str
    quantisation: str | None


def check_gguf(path: Path) -> None:
    """Refuse what is not a GGUF file before anything is converted."""
    try:
        with path.open("rb") as file:
            start = file.read(4)
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None
    if start != b"GGUF":
        raise InputError(
            f"{path} is not a GGUF file (it does not start with 'GGUF'): give one, or the folder "
            "that has config.json and the safetensors"
        )


def file_sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def copy_folder(sha256: str) -> Path:
    """Where the converted copy of a file belongs."""
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


def keep_copy(model: nn.Module, tokenizer: Any, facts: GgufFacts) -> str | None:
    """Write the converted copy; returns None, or why there is none.

    A cache that cannot be written (no room, no right) costs time at the next start and nothing now.
    """
    loose: Any = model
    folder = copy_folder(facts.sha256)
    size = sum(weight.numel() * weight.element_size() for weight in model.parameters())
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        sweep(folder.parent)
        if find_copy(facts.sha256)[0] is not None:
            return None  # another process was faster
        shutil.rmtree(folder, ignore_errors=True)
        if shutil.disk_usage(folder.parent).free < size + _SPARE_BYTES:
            return f"no converted copy kept: {folder.parent} has too little room ({size} bytes)"
        with whole_folder(folder, size) as new:
            loose.save_pretrained(new)
            tokenizer.save_pretrained(new)
            sums = {file.name: file_sum(file) for file in sorted(new.iterdir())}
            text = json.dumps(asdict(facts) | {"sums": sums}, indent=2)
            (new / _FACTS).write_text(text + "\n", encoding="utf-8")
    except (OSError, InputError) as error:
        return f"no converted copy kept: {error}"
    return None


def forget_quantisation(model: nn.Module) -> None:
    """The weights are plain floats now; transformers would refuse to save them otherwise."""
    loose: Any = model
    loose.hf_quantizer = None
    loose.is_quantized = False
    if hasattr(loose.config, "quantization_config"):
        del loose.config.quantization_config


def quantisation_note(header: Mapping[str, Value], file: str) -> str | None:
    """ "4-bit Q4_1 (GGUF file)" from the header's file type, else from the file's name."""
    name = _header_type(header) or _name_type(file)
    if name is None:
        return None
    bits = re.match(r"I?Q(\d)", name)
    return f"{bits[1]}-bit {name} (GGUF file)" if bits else f"{name} (GGUF file)"


def _header_type(header: Mapping[str, Value]) -> str | None:
    import gguf

    try:
        kind = gguf.LlamaFileType(header["general.file_type"])
    except (KeyError, ValueError):
        return None
    return kind.name.removeprefix("MOSTLY_").removeprefix("ALL_")


def _name_type(name: str) -> str | None:
    found = re.search(r"(?<![A-Z0-9])(I?Q\d_[A-Z0-9_]+|B?F16|F32)(?![A-Z0-9])", name.upper())
    return found[1] if found else None


@contextmanager
def no_bar() -> Iterator[None]:
    """Without the progress bar that transformers' reader draws whatever its logging is set to."""
    from transformers import modeling_gguf_pytorch_utils as reader

    kept = getattr(reader, "tqdm", None)
    setattr(reader, "tqdm", lambda items, **_: items)  # noqa: B010
    try:
        yield
    finally:
        setattr(reader, "tqdm", kept)  # noqa: B010
