"""One measure over time, a line for each scheme."""

import polars as pl
from matplotlib.axes import Axes

from headgauge.report.dynamics.looks import BASELINE, SCHEME_LOOKS, line_of, schemes_in
from headgauge.report.paper.page import nothing

BAND = 0.15  # how dense a band is
_WIDE = 30.0  # times
_DEEPEST = 1e-5


def draw_over_time(
    axes: Axes, frame: pl.DataFrame, measure: str, band: tuple[str, str] | None = None
) -> None:
    """The lines of a panel; `band` names the columns between which each has its band.

    The baseline comes last and does not widen the axis: it may leave through the top.
    """
    rows = frame.filter(pl.col(measure).is_finite()).sort("time")
    if rows.is_empty():
        nothing(axes, "not in this run")
        return
    axes.set_xlabel("t", labelpad=2)
    axes.margins(x=0, y=0.06)
    for scheme in schemes_in(rows):
        own = rows.filter(scheme=scheme)
        limits = axes.get_ylim() if scheme == BASELINE and axes.has_data() else None
        axes.plot(own["time"], own[measure], **line_of(scheme, own.height))
        if band is not None:
            colour = SCHEME_LOOKS[scheme].colour
            edges = own[band[0]], own[band[1]]
            axes.fill_between(own["time"], *edges, color=colour, alpha=BAND, linewidth=0)
        if limits is not None:
            axes.set_ylim(limits)


def ratios_if_wide(axes: Axes, frame: pl.DataFrame, measure: str) -> None:
    """Upwards in even ratios where the numbers span so much that the small ones would be lost.

    The axis then ends a few powers of ten below the largest: what comes to rest leaves through it.
    """
    regulated = frame.filter(pl.col("scheme") != BASELINE)
    seen = (regulated if regulated.height else frame).filter(pl.col(measure).is_finite())[measure]
    if seen.is_empty() or (seen < 0).any():
        return
    least, most = seen.filter(seen > 0).min(), seen.max()
    if least is None or most <= _WIDE * least:  # pyright: ignore
        return
    # The limits first: an axis that looks for its own overflows where a baseline has run away.
    axes.set_ylim(max(least / 1.5, most * _DEEPEST), most * 1.5)  # pyright: ignore
    axes.set_yscale("log")
