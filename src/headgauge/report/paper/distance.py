"""Figures 2a and 2b: the distance, the bound on it and its expectation, over L and over N.

The printed expectation is false. What holds is a sandwich: eq. 24 below the true expectation, the
exact second moment above it.
"""

import polars as pl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, MultipleLocator

from headgauge.report.paper.looks import BOUND, DISTANCE, DISTANCE_LOOKS, EXPECTED, SKY
from headgauge.report.paper.looks import sandwich_handle as sandwich
from headgauge.report.paper.page import nothing
from headgauge.report.paper.selecting import line

_LEAST_VISIBLE = 0.02  # of the axis: below it a straight axis would hide the corrected expectation

_THOUSANDS_FROM = 10_000
_MANY = 8  # points of a line; with more a marker at each would make it a bar
_ROUND = tuple(digit * 10**power for power in range(6) for digit in (1, 2, 5))


def draw_distance(axes: Axes, frame: pl.DataFrame, along: str) -> None:
    """The lines of one panel along "length" or "top_n"."""
    if all(line(frame, measure, along).is_empty() for measure in DISTANCE_LOOKS):
        nothing(axes, "no distances in this run")
        return
    both = _sandwich(frame, along)
    axes.fill_between(
        both[along], both["mean"], both["mean_upper"], color=SKY, alpha=0.35, linewidth=0
    )
    for side in ("mean", "mean_upper"):
        dotted = {"color": SKY, "linestyle": ":", "marker": ".", "markevery": marked(both[along])}
        axes.plot(both[along], both[side], **dotted)
    for measure, look in DISTANCE_LOOKS.items():
        draw_line(axes, line(frame, measure, along), along, look.how())
    highest = frame.filter(pl.col("measure").is_in(list(DISTANCE_LOOKS)))["mean"].max()
    seen = both["mean_upper"].max()
    hidden = seen is not None and float(seen) < _LEAST_VISIBLE * float(highest)  # pyright: ignore
    _scales(axes, frame, along, hidden)
    distance_axis(axes)


def draw_line(axes: Axes, rows: pl.DataFrame, along: str, how: dict) -> None:
    """A line through the means and the band of their intervals."""
    axes.plot(rows[along], rows["mean"], markevery=marked(rows[along]), **how)
    known = rows.drop_nulls(["low", "high"])
    band = {"color": how["color"], "alpha": 0.22, "linewidth": 0}
    axes.fill_between(known[along], known["low"], known["high"], **band)


def distance_axis(axes: Axes) -> None:
    """The name, and long numbers in thousands: vectors of their own length make them."""
    if axes.get_yscale() == "linear" and axes.get_ylim()[1] >= _THOUSANDS_FROM:
        axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
        axes.yaxis.set_major_formatter(lambda value, _: f"{value / 1000:g}k" if value else "0")
    axes.set_ylabel(r"distance $\tilde{d}$", labelpad=2)


def distance_handles() -> list[Artist]:
    return [
        DISTANCE.handle(),
        BOUND.handle(),
        EXPECTED.handle(),
        sandwich("true expectation: between eq. 24 and second moment"),
    ]


def marked(places: pl.Series) -> list[int] | None:
    """Which points of a line get a marker: those at a number of the axis where there are many."""
    if places.len() <= _MANY:
        return None
    return [index for index, place in enumerate(places) if place in _ROUND]


def n_axis(axes: Axes, ns: pl.Series) -> None:
    """N in even ratios, with the round numbers within what was measured."""
    low, high = ns.min(), ns.max()
    _log_axis(axes, [n for n in _ROUND if low <= n <= high] or [low])  # pyright: ignore
    axes.set_xlabel("N", labelpad=2)


def length_axis(axes: Axes, lengths: pl.Series) -> None:
    """L in even steps of a quarter of the longest."""
    most = lengths.max()
    axes.set_xlim(0, most * 1.04)  # pyright: ignore
    axes.xaxis.set_major_locator(MultipleLocator(most / 4))  # pyright: ignore
    axes.set_xlabel("L", labelpad=2)


def log_length_axis(axes: Axes, lengths: pl.Series) -> None:
    """L in even ratios, a number at each that was measured."""
    _log_axis(axes, lengths.unique().sort().to_list())
    axes.set_xlabel("L", labelpad=2)


def _log_axis(axes: Axes, ticks: list[int]) -> None:
    axes.set_xscale("log")
    axes.set_xticks(ticks, labels=[str(tick) for tick in ticks])
    axes.set_xticks([], minor=True)


def _scales(axes: Axes, frame: pl.DataFrame, along: str, logarithmic: bool) -> None:
    if along == "top_n":
        n_axis(axes, frame["top_n"])
    else:
        (log_length_axis if logarithmic else length_axis)(axes, frame["length"])
    if logarithmic:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)


def _sandwich(frame: pl.DataFrame, along: str) -> pl.DataFrame:
    below, above = (line(frame, f"expected_{side}", along) for side in ("appendix", "upper"))
    return below.join(above.select(along, "mean"), on=along, suffix="_upper").sort(along)
