"""How each scheme looks in every figure of the dynamics, and how it is called.

Colours are Okabe and Ito's; a line style tells every scheme apart once more, a marker where there
are few points. The baseline, which no normalisation regulates, is grey and broken.
"""

from typing import Any

import polars as pl
from matplotlib.lines import Line2D

from headgauge.report.paper.looks import Look
from headgauge.report.words import SCHEMES

BASELINE = "unnormalised"
_SIGNS: dict[str, tuple[Any, str]] = {  # line and marker
    "post_ln": ("-", "o"),
    "pre_ln": ("--", "s"),
    "mix_ln": ("-.", "D"),
    "peri_ln": ((0, (9, 2)), "^"),
    "ngpt": ((0, (5, 1, 1, 1, 1, 1)), "p"),
    "ln_scaling": (":", "P"),
    "ln_scaling_pre": ((0, (2, 1)), "*"),
    "unnormalised": ((0, (3, 3)), "X"),
}
SCHEME_LOOKS = {  # in the order of every legend and every row of panels
    name: Look(title, colour, *_SIGNS[name]) for name, (title, colour) in SCHEMES.items()
}

_SPARSE = 8  # points of a line; with more a marker at each would make it a bar


def schemes_in(frame: pl.DataFrame) -> list[str]:
    """Those that have rows, in the order of the legend."""
    there = set(frame["scheme"])
    return [scheme for scheme in SCHEME_LOOKS if scheme in there]


def line_of(scheme: str, points: int, **more: Any) -> dict[str, Any]:
    """What `Axes.plot` takes for a scheme's line through so many points."""
    look = SCHEME_LOOKS[scheme]
    return look.how(**({"marker": look.marker if points <= _SPARSE else ""} | more))


def scheme_handles(frame: pl.DataFrame) -> list[Line2D]:
    """The legend of the schemes in a frame; markers as they are drawn."""
    return [
        Line2D([], [], **line_of(scheme, frame.filter(scheme=scheme)["time"].n_unique()))
        for scheme in schemes_in(frame)
    ]
