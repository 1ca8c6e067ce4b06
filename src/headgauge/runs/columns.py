"""What a column of a table may hold: the words that it chooses from, the range of its numbers that
figures rely on. Whatever else a file holds is damage.

Words become names of files and headings, so that none may come from a file unseen.
"""

import sys
from collections.abc import Iterable
from types import UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

Vectors = Literal["value", "hidden", "embedding", "final"]
Scale = Literal["unit", "raw"]  # the length of the vectors
Keys = Literal["visible", "all", "off_sink"]  # the keys that count
Seen = Literal["qkv", "softmax"]
Side = Literal["query", "key"]
How = Literal["mean", "zero"]  # what is put in the place of a head's output
SpanKind = Literal["span", "class"]
Where = Literal["logits", "inside"]  # what a rule was put on
Logits = Literal["scaled", "raw"]
Panel = Literal["circle", "model"]
Expected = Literal["printed", "appendix", "upper"]
Weights = Literal["identity", "random", "layers"]
Scheme = Literal[
    "post_ln",
    "pre_ln",
    "mix_ln",
    "peri_ln",
    "ngpt",
    "ln_scaling",
    "ln_scaling_pre",
    "unnormalised",
]


class Range(NamedTuple):
    """The ends belong to it; NaN never does."""

    low: float
    high: float
    beyond: str  # what is said of a number outside


_TINY, _HUGE = sys.float_info.min, sys.float_info.max
Finite = Annotated[float, Range(-_HUGE, _HUGE, "not finite")]  # what figures are drawn over
Place = Annotated[float, Range(-1e100, 1e100, "no place in a plane")]  # its square is finite
Share = Annotated[float, Range(0, 1, "outside 0 to 1")]
Part = Annotated[float, Range(_TINY, 1, "not above 0 and up to 1")]  # on an axis of ratios
Size = Annotated[int, Range(1, _HUGE, "below 1")]


# A mean over query rows. Where only some rows were measured its sampling error stands beside it.
_OVER_ROWS = "over rows"
Mean = Annotated[float, _OVER_ROWS]
_ERROR = "_error"


class Column(NamedTuple):
    """What a column may hold: numbers, maybe of a range, texts, or one of a few words; null if it
    is `optional`."""

    kind: type
    optional: bool
    words: tuple[str, ...] = ()
    range: Range | None = None
    over_rows: bool = False


def columns(row: type, errors: bool = False) -> dict[str, Column]:
    """The columns of a table whose rows are of this type; with `errors`, each mean over rows is
    followed by its sampling error."""
    hints = get_type_hints(row, include_extras=True)
    found: dict[str, Column] = {}
    for name, hint in hints.items():
        found[name] = _column(hint)
        if errors and found[name].over_rows:
            found[error_of(name)] = Column(float, True)
    return found


def error_of(measure: str) -> str:
    """The column with the sampling error of a mean."""
    return measure + _ERROR


def has_errors(names: Iterable[str], row: type) -> bool:
    """Whether a table with these columns has sampling errors."""
    means = [name for name, column in columns(row).items() if column.over_rows]
    return not {error_of(name) for name in means}.isdisjoint(names)


def _column(hint: Any) -> Column:
    parts = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    kind = next(part for part in parts if part is not type(None))
    optional = type(None) in parts
    if get_origin(kind) is Literal:
        return Column(str, optional, get_args(kind))
    if get_origin(kind) is Annotated and _OVER_ROWS in kind.__metadata__:
        return Column(kind.__origin__, optional, over_rows=True)
    if get_origin(kind) is Annotated:
        return Column(kind.__origin__, optional, range=kind.__metadata__[0])
    return Column(kind, optional)
