"""How each line of the paper's figures looks and what it is called: one place for all of them.

Colours are Okabe and Ito's, which stay apart for every kind of colour vision; a line style and a
marker tell every line apart once more. What the paper printed and is false is drawn broken.
"""

from dataclasses import dataclass
from typing import Any

from matplotlib.lines import Line2D
from matplotlib.patches import Patch

BLACK, GREY, PALE = "#222222", "#777777", "#E9E9E9"
ORANGE, SKY, GREEN = "#E69F00", "#56B4E9", "#009E73"
BLUE, RED, PURPLE = "#0072B2", "#D55E00", "#CC79A7"

COLUMN, PAGE = 3.4, 7.0  # inches: the widths of a column and of a page with two

PAPER_SHARE = 0.06  # critical N over L in the paper
PAPER_BAND = (0.70, 0.85)  # separability from N = 16 on in the paper

TYPE: dict[Any, Any] = {
    "font.size": 7.0,
    "axes.labelsize": 7.5,
    "axes.titlesize": 7.5,
    "axes.titlelocation": "left",
    "axes.linewidth": 0.6,
    "axes.edgecolor": BLACK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "xtick.minor.size": 1.5,
    "ytick.minor.size": 1.5,
    "lines.linewidth": 1.1,
    "lines.markersize": 3.5,
    "legend.fontsize": 7.0,
    "legend.frameon": False,
    "legend.borderpad": 0.0,
    "legend.labelspacing": 0.3,
    "legend.handlelength": 2.6,
    "legend.columnspacing": 1.2,
}


@dataclass(frozen=True)
class Look:
    """A line's name and its three signs."""

    label: str
    colour: str
    line: str | tuple[int, tuple[int, ...]] = "-"
    marker: str = ""

    def how(self, **more: Any) -> dict[str, Any]:
        """What `Axes.plot` takes."""
        signs = {"color": self.colour, "linestyle": self.line, "marker": self.marker}
        return signs | {"label": self.label} | more

    def handle(self, **more: Any) -> Line2D:
        """Its entry in a legend."""
        return Line2D([], [], **self.how(**more))


DISTANCE = Look(r"distance $\tilde{d}$", GREEN, "-", "o")
BOUND = Look("bound, Theorem 1.1", RED, "--", "s")
EXPECTED = Look("expectation as printed, Theorem 1.2 (false)", BLUE, "-.", "^")
DISTANCE_LOOKS = {"bound_printed": BOUND, "expected_printed": EXPECTED, "distance": DISTANCE}

SEPARABILITY = Look(r"mean $N_s/N$ over heads", GREEN, "-", "o")
SEPARABILITY_LOOKS = {
    "separability_printed_upper": Look("upper bound as printed, eq. 11 (false)", RED, "--", "s"),
    "separability_printed_lower": Look("lower bound as printed, eq. 11", BLUE, "-.", "v"),
    "separability_lower": Look("corrected lower bound", PURPLE, ":", "D"),
    "separability": SEPARABILITY,
}

CRITICAL_LOOKS = {
    "printed": Look("as printed", BLUE, "-.", "^"),
    "appendix": Look("eq. 24, below the true", GREEN, ":", "v"),
    "upper": Look("second moment, above", PURPLE, "-", "D"),
}
PAPER_LINE = Look(f"{PAPER_SHARE:g} L, the paper's", BLACK, (0, (6, 2)))


def sandwich_handle(label: str) -> Patch:
    return Patch(facecolor=SKY, edgecolor=SKY, alpha=0.5, label=label)


def band_handle(label: str) -> Patch:
    return Patch(facecolor=PALE, edgecolor=GREY, linewidth=0.5, label=label)


_RULE_COLOURS = (BLUE, ORANGE, GREEN, PURPLE, RED, SKY, GREY)
_RULE_LINES = ("--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 2)))
_RULE_MARKERS = ("s", "^", "v", "D", "P", "X", "<", ">", "h", "*")


def rule_looks(rules: list[str]) -> dict[str, Look]:
    """The model's own weights in black; every other rule its own colour, line and marker."""
    looks = {}
    for place, rule in enumerate(rule for rule in rules if rule != "model"):
        looks[rule] = Look(
            rule,
            _RULE_COLOURS[place % len(_RULE_COLOURS)],
            _RULE_LINES[place % len(_RULE_LINES)],
            _RULE_MARKERS[place % len(_RULE_MARKERS)],
        )
    own = {"model": Look("the model's own", BLACK, "-", "o")} if "model" in rules else {}
    return own | looks
