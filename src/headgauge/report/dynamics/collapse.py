"""When all tokens are one: the time at which the farthest pair of a swarm meets."""

import polars as pl
from matplotlib.axes import Axes

from headgauge.report.dynamics.looks import SCHEME_LOOKS
from headgauge.report.dynamics.rows import rows_axis
from headgauge.report.paper.looks import GREY


def draw_collapse(axes: Axes, collapse: pl.DataFrame, schemes: list[str]) -> None:
    """A row for each scheme: the median over seeds, a bar from the earliest to the latest."""
    rows_axis(axes, schemes)
    for row in collapse.iter_rows(named=True):
        look, place = SCHEME_LOOKS[row["scheme"]], schemes.index(row["scheme"])
        if row["time"] is None:
            _never(axes, place, row)
            continue
        known = [row[end] for end in ("low", "time", "high") if row[end] is not None]
        axes.plot(known, [place] * len(known), color=look.colour, linewidth=1.4)
        if row["high"] is None:
            _open_end(axes, row["time"], place, look.colour)
        axes.plot(row["time"], place, marker=look.marker, color=look.colour, markersize=4.5)
    axes.set_xlabel("t of collapse", labelpad=2)


def collapse_words(collapse: pl.DataFrame) -> str:
    seeds = collapse["seeds"].max()
    return (
        "collapse: the farthest pair has a cosine of .999; marker: the median over up to "
        f"{seeds} seeds; bar: from the earliest to the latest; an arrow: not every seed got there"
    )


def _never(axes: Axes, place: int, row: dict) -> None:
    got = round(row["collapsed"] * row["seeds"])
    axes.text(
        0.03,
        place,
        f"{got} of {row['seeds']} seeds got there",
        transform=axes.get_yaxis_transform(),
        va="center",
        color=GREY,
        fontsize=6.5,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
    )


def _open_end(axes: Axes, time: float, place: int, colour: str) -> None:
    """Some seeds never got there: an arrow to the edge instead of a latest."""
    axes.annotate(
        "",
        (0.99, place),
        xycoords=axes.get_yaxis_transform(),
        xytext=(time, place),
        textcoords="data",
        arrowprops={"arrowstyle": "->", "color": colour, "linewidth": 1.0, "shrinkA": 0},
    )
