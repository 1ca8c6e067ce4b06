"""How a thing is described, and how its line looks."""

from dataclasses import dataclass, replace
from typing import Any, Literal

# Okabe and Ito's palette, whose colours stay apart for every kind of colour vision, and two greys.
BLACK, GREY, PALE = "#222222", "#777777", "#E9E9E9"
ORANGE, SKY, GREEN = "#E69F00", "#56B4E9", "#009E73"
BLUE, RED, PURPLE = "#0072B2", "#D55E00", "#CC79A7"

# Of a measure that is a share.
SHARE: dict[str, Any] = {"digits": 2, "low": 0.0, "high": 1.0}

LineStyle = Literal["solid", "dashed", "dotted", "dashdot", "longdash", "dashdotdot", "none"]
Shape = Literal[
    "", "dot", "circle", "square", "diamond", "triangle", "down", "plus", "cross", "star", "hexagon"
]
Arrow = Literal["right"]  # what is meant lies beyond the point
Marker = Shape | Arrow


@dataclass(frozen=True)
class Look:
    """The three signs of a line, the same in PNG and page; each tells it apart alone."""

    colour: str  # #RRGGBB
    line: LineStyle = "solid"
    marker: Marker = ""
    width: float = 1.0  # times the usual, of the line
    size: float = 1.0  # likewise, of the marker
    opacity: float = 1.0

    @property
    def ink(self) -> str:
        """Black or white, whichever is read more easily on the colour."""
        parts = (int(self.colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
        red, green, blue = (part**2.2 for part in parts)
        return "black" if 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.18 else "white"


@dataclass(frozen=True)
class Entry:
    """A measure, verdict, scheme, rule, choice or published number in words.

    `low` and `high` are the ends it cannot pass; colours then span them, so that figures of two
    models compare. An open end takes a percentile of the data. `centre` is a value that means
    "neither": only such a measure gets a diverging colour map, which `logarithmic` bends on both
    sides.
    """

    title: str = ""  # as a reader meets it
    symbol: str = ""  # as in the paper
    unit: str = ""  # what the number is, with its limit
    heading: str = ""  # of a narrow column; "\n" breaks it
    explanation: str = ""  # what title and unit leave open, as it goes on after a colon
    source: str = ""  # equation, theorem, reference
    direction: Literal["", "higher is better", "lower is better"] = ""
    digits: int = 3  # after the point, in tables
    low: float | None = None
    high: float | None = None
    centre: float | None = None
    logarithmic: bool = False
    over_windows: Literal["mean", "max"] = "mean"
    letter: str = ""  # of a verdict, for whoever cannot use its colour
    style: str = ""  # of the word in a terminal
    look: Look = Look(BLACK)
    name: str = ""  # as in tables and options

    @property
    def colour_map(self) -> str:
        """Both are safe for colour-blind readers; the first is perceptually uniform."""
        return "viridis" if self.centre is None else "PuOr_r"

    @property
    def meaning(self) -> str:
        """All of it in one line, nothing twice: title (symbol; unit; source): explanation."""
        symbol = "" if self.symbol in self.title.split() else self.symbol
        source = "" if self.source in self.title + self.unit else self.source
        facts = "; ".join(filter(None, (symbol, self.unit, source)))
        words = f"{self.title} ({facts})" if facts else self.title
        return f"{words}: {self.explanation}" if self.explanation else words


def by_name(**entries: Entry) -> dict[str, Entry]:
    """Each with its name, which is also the title of those without one."""
    return {
        name: replace(entry, name=name, title=entry.title or name)
        for name, entry in entries.items()
    }
