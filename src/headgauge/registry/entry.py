"""How a thing is described, and how its line looks."""

from dataclasses import dataclass
from typing import Literal

LineStyle = Literal["solid", "dashed", "dotted", "dashdot", "longdash", "dashdotdot", "none"]
# "up" and "right" are arrows: what is meant lies beyond the point.
Marker = Literal[
    "",
    "dot",
    "circle",
    "square",
    "diamond",
    "triangle",
    "down",
    "plus",
    "cross",
    "star",
    "hexagon",
    "up",
    "right",
]


@dataclass(frozen=True)
class Look:
    """The three signs of a line, the same in PNG and page; each tells it apart alone."""

    colour: str  # #RRGGBB
    line: LineStyle = "solid"
    marker: Marker = ""
    width: float = 1.0  # times the usual, of the line
    size: float = 1.0  # likewise, of the marker
    opacity: float = 1.0


@dataclass(frozen=True)
class Entry:
    """A measure, verdict, scheme, rule, choice or published number in words.

    `low` and `high` are the ends it cannot pass; `centre` a value that means "neither".
    """

    name: str  # as in tables and options
    title: str  # as a reader meets it
    symbol: str = ""  # as in the paper
    unit: str = ""  # what the number is, with its limit
    heading: str = ""  # of a narrow column; "\n" breaks it
    explanation: str = ""  # a sentence
    source: str = ""  # equation, theorem, reference
    direction: Literal["", "higher is better", "lower is better"] = ""
    digits: int = 3  # after the point, in tables
    low: float | None = None
    high: float | None = None
    centre: float | None = None
    logarithmic: bool = False
    over_windows: Literal["mean", "max"] = "mean"
    letter: str = ""  # of a verdict, for whoever cannot use its colour
    look: Look = Look("#222222")
