"""What a GGUF file says of itself: the single values of its header.

Arrays (the vocabulary, its scores and merges) are stepped over. That takes a fraction of a second,
where gguf's own reader, which makes an array of every token, takes ten and more; so the file itself
is asked at every start, and a converted copy cannot contradict it (transformers drops what is said
of BOS and EOS).

gguf's reader believes every length it is told and fills the memory for one that is wrong. So a file
comes to it only when all that its header and its table of tensors ask for lies inside the file.
"""

import mmap
import re
import struct
from collections.abc import Mapping
from math import prod
from pathlib import Path

from headgauge.errors import InputError

Value = int | float | bool | str
TENSORS = "GGUF.tensor_count"  # gguf's own name for it

# The types of values by their numbers in the format; a string is 8, an array 9.
_PLAIN = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
_VERSIONS = (2, 3)
_ALIGNMENT = 32
# gguf's reader keeps some 300 bytes for each value of an array; vocabularies with their scores and
# merges have about a million.
_MOST_VALUES = 1 << 22
_DEEPEST = 4  # arrays of arrays
_MOST_DIMENSIONS = 4


def read_header(path: Path) -> dict[str, Value]:
    """The header's values by their keys, without the arrays, of a file that is whole."""
    try:
        with path.open("rb") as file:
            if file.read(4) != b"GGUF":
                raise InputError(
                    f"{path} is not a GGUF file (it does not start with 'GGUF'): give one, or the "
                    "folder that has config.json and the safetensors"
                )
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
                return _Reader(content).values()
    except InputError:
        raise
    except (struct.error, OverflowError):
        reason = "it ends in the middle of its header"
    except (OSError, ValueError, KeyError) as error:
        reason = getattr(error, "strerror", None) or f"{type(error).__name__}: {error}"
    raise InputError(f"cannot read the GGUF file {path} ({reason})")


def quantisation_note(header: Mapping[str, Value], file: str) -> str | None:
    """ "4-bit Q4_1 (GGUF file)" from the header's file type, else from the file's name."""
    import gguf

    try:
        kind = gguf.LlamaFileType(header["general.file_type"]).name
        name = kind.removeprefix("MOSTLY_").removeprefix("ALL_")
    except (KeyError, ValueError):
        kinds = r"(?<![A-Z0-9])(I?Q\d_[A-Z0-9_]+|B?F16|F32)(?![A-Z0-9])"
        found = re.search(kinds, file.upper())
        if found is None:
            return None
        name = found[1]
    bits = re.match(r"I?Q(\d)", name)
    return f"{bits[1]}-bit {name} (GGUF file)" if bits else f"{name} (GGUF file)"


class _Reader:
    """A place in the file that moves on, and never beyond its end."""

    def __init__(self, bytes_: mmap.mmap) -> None:
        self.bytes, self.place, self.order = bytes_, 4, "<"
        self.left = _MOST_VALUES
        version = self._number("I")
        if version & 0xFFFF == 0:  # written on a machine of the other byte order
            self.order, self.place = ">", 4
            version = self._number("I")
        if version not in _VERSIONS:
            raise ValueError(
                f"version {version} of the format, not {_VERSIONS[0]} or {_VERSIONS[1]}"
            )

    def values(self) -> dict[str, Value]:
        tensors, values = self._number("Q"), self._number("Q")
        found: dict[str, Value] = {}
        for _ in range(values):  # each takes bytes of the file: too many of them meet its end
            key, kind = self._string(), self._number("I")
            if kind == _ARRAY:
                self._step_over()
            else:
                found[key] = self._string() if kind == _STRING else self._plain(_PLAIN[kind])
        self._check_tensors(tensors, found)
        return found | {TENSORS: tensors}

    def _check_tensors(self, count: int, header: Mapping[str, Value]) -> None:
        """Every tensor lies in the file, beside the others, and every layer has some."""
        from gguf import GGML_QUANT_SIZES, GGMLQuantizationType

        furthest, whole, blocks = 0, 0, set[str]()
        for _ in range(count):
            name, dimensions = self._string(), self._number("I")
            if dimensions > _MOST_DIMENSIONS:
                raise ValueError(f"{name!r} has {dimensions} dimensions")
            shape = [self._number("Q") for _ in range(dimensions)]
            block, size = GGML_QUANT_SIZES[GGMLQuantizationType(self._number("I"))]
            held = prod(shape) // block * size
            furthest = max(furthest, self._number("Q") + held)
            whole += held
            blocks.update(re.findall(r"\bblk\.(\d+)\.", name))
        alignment = header.get("general.alignment", _ALIGNMENT)
        start = self.place + -self.place % max(1, int(alignment))
        if count and start + max(furthest, whole) > len(self.bytes):
            raise ValueError("its tensors do not fit into the file: it was cut or damaged")
        # Where the key is missing, transformers would build as many layers as such models have.
        layers = header.get(f"{header.get('general.architecture')}.block_count", 0)
        if layers != len(blocks):
            raise ValueError(f"{layers} layers in its header, tensors of {len(blocks)}")

    def _step_over(self, depth: int = 1) -> None:
        kind, count = self._number("I"), self._number("Q")
        self.left -= count
        if self.left < 0 or depth > _DEEPEST:
            raise ValueError(f"an array of {count} values at depth {depth} of its header")
        if kind == _ARRAY:
            for _ in range(count):
                self._step_over(depth + 1)
        elif kind == _STRING:
            # A hundred thousand of them: no call for each.
            size, place = struct.Struct(self.order + "Q"), self.place
            for _ in range(count):
                place += 8 + size.unpack_from(self.bytes, place)[0]
            self._move(place - self.place)
        else:
            self._move(count * struct.calcsize(_PLAIN[kind]))

    def _number(self, kind: str) -> int:
        return int(self._plain(kind))

    def _plain(self, kind: str) -> int | float | bool:
        (found,) = struct.unpack_from(self.order + kind, self.bytes, self.place)
        self.place += struct.calcsize(kind)
        return found

    def _string(self) -> str:
        size = self._number("Q")
        self._move(size)
        return self.bytes[self.place - size : self.place].decode()

    def _move(self, size: int) -> None:
        self.place += size
        if self.place > len(self.bytes):
            raise ValueError("it ends in the middle of its header")
