"""What each measure and verdict is called, and how it is shown, wherever a reader meets it.

Figures, terminal tables and pages take their titles, units, digits and colours from here.
"""

from dataclasses import dataclass
from typing import Literal

import polars as pl


@dataclass(frozen=True)
class Measure:
    """A measure in words.

    `low` and `high` are the ends the measure cannot pass; colours then span them, so that figures
    of two models compare. An open end takes a percentile of the data. `centre` is a value that
    means "neither": only such a measure gets a diverging colour map.
    """

    title: str
    unit: str  # what the number is, with its limit
    heading: str  # of a table's column, in narrow lines
    digits: int = 3  # after the point, in tables
    low: float | None = None
    high: float | None = None
    centre: float | None = None
    logarithmic: bool = False
    over_windows: Literal["mean", "max"] = "mean"

    def over(self, name: str) -> pl.Expr:
        """The column of that name, over windows."""
        return pl.col(name).max() if self.over_windows == "max" else pl.col(name).mean()

    @property
    def colour_map(self) -> str:
        """Both are safe for colour-blind readers; the first is perceptually uniform."""
        return "viridis" if self.centre is None else "PuOr_r"


HEAD_MEASURES = {
    "entropy": Measure("Entropy", "nats, from 0 to log n", "entropy", 2, low=0.0),
    "entropy_share": Measure(
        "Entropy share",
        "entropy / log n; 0 one key, 1 flat",
        "entropy\nshare",
        2,
        low=0.0,
        high=1.0,
    ),
    "rest_entropy_share": Measure(
        "Entropy share off the sink", "0 one key, 1 flat", "off-sink\nshare", 2, low=0.0, high=1.0
    ),
    "effective_n": Measure(
        "Effective number of keys",
        "exp(entropy), from 1",
        "effective\nN",
        1,
        low=1.0,
        logarithmic=True,
    ),
    "sink_weight": Measure(
        "Sink weight", "weight on the first token, 0 to 1", "sink\nweight", 2, low=0.0, high=1.0
    ),
    "max_logit": Measure(
        "Largest logit", "q·k·scale, largest of all rows", "max\nlogit", 1, over_windows="max"
    ),
    "jacobian_norm": Measure("Jacobian norm", "limit 0.5", "Jacobian\nnorm", 3, low=0.0, high=0.5),
    "sharpness": Measure("Sharpness 1/Λ", "below 1 the top weights merge", "1/Λ", 2, low=0.0),
    "sharp_rows": Measure(
        "Sharp rows", "share of rows with 1/Λ > 1, 0 to 1", "sharp\nrows", 2, low=0.0, high=1.0
    ),
    "output_norm": Measure(
        "Head output norm", "before the output projection", "output\nnorm", 2, low=0.0
    ),
    "output_ratio": Measure(
        "Output ratio",
        "head output norm / layer mean",
        "output\nratio",
        2,
        low=0.0,
        high=2.0,
        centre=1.0,
    ),
}

CURVE_MEASURES = {
    "separability": Measure(
        "Separability N_s/N",
        "share of the top N in the ball, 0 to 1",
        "N_s/N",
        2,
        low=0.0,
        high=1.0,
    ),
    "distance": Measure("Distance d̃", "eq. 7, from 0", "d̃", 1, low=0.0),
    "radius": Measure("Radius r", "nearest token left out, from 0", "r", 3, low=0.0),
}

MEASURES = HEAD_MEASURES | CURVE_MEASURES


def number(value: float | None, name: str) -> str:
    """A measure's value for a table: its digits, and a dash for what was not seen."""
    if value is None or value != value:
        return "–"
    measure = MEASURES.get(name)
    digits = 3 if measure is None else measure.digits
    text = f"{value:.{digits}f}"
    # A number that is there must not read as none.
    return text if value == 0 or float(text) != 0 else f"{value:.1g}"


@dataclass(frozen=True)
class Mark:
    """How a verdict is told apart: a colour, and a letter for whoever cannot use the colour."""

    letter: str
    colour: str  # of a figure's cell
    style: str  # of the word in a terminal

    @property
    def ink(self) -> str:
        """Black or white, whichever is read more easily on the colour."""
        parts = (int(self.colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
        red, green, blue = (part**2.2 for part in parts)
        return "black" if 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.18 else "white"


# Of Okabe and Ito's palette, whose colours stay apart for every kind of colour vision.
MARKS = {
    "saturated": Mark("A", "#E69F00", "yellow"),
    "diffuse": Mark("D", "#56B4E9", "cyan"),
    "sink": Mark("S", "#0072B2", "blue"),
    "unstable": Mark("U", "#D55E00", "bold red"),
    "inactive": Mark("I", "#CC79A7", "magenta"),
    "incomplete": Mark("?", "#BDBDBD", "dim"),
    "healthy": Mark("", "#F4F4F4", "green"),
}
_STRANGER = Mark("*", "#009E73", "bold")


def mark(verdict: str) -> Mark:
    return MARKS.get(verdict, _STRANGER)


# Schemes of normalisation, in the order of every legend and table: what each is called, and its
# colour (Okabe and Ito's).
SCHEMES = {
    "post_ln": ("Post-LN", "#D55E00"),
    "pre_ln": ("Pre-LN", "#0072B2"),
    "mix_ln": ("Mix-LN", "#CC79A7"),
    "peri_ln": ("Peri-LN", "#009E73"),
    "ngpt": ("nGPT", "#E69F00"),
    "ln_scaling": ("LN-Scaling", "#56B4E9"),
    "ln_scaling_pre": ("LN-Scaling (Pre-LN)", "#222222"),
    "unnormalised": ("unnormalised", "#777777"),
}


# What must be known of a rule to read its lines: it was put on logits that were not trained for it.
RULE_NOTES = {
    "ssmax": "ssmax has s = 1, so it multiplies the logits by log n: 6.9 at n = 1024 keys",
    "ssmax from n=256": "ssmax from n=256 has s = 1/log 256, so it equals softmax at n = 256 keys",
}


def text_role(text: str, texts: int, chosen_on: str | None) -> str:
    """What a text of a reproduction is there for: vectors and keys are chosen on one of several."""
    if texts < 2 or chosen_on is None:
        return ""
    return "for choosing" if text == chosen_on else "for judging"


def scheme_title(name: str) -> str:
    return SCHEMES[name][0] if name in SCHEMES else name
