"""Figures 2a, 2b and 2c: distance and expectation over L and N, and where a test confuses them.

The printed expectation is false. What holds is a sandwich: eq. 24 below the true expectation, the
exact second moment above it.
"""

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from headgauge.registry.entry import BLACK, Entry, Look
from headgauge.registry.measures import CURVES
from headgauge.registry.published import CRITICAL_SHARE, GPT2_HEADS
from headgauge.report.figure import Axis, Figure, Mark, Panel, Sentence, Series, Switch
from headgauge.report.paper.tables import (
    AT,
    Tables,
    choice_of,
    groups,
    interval_words,
    lines,
    longest,
    nearest_n,
    number_ticks,
    row_words,
    sample_words,
    sentences,
    span,
)

DISTANCES = {
    name: entry
    for name, entry in CURVES.items()
    if name.startswith(("distance", "bound", "expected"))
}
IN_FILES = ("distance", "bound_printed", "expected_printed", "expected_appendix", "expected_upper")
SIDES = {
    "printed": Entry("printed", "as printed", look=CURVES["expected_printed"].look),
    "appendix": Entry("appendix", "eq. 24, below the true", look=CURVES["expected_appendix"].look),
    "upper": Entry("upper", "second moment, above", look=CURVES["expected_upper"].look),
}
PAPER_LINE = Look(BLACK, "longdash", width=0.8)
_LEAST_VISIBLE = 0.02  # of the axis: below it a straight axis would hide the corrected expectation
_AXES = {"length": ("L, tokens in the window", "L"), "top_n": ("N, tokens selected", "N")}


def distances(paper: Tables, along: str) -> Figure:
    """Figure 2a over "length", Figure 2b over "top_n"; what stands still is a switch."""
    name, other = ("fig2a", "top_n") if along == "length" else ("fig2b", "length")
    frame = paper[name].filter(pl.col("measure").is_in(list(DISTANCES)))
    letter = name[-1]
    values = frame[other].unique().sort(descending=True).to_list()
    first = nearest_n(frame) if other == "top_n" else max(values, default=None)
    values.sort(key=lambda value: value != first)
    symbol = _AXES[other][1]
    panels = [
        distance_panel(
            frame.filter(pl.col(other) == value),
            along,
            f"({letter}) {symbol} = {value}",
            AT,
            {symbol: str(value)},
        )
        for value in values
    ]
    switch = Switch(symbol, symbol, tuple((str(value), str(value)) for value in values))
    at = frame.with_columns(pl.col(other).alias(symbol))
    return Figure(
        name,
        f"Figure 2{letter}. The distance over {_AXES[along][1]}",
        tuple(panels) or (distance_panel(frame, along, f"({letter})"),),
        switches=(switch,) if values else (),
        caption=(
            *sentences(frame, AT, choice_of),
            *sentences(at, (*AT, symbol), sample_words, interval_words, letter=f"({letter}) "),
        ),
        in_files=False,
    )


def distance_panel(
    frame: pl.DataFrame,
    along: str,
    title: str,
    at: Sequence[str] = (),
    panel_at: dict[str, str] | None = None,
) -> Panel:
    found = []
    for name, entry in DISTANCES.items():
        filled = "expected_upper" if name == "expected_appendix" else None
        more = {"shown": name in IN_FILES, "filled_to": filled}
        found += lines(frame, {name: entry}, along, at=at, **more)
    highest = frame.filter(pl.col("measure").is_in(IN_FILES))["mean"].max()
    seen = frame.filter(pl.col("measure") == "expected_upper")["mean"].max()
    hidden = seen is not None and seen < _LEAST_VISIBLE * highest  # pyright: ignore
    label, short = _AXES[along]
    over_l = along == "length"
    x = Axis(
        label,
        short,
        log=hidden or not over_l,
        can_log=True,
        ticks=_length_ticks(frame["length"], hidden) if over_l else None,
    )
    y = Axis("distance d̃", "d̃", log=hidden, can_log=True, low=None if hidden else 0.0)
    return Panel(title, x, y, tuple(found), empty="no distances in this run", at=panel_at or {})


def _length_ticks(lengths: pl.Series, log: bool) -> tuple[tuple[float, str], ...]:
    """In even ratios a number at each, in even steps one at every quarter of the longest."""
    if log or lengths.is_empty():
        return number_ticks(lengths)
    most = float(lengths.max())  # pyright: ignore
    return tuple((most * part / 4, f"{most * part / 4:g}") for part in range(5))


def critical(paper: Tables) -> Figure:
    """Figure 2c, and every test behind it at one L."""
    frame, tests = paper["fig2c"], paper["fig2c_tests"]
    lengths = tests["length"].unique().sort(descending=True).to_list()
    levels = tuple(Mark("y", (level,), f"{level:g}") for level in frame["level"].unique().sort())
    entries = {
        side: Entry(f"{side} {_strictest(frame)}", SIDES[side].title, look=SIDES[side].look)
        for side in SIDES
    }
    facts = {"distance": "distance", "expectation": "expectation", "KS statistic": "statistic"}
    tests = tests.with_columns(low=pl.lit(None, pl.Float64), high=pl.lit(None, pl.Float64))
    panels = [
        Panel(
            f"p-values over N at L = {length}",
            Axis("N, tokens selected", "N", log=True, can_log=True),
            Axis("p-value", "p", log=True, can_log=True, floor=1e-12, high=1.0),
            tuple(
                lines(
                    tests.filter(pl.col("length") == length),
                    entries,
                    "top_n",
                    by="expected",
                    y="p_value",
                    at=AT,
                    facts=facts,
                )
            ),
            levels,
            at={"p": str(length)},
        )
        for length in lengths
    ]
    options = tuple((str(length), str(length)) for length in lengths)
    growth = sentences(paper["fig2c_growth"].drop_nulls("exponent"), AT, growth_words)
    return Figure(
        "fig2c",
        "Figure 2c. The critical N",
        (critical_panel(frame, "(c) critical N", AT), *panels),
        columns=2,
        switches=(Switch("p", "p-values at L", options),) if options else (),
        caption=(
            Sentence(
                "The first N at which a Kolmogorov–Smirnov test no longer tells distance and "
                "expectation apart, over heads."
                + " p-values below 10⁻¹² stand there."
                * bool(options)
            ),
            *sentences(frame, AT, choice_of),
            *sentences(frame, AT, critical_words, letter="(c) "),
            *growth,
        ),
        in_files=False,
    )


def critical_panel(frame: pl.DataFrame, title: str, at: Sequence[str] = ()) -> Panel:
    """The critical N over L for each expectation and level, beside the paper's .06 L."""
    found: list[Series] = []
    facts = {"share of L": "share", "with 144 heads": "few_heads", "found in draws": "found"}
    levels = frame["level"].unique().sort().to_list()
    none = frame.filter(pl.col("critical_n").is_null())
    # What a strict test never confuses a milder one does not: an arrow for both.
    none = none.sort("level", "length", maintain_order=True).unique(
        [*at, "expected", "length"], keep="first", maintain_order=True
    )
    frame = frame.with_columns(high=pl.coalesce("high", "tried"))
    for side, entry in SIDES.items():
        told = False
        for level in levels:
            words = f"{entry.title}, level {level:g}" if len(levels) > 1 else entry.title
            named = {side: Entry(f"{side} {level:g}", words, look=entry.look)}
            mine = frame.filter(pl.col("level") == level)
            how = {"by": "expected", "y": "critical_n", "at": at, "facts": facts}
            for series in lines(mine, named, "length", **how):
                told = True
                if level == levels[0]:
                    found += [_as_bars(series), replace(series, low=None, high=None)]
                else:
                    hollow = [True] * len(series.x)
                    found.append(replace(series, hollow=hollow, low=None, high=None))
        found += _nowhere(none.filter(expected=side), entry, at, told)
    found += _few_heads(frame, at)
    lengths = frame["length"].unique().sort().to_list()
    ends = [lengths[0] / 1.2, lengths[-1] * 1.2] if lengths else []
    paper = [CRITICAL_SHARE * end for end in ends]
    label = f"{CRITICAL_SHARE:g} L, the paper's"
    if found:
        found.append(Series("paper", label, PAPER_LINE, ends, paper))
    x = Axis(*_AXES["length"], log=True, can_log=True, ticks=number_ticks(frame["length"]))
    y = Axis("critical N", "N", log=True, can_log=True)
    return Panel(title, x, y, tuple(found), empty="no tests in this run")


def _as_bars(series: Series) -> Series:
    """Its intervals, which are those of single numbers: no band goes through them."""
    return replace(series, label="", look=Look(series.look.colour, "none", "dot"), facts={})


def _nowhere(frame: pl.DataFrame, entry: Entry, at: Sequence[str], told: bool) -> list[Series]:
    """An arrow upwards from the largest N tried, where the two were told apart at every one."""
    none = frame.filter(pl.col("critical_n").is_null()).sort("length", maintain_order=True)
    look = Look(entry.look.colour, "none", "up", opacity=0.75)
    return [
        Series(
            entry.name,
            "" if told else entry.title,
            look,
            part["length"].to_list(),
            part["tried"].to_list(),
            words=[f"none up to {tried}" for tried in part["tried"]],
            at=setting,
        )
        for setting, part in groups(none, at)
    ]


def _few_heads(frame: pl.DataFrame, at: Sequence[str]) -> list[Series]:
    """With as many heads as GPT-2 has, where there are more."""
    few = frame.filter(pl.col("expected") == "printed", pl.col("level") == pl.col("level").min())
    few = few.filter(pl.col("heads") > GPT2_HEADS)
    entry = Entry("few", f"with {GPT2_HEADS} heads, as GPT-2", look=Look(BLACK, "none", "cross"))
    how = {"by": "expected", "y": "few_heads", "at": at, "spread": False}
    return lines(few, {"printed": entry}, "length", **how)


def _strictest(frame: pl.DataFrame) -> str:
    return "" if frame.is_empty() else f"{frame['level'].min():g}"


def critical_words(frame: pl.DataFrame) -> str:
    """What was tested, what the bands are and where rows were thinned, for the small print."""
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
    elif frame["critical_n"].is_null().any():
        words.append("an arrow: none up to where it begins")
    return "; ".join(words)


def _window_words(frame: pl.DataFrame) -> list[str]:
    """How far the windows differ, at the longest L under the paper's own test."""
    paper = frame.filter(pl.col("expected") == "printed", pl.col("level") == pl.col("level").min())
    known = longest(paper.drop_nulls(["window_low", "window_high"]))
    if known.is_empty():
        return []
    length, low, high = known.select("length", "window_low", "window_high").row(0)
    return [f"as printed, N = {low} to {high} by window at L = {length}"]


def growth_words(growth: pl.DataFrame) -> str:
    """How the critical N grows with L, where enough draws of heads have one at every L."""
    told = []
    for row in growth.iter_rows(named=True):
        ends = "" if row["low"] is None else f" ({row['low']:.2f} to {row['high']:.2f})"
        told.append(
            f"{SIDES[row['expected']].title} at level {row['level']:g}: "
            f"L^{row['exponent']:.2f}{ends}, "
            f"found in {100 * row['found']:.0f} % of draws of {row['heads']} heads"
        )
    return f"growth with L, {'; '.join(told)}" if told else ""
