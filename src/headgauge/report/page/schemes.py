"""What the schemes of normalisation are called on the page, and how each looks everywhere on it.

The colours are of Okabe and Ito's palette; a dash pattern tells apart what colour alone would not.
"""

from dataclasses import asdict, dataclass
from typing import Any

import polars as pl

from headgauge.report import words


@dataclass(frozen=True)
class Look:
    """A scheme's line."""

    title: str
    colour: str  # in CSS's words
    dash: str | None = None  # of its line, in SVG's words; None is solid


_DASHES = {
    "post_ln": None,
    "pre_ln": "6 3",
    "mix_ln": "8 3 2 3",
    "peri_ln": "12 3",
    "ngpt": "2 3",
    "ln_scaling": "10 4",
    "ln_scaling_pre": "4 2",
    "unnormalised": "3 3",
}
# The ink of the page, which is light where the page is dark.
_INK = {"ln_scaling_pre": "var(--ink)"}

SCHEMES = {
    name: Look(title, _INK.get(name, colour), _DASHES[name])
    for name, (title, colour) in words.SCHEMES.items()
}


def scheme_words() -> dict[str, dict[str, Any]]:
    return {name: asdict(look) for name, look in SCHEMES.items()}


def by_scheme(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows in the paper's order of schemes; one that is not known stands last."""
    place = {name: number for number, name in enumerate(SCHEMES)}
    order = pl.col("scheme").replace_strict(place, default=len(place), return_dtype=pl.Int64)
    return frame.sort(order, "scheme", maintain_order=True)
