"""Figure 2c: from which N on a Kolmogorov–Smirnov test takes the expectation for the distance."""

import numpy as np
import polars as pl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter

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

_STEP = 1.07  # series stand beside each other, so that none hides another
_NONE = Look("none up to this N", GREY, "", "$↑$")
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
        _draw_series(axes, rows, look, filled, _STEP ** (place - (len(series) - 1) / 2))
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


def draw_none(axes: Axes, rows: pl.DataFrame, look: Look, shift: float = 1.0) -> None:
    """An arrow at the largest N tried where the test told the two apart at every one."""
    none = rows.filter(pl.col("critical_n").is_null())
    how = {"color": look.colour, "linestyle": "", "marker": _NONE.marker, "markersize": 6}
    how |= {"markeredgewidth": 0.2}
    axes.plot(none["length"] * shift, none["tried"], **how)


def _draw_series(axes: Axes, rows: pl.DataFrame, look: Look, filled: bool, shift: float) -> None:
    found = rows.drop_nulls("critical_n")
    inside = {} if filled else {"markerfacecolor": "white"}
    axes.plot(found["length"] * shift, found["critical_n"], **look.how(**inside))
    sure = found.drop_nulls(["low", "high"])
    axes.vlines(
        sure["length"] * shift,
        sure["low"],
        sure["high"],
        color=look.colour,
        linewidth=0.8,
        zorder=1,
    )
    draw_none(axes, rows, look, shift)


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
        handles.append(_NONE.handle(markersize=6, markeredgewidth=0.2))
    if frame.filter(pl.col("heads") > 144)["few_heads"].is_not_null().any():
        handles.append(_FEW.handle())
    return [*handles, PAPER_LINE.handle()]


def critical_words(frame: pl.DataFrame) -> str:
    """What the bars are and where the rows were thinned, for the small print."""
    words = []
    if frame["low"].is_not_null().any():
        words.append("bars: 95 % bootstrap over heads")
    sampled = frame.drop_nulls("sampled_from")
    if sampled.height:
        words.append(f"only some rows above N = {sampled['sampled_from'].min()}")
    if frame.height and frame["critical_n"].is_null().all():
        words.append(f"no critical N up to N = {frame['tried'].max()}")
    return "; ".join(words)
