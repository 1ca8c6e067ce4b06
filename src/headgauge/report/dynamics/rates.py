"""Initial velocities and final rates: what theory has beside what was measured, row by row."""

import re

import polars as pl
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from headgauge.report.dynamics.looks import schemes_in
from headgauge.report.dynamics.rows import plain_ratios, rows_axis
from headgauge.report.paper.looks import BLACK, BLUE, RED, Look
from headgauge.report.paper.page import nothing

THEORY = Look("theory", BLACK, "", "o")
REDUCED = Look("measured on the equiangular reduction", BLUE, "", "x")
PARTICLES = Look("measured on simulated particles", RED, "", "|")
_HOW = {
    "theory": THEORY.how(markersize=8, markerfacecolor="none", markeredgewidth=0.8),
    "reduced": REDUCED.how(markersize=4.5, markeredgewidth=1.0),
    "particles": PARTICLES.how(markersize=9, markeredgewidth=1.2),
}
QUANTITIES = {"initial velocity": "γ′ at t = 0, tokens at right angles", "final rate": "slope"}

# Where the columns beside a panel begin, or end if they are numbers, in widths of the panel.
_COLUMNS = {"law": 1.05, "against": 1.64, "theory": 2.12, "reduced": 2.40, "particles": 2.68}
SHARE = 1 / 2.7  # of the width that the panel with its columns has


def draw_rates(axes: Axes, rates: pl.DataFrame, quantity: str) -> None:
    """A row for each scheme: three markers that should be on one another, and their numbers."""
    rows = rates.filter(quantity=quantity)
    schemes = schemes_in(rows)
    if not schemes:
        nothing(axes, f"no {quantity} in this run")
        return
    rows_axis(axes, schemes)
    for name, left in _COLUMNS.items():
        where = {"xycoords": "axes fraction", "xytext": (0, 4), "textcoords": "offset points"}
        axes.annotate(name, (left, 1), ha="right" if name in _HOW else "left", **where)
    for place, scheme in enumerate(schemes):
        row = rows.filter(scheme=scheme).row(0, named=True)
        for name, how in _HOW.items():
            if row[name] is not None:
                axes.plot(row[name], place, **how)
        for name, left in _COLUMNS.items():
            _write(axes, left, place, row[name])
    axes.margins(x=0.08)
    if quantity == "initial velocity" and axes.dataLim.x0 > 0:
        plain_ratios(axes)
    axes.set_xlabel(QUANTITIES[quantity], labelpad=2)


def rate_handles() -> list[Line2D]:
    return [Line2D([], [], **how) for how in _HOW.values()]


def law_words(law: str) -> str:
    """A formula with its exponents raised."""
    raised = re.sub(r"\^(\{[^{}]*\}|\w)", r"$^\\mathdefault{\1}$", law)
    return raised.replace("{{", "{").replace("}}", "}")


def _write(axes: Axes, left: float, place: int, what: str | float | None) -> None:
    words = law_words(what) if isinstance(what, str) else "–" if what is None else f"{what:.4g}"
    axes.text(
        left,
        place,
        words.replace("-", "−"),
        transform=axes.get_yaxis_transform(),
        ha="left" if isinstance(what, str) else "right",
        va="center",
        fontsize=6.5,
        parse_math="$" in words,
    )
