"""How windows are read, whatever is measured in them: part of what a run is identified by."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from headgauge.errors import LARGEST, THREADS, InputError, check_whole

LENGTH = 1024
TOP_NS = (1, 2, 4, 8, 16, 32, 64)  # by which heads are judged
_FEWEST_ROWS, _ENTRIES = 256, 1 << 19  # of a block


@dataclass(frozen=True, kw_only=True)
class UnitSettings:
    """How windows are read and rows streamed.

    `lengths` are the window lengths, the longest last: a shorter one reads the beginning of the
    same windows. `layers` and `heads` are None for all. `precision` is that of the curves' inner
    loops (see `engine.Geometry.of`). `threads` is here because the last digits of a matrix product
    depend on how it is cut, and so do `block_rows` (None: by their length), which nobody is asked
    for and a run is not identified by.

    `rows` is how many query rows of a window are measured (`row_sample`), None for all;
    `keep_rows` keeps the numbers of each of them.

    `free` names the sizes that nobody asked for: "length" (the longest), "shorter" (the others),
    "windows", "top_ns". They give way to the model's context and to the text (`plan.fit`); what
    they became identifies the run, not that they were free.
    """

    lengths: tuple[int, ...] = (LENGTH,)
    windows: int = 4
    offset: int = 0
    bos: str = "auto"
    layers: tuple[int, ...] | None = None
    heads: tuple[int, ...] | None = None
    precision: str = "float32"
    sample_rows: int = 4
    sample_keys: int = 8
    rows: int | None = None
    keep_rows: bool = False
    block_rows: int | None = None
    threads: int = 1
    seed: int = 0
    free: frozenset[str] = frozenset()
    # How many parts the text is read in: 2 where some windows are for choosing, behind the judged.
    parts: ClassVar[int] = 1

    def __post_init__(self) -> None:
        if not self.lengths or min(self.lengths) < 2:
            raise InputError(f"a window needs at least 2 tokens, got length {min(self.lengths)}")
        if self.windows < 1 or self.offset < 0:
            raise InputError(
                f"windows {self.windows} must be at least 1, offset {self.offset} at least 0"
            )
        check_among("precision", (self.precision,), ("float32", "float64"))
        check_among("bos", (self.bos,), ("auto", "always", "never"))
        if self.rows is not None:
            check_whole("rows", self.rows, 2, LARGEST)
        check_whole("threads", self.threads, 1, THREADS)
        check_whole("seed", self.seed, 0, LARGEST)

    @property
    def length(self) -> int:
        """The main length, which the verdicts are about."""
        return max(self.lengths)

    def rows_at_once(self, keys: int) -> int:
        """How many rows over so many keys make a block: a call costs as much as some ten of them,
        and memory is bounded."""
        return self.block_rows or max(_FEWEST_ROWS, _ENTRIES // keys)

    def lengths_up_to(self, longest: int) -> tuple[int, ...]:
        """The lengths with another main one; shorter ones that nobody asked for keep their share
        of it."""
        shorter = [each for each in self.lengths if each < self.length]
        if "shorter" in self.free:
            shorter = [max(2, each * longest // self.length) for each in shorter]
        return tuple(sorted({*shorter, longest}))

    def as_dict(self) -> dict[str, Any]:
        # A run of all rows is what it was before some could be asked for: it is still taken up.
        left_out = {"free", "block_rows"} | ({"rows"} if self.rows is None else set())
        return {name: value for name, value in asdict(self).items() if name not in left_out}


def check_among(what: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Refuse what is none of the known words, and nothing at all."""
    given, listed = tuple(given), ", ".join(known := tuple(known))
    if not given:
        raise InputError(f"{what} needs at least one of {listed}")
    for each in given:
        if each not in known:
            raise InputError(f"no {what} named {each!r}; there are {listed}")
