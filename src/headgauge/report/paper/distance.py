"""Figures 2a, 2b and 2c: distance and expectation over L and N, and where a test confuses them.

The printed expectation is false. What holds is a sandwich: eq. 24 below the true expectation, the
exact second moment above it.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from headgauge.registry.entry import BLACK, Entry, Look
from headgauge.registry.measures import CURVES
from headgauge.registry.published import CRITICAL_SHARE, GPT2_HEADS
from headgauge.report.captions import longest, span
from headgauge.report.figure import Axis, Figure, Mark, Panel, Sentence, Series, Switch
from headgauge.report.paper.tables import (
    AT,
    Tables,
    choice_of,
    groups,
    interval_words,
    lines,
    nearest_n,
    number_ticks,
    row_words,
    sample_words,
    sentences,
    switched,
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
    letter, symbol = f"({name[-1]})", _AXES[other][1]

    def make(rows: pl.DataFrame, value: int) -> Panel:
        return distance_panel(rows, along, f"{letter} {symbol} = {value}", AT)

    panels, switch = switched(frame, other, Switch(symbol, symbol, ()), make)
    if other == "top_n" and switch:  # the paper's N first
        first = str(nearest_n(frame))
        options = sorted(switch[0].options, key=lambda option: option[0] != first)
        switch = (replace(switch[0], options=tuple(options)),)
    at = frame.with_columns(pl.col(other).alias(symbol))
    told = sentences(at, (*AT, symbol), sample_words, interval_words, letter=f"{letter} ")
    return Figure(
        name,
        f"Figure {name[3:]}. The distance over {_AXES[along][1]}",
        panels,
        switches=switch,
        caption=(*sentences(frame, AT, choice_of), *told),
        in_files=False,
    )


def distance_panel(frame: pl.DataFrame, along: str, title: str, at: Sequence[str] = ()) -> Panel:
    found = []
    for name, entry in DISTANCES.items():
        filled = "expected_upper" if name == "expected_appendix" else None
        more: dict[str, Any] = {"shown": name in IN_FILES, "filled_to": filled}
        found += lines(frame, {name: entry}, along, at=at, **more)
    highest = frame.filter(pl.col("measure").is_in(IN_FILES)).select(pl.max("mean")).item()
    seen = frame.filter(pl.col("measure") == "expected_upper").select(pl.max("mean")).item()
    hidden = seen is not None and seen < _LEAST_VISIBLE * highest
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
    return Panel(title, x, y, tuple(found), empty="no distances in this run")


def _length_ticks(lengths: pl.Series, log: bool) -> tuple[tuple[float, str], ...]:
    """In even ratios a number at each, in even steps one at every quarter of the longest."""
    if log or lengths.is_empty():
        return number_ticks(lengths)
    most = float(lengths.max())  # pyright: ignore
    return tuple((most * part / 4, f"{most * part / 4:g}") for part in range(5))


def critical(paper: Tables) -> Figure:
    """Figure 2c, and every test behind it at one L."""
    frame, tests = paper["fig2c"], paper["fig2c_tests"]
    strictest = frame["level"].min()
    levels = tuple(Mark("y", (level,), f"{level:g}") for level in frame["level"].unique().sort())
    sides = {side: replace(entry, name=f"{side} {strictest}") for side, entry in SIDES.items()}
    facts = {"distance": "distance", "expectation": "expectation", "KS statistic": "statistic"}
    how: dict[str, Any] = {
        "by": "expected",
        "y": "p_value",
        "at": AT,
        "facts": facts,
        "spread": False,
    }
    x = Axis("N, tokens selected", "N", log=True, can_log=True)
    y = Axis("p-value", "p", log=True, can_log=True, floor=1e-12, high=1.0)

    def make(rows: pl.DataFrame, length: int) -> Panel:
        series = lines(rows, sides, "top_n", **how)
        return Panel(f"p-values over N at L = {length}", x, y, tuple(series), levels)

    panels, switch = switched(tests, "length", Switch("p", "p-values at L", ()), make)
    told = (
        "The first N at which a Kolmogorov–Smirnov test no longer tells distance and expectation "
    )
    told += "apart, over heads." + " p-values below 10⁻¹² stand there." * bool(switch)
    return Figure(
        "fig2c",
        "Figure 2c. The critical N",
        (critical_panel(frame, "(c) critical N", AT), *(panels if switch else ())),
        columns=2,
        switches=switch,
        caption=(
            Sentence(told),
            *sentences(frame, AT, choice_of),
            *sentences(frame, AT, critical_words, letter="(c) "),
            *sentences(paper["fig2c_growth"].drop_nulls("exponent"), AT, growth_words),
        ),
        in_files=False,
    )


def critical_panel(frame: pl.DataFrame, title: str, at: Sequence[str] = ()) -> Panel:
    """The critical N over L for each expectation and level, beside the paper's .06 L."""
    found: list[Series] = []
    facts = {
        "share of L": "share",
        f"with {GPT2_HEADS} heads": "few_heads",
        "found in draws": "found",
    }
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
            how: dict[str, Any] = {"by": "expected", "y": "critical_n", "at": at, "facts": facts}
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
    how: dict[str, Any] = {"by": "expected", "y": "few_heads", "at": at, "spread": False}
    return lines(few, {"printed": entry}, "length", **how)


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
