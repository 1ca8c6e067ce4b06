"""What a GGUF file says of itself: the single values of its header.

Arrays (the vocabulary, its scores and merges) are stepped over. That takes a fraction of a second,
where gguf's own reader, which makes an array of every token, takes ten and more; so the file itself
is asked at every start, and a converted copy cannot contradict it.
"""

import mmap
import struct
from pathlib import Path

from headgauge.errors import InputError

Value = int | float | bool | str

# The types of values by their numbers in the format; a string is 8, an array 9.
_PLAIN = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
_VERSIONS = (2, 3)


def read_header(path: Path) -> dict[str, Value]:
    """The header's values by their keys, without the arrays."""
    try:
        with (
            path.open("rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as bytes_,
        ):
            return _Reader(bytes_).values()
    except (OSError, ValueError, KeyError, struct.error) as error:
        reason = f"{type(error).__name__}: {error}"
        raise InputError(f"cannot read the GGUF file {path} ({reason})") from None


class _Reader:
    """A place in the file that moves on."""

    def __init__(self, bytes_: mmap.mmap) -> None:
        self.bytes, self.place, self.order = bytes_, 4, "<"
        version = self._number("I")
        if version & 0xFFFF == 0:  # written on a machine of the other byte order
            self.order, self.place = ">", 4
            version = self._number("I")
        if version not in _VERSIONS:
            raise ValueError(
                f"version {version} of the format, not {_VERSIONS[0]} or {_VERSIONS[1]}"
            )

    def values(self) -> dict[str, Value]:
        self._number("Q")  # of tensors
        found: dict[str, Value] = {}
        for _ in range(self._number("Q")):
            key, kind = self._string(), self._number("I")
            if kind == _ARRAY:
                self._step_over()
            else:
                found[key] = self._string() if kind == _STRING else self._plain(_PLAIN[kind])
        return found

    def _step_over(self) -> None:
        kind, count = self._number("I"), self._number("Q")
        if kind in (_STRING, _ARRAY):
            for _ in range(count):
                if kind == _ARRAY:
                    self._step_over()
                else:
                    size = self._number("Q")
                    self.place += size
        else:
            self.place += count * struct.calcsize(_PLAIN[kind])

    def _number(self, kind: str) -> int:
        return int(self._plain(kind))

    def _plain(self, kind: str) -> int | float | bool:
        (found,) = struct.unpack_from(self.order + kind, self.bytes, self.place)
        self.place += struct.calcsize(kind)
        return found

    def _string(self) -> str:
        start = self.place + 8
        self.place = start + self._number("Q")
        if self.place > len(self.bytes):
            raise ValueError("it ends in the middle of its header")
        return self.bytes[start : self.place].decode()
