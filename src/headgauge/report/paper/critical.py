"""Figure 2c: from which N on a Kolmogorov–Smirnov test takes the expectation for the distance."""

from typing import Any

import numpy as np
import polars as pl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter
from matplotlib.transforms import ScaledTranslation

from headgauge.report.paper.distance import log_length_axis
from headgauge.report.paper.looks import (
    BLACK,
    CRITICAL_LOOKS,
    GREY,
    PAPER_LINE,
    PAPER_SHARE,
    Look,
)
from headgauge.report.paper.page import nothing
from headgauge.report.paper.selecting import longest, row_words, span

_STEP = 1.07  # series stand beside each other, so that none hides another
_ARROWS = 1.5  # the arrows of all series within this ratio of L
_ABOVE = 4.0  # points from the largest N tried to the middle of the arrow that begins there
_NONE = Look("none up to where it begins", GREY, "", "$↑$")
_FEW = Look("with 144 heads, as GPT-2", BLACK, "", "x")


def draw_critical(axes: Axes, frame: pl.DataFrame) -> None:
    """The critical N over L for each expectation and level, beside the paper's .06 L."""
    if frame.is_empty():
        nothing(axes, "no tests in this run")
        return
    levels = sorted(frame["level"].unique())
    series = [(name, level) for name in CRITICAL_LOOKS for level in levels]
    for place, (name, level) in enumerate(series):
        rows = frame.filter(expected=name, level=level).sort("length")
        look, filled = CRITICAL_LOOKS[name], level == levels[0]
        beside = place - (len(series) - 1) / 2
        _draw_series(axes, rows, look, filled, _STEP**beside)
        draw_none(axes, rows, look, _ARROWS ** (beside / len(series)))
    few = frame.filter(pl.col("expected") == "printed", pl.col("level") == levels[0])
    few = few.filter(pl.col("heads") > 144).drop_nulls("few_heads")
    axes.plot(few["length"], few["few_heads"], **_FEW.how(zorder=5, markersize=4.5))
    paper_line(axes, frame)


def paper_line(axes: Axes, frame: pl.DataFrame) -> None:
    """.06 L, and both axes in even ratios."""
    shortest, most = frame["length"].min(), frame["length"].max()
    beside = 1.2 if shortest != most else 2.0
    ends = np.array([shortest / beside, most * beside])  # pyright: ignore
    axes.plot(ends, PAPER_SHARE * ends, **PAPER_LINE.how(zorder=1, linewidth=0.9))
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.yaxis.set_minor_locator(NullLocator())
    log_length_axis(axes, frame["length"])
    axes.set_ylabel("critical N", labelpad=2)
    _, top = axes.get_ylim()
    axes.set_ylim(top=top * 1.4)  # the uppermost arrow begins where the numbers end


def draw_none(axes: Axes, rows: pl.DataFrame, look: Look, shift: float = 1.0) -> None:
    """A pale arrow upwards from the largest N tried, where the two were told apart at every one."""
    none = rows.filter(pl.col("critical_n").is_null())
    if none.is_empty():
        return
    figure = axes.get_figure(root=True)
    assert figure is not None
    up = ScaledTranslation(0, _ABOVE / 72, figure.dpi_scale_trans)
    where = {"transform": axes.transData + up, "zorder": 1}
    across = none["length"] * shift
    axes.plot(across, none["tried"], **where, **_arrow(look.colour))
    axes.update_datalim(np.column_stack([across, none["tried"]]))  # a moved line has no say in it


def _arrow(colour: str) -> dict[str, Any]:
    signs = {"color": colour, "linestyle": "", "marker": _NONE.marker, "markersize": 5.5}
    return signs | {"markeredgewidth": 0.1, "alpha": 0.75}


def _draw_series(axes: Axes, rows: pl.DataFrame, look: Look, filled: bool, shift: float) -> None:
    found = rows.drop_nulls("critical_n")
    inside = {} if filled else {"markerfacecolor": "white"}
    axes.plot(found["length"] * shift, found["critical_n"], **look.how(zorder=3, **inside))
    sure = found.drop_nulls("low").with_columns(pl.coalesce("high", "tried").alias("high"))
    thin = {"color": look.colour, "linewidth": 0.8, "zorder": 1}
    axes.vlines(sure["length"] * shift, sure["low"], sure["high"], **thin)


def critical_handles(frame: pl.DataFrame) -> list[Artist]:
    """Only what is in the panel; levels where there are two."""
    levels = sorted(frame["level"].unique())
    handles: list[Artist] = [
        look.handle() for name, look in CRITICAL_LOOKS.items() if name in frame["expected"]
    ]
    for level in levels if len(levels) > 1 else []:
        fill = BLACK if level == levels[0] else "white"
        how = {"markerfacecolor": fill, "marker": "o"}
        handles.append(Look(f"level {level:g}", BLACK, "").handle(**how))
    if frame["critical_n"].is_null().any():
        handles.append(_NONE.handle(**_arrow(_NONE.colour)))
    if frame.filter(pl.col("heads") > 144)["few_heads"].is_not_null().any():
        handles.append(_FEW.handle())
    return [*handles, PAPER_LINE.handle()]


def critical_words(frame: pl.DataFrame) -> str:
    """What was tested, what the bars are and where rows were thinned, for the small print."""
    if frame.is_empty():
        return "nothing was tested"
    windows = frame["windows"].max()
    of = "" if windows == 1 else f"the first of {windows} windows, "
    words = [f"critical N: {span(frame['heads'], ' to ')} heads, {of}{row_words(frame)}"]
    if frame["low"].is_not_null().any():
        words.append("bars: 95 % bootstrap over heads")
    words += _window_words(frame)
    sampled = frame.drop_nulls("sampled_from")
    if sampled.height:
        words.append(f"only some rows from N = {sampled['sampled_from'].min()} on")
    if frame["critical_n"].is_null().all():
        words.append(f"no critical N up to N = {frame['tried'].max()}")
    return "; ".join(words)


def _window_words(frame: pl.DataFrame) -> list[str]:
    """How far the windows differ, at the longest L under the paper's own test."""
    paper = frame.filter(pl.col("expected") == "printed", pl.col("level") == pl.col("level").min())
    known = longest(paper.drop_nulls(["window_low", "window_high"]))
    if known.is_empty():
        return []
    length, low, high = known.select("length", "window_low", "window_high").row(0)
    return [f"as printed, N = {low} to {high} by window at L = {length}"]
