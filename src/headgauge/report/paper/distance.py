"""Figures 2a, 2b and 2c: distance and expectation over L and N, and where a test confuses them.

The printed expectation is false. What holds is a sandwich: eq. 24 below the true expectation, the
exact second moment above it.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from headgauge.registry.entry import BLACK, GREY, Entry, Look, by_name
from headgauge.registry.measures import CURVES
from headgauge.registry.published import CRITICAL_SHARE, GPT2_HEADS
from headgauge.report.captions import longest, span
from headgauge.report.figure import Axis, Figure, Mark, Panel, Sentence, Series, Switch
from headgauge.report.paper import words
from headgauge.report.paper.tables import (
    AT,
    Tables,
    groups,
    lines,
    nearest_n,
    over_l,
    over_n,
    switched,
)

DISTANCES = {
    name: entry
    for name, entry in CURVES.items()
    if name.startswith(("distance", "bound", "expected"))
}
DISTANCES["distance"] = replace(DISTANCES["distance"], title="distance d̃, measured")
IN_FILES = ("distance", "bound_printed", "expected_printed", "expected_appendix", "expected_upper")
SIDES = by_name(
    printed=Entry("with the printed expectation", "printed", look=CURVES["expected_printed"].look),
    appendix=Entry("with eq. 24, below the true", "eq. 24", look=CURVES["expected_appendix"].look),
    upper=Entry(
        "with the second moment, above", "second moment", look=CURVES["expected_upper"].look
    ),
)
PAPER_LINE = Look(BLACK, "longdash", width=0.8)
_FILLED_TO = {"expected_appendix": "expected_upper"}
_LEAST_VISIBLE = 0.02  # of the axis: below it a straight axis would hide the corrected expectation
_FACTS = {
    "share of L": "share",
    f"with {GPT2_HEADS} heads": "few_heads",
    "found in draws": "found",
}
_LINE = 0.13  # of a logarithmic axis: from one line of words to the next
_CROSS = Look(BLACK, "none", "cross")
_FEW = Entry(f"with {GPT2_HEADS} heads, as GPT-2", look=_CROSS, name="few")


def distances(paper: Tables, along: str) -> Figure:
    """Figure 2a over "length", Figure 2b over "top_n"; what stands still is a switch."""
    is_over_l = along == "length"
    name, still, symbol, over = (
        ("fig2a", "top_n", "N", "L") if is_over_l else ("fig2b", "length", "L", "N")
    )
    frame = paper[name].filter(pl.col("measure").is_in(list(DISTANCES)))
    letter = f"({name[-1]})"

    def panel(rows: pl.DataFrame, value: int) -> Panel:
        return distance_panel(rows, along, f"{letter} distance over {over}, {symbol} = {value}", AT)

    first = nearest_n(frame) if is_over_l else None  # the paper's N
    panels, switch = switched(frame, still, Switch(symbol, symbol, ()), panel, first)
    at = frame.with_columns(pl.col(still).alias(symbol))
    sampled = words.sentences(at, (*AT, symbol), words.sample, words.intervals, letter=f"{letter} ")
    caption = (*words.sentences(frame, AT, words.choice), *sampled)
    title = f"Figure {name[3:]}: distance d̃ from s to the tokens left out, over {over}"
    return Figure(name, title, panels, switches=switch, caption=caption)


def distance_panel(frame: pl.DataFrame, along: str, title: str, at: Sequence[str] = ()) -> Panel:
    series = (
        replace(line, shown=line.name in IN_FILES, filled_to=_FILLED_TO.get(line.name))
        for line in lines(frame, DISTANCES, along, at=at)
    )
    highest = frame.filter(pl.col("measure").is_in(IN_FILES)).select(pl.max("mean")).item()
    upper = frame.filter(measure="expected_upper").select(pl.max("mean")).item()
    hidden = upper is not None and upper < _LEAST_VISIBLE * highest
    x = _length_axis(frame["length"], hidden) if along == "length" else over_n()
    y = Axis("distance d̃", "d̃", log=hidden, can_log=True, low=None if hidden else 0.0)
    return Panel(title, x, y, tuple(series), empty="no distances in this run")


def _length_axis(lengths: pl.Series, log: bool) -> Axis:
    """In even ratios a number at each, in even steps one at every quarter of the longest."""
    axis = replace(over_l(lengths), log=log)
    if log or lengths.is_empty():
        return axis
    quarters = [float(lengths.max()) * part / 4 for part in range(5)]  # pyright: ignore
    return replace(axis, ticks=tuple((quarter, f"{quarter:g}") for quarter in quarters))


def critical(paper: Tables) -> Figure:
    """Figure 2c, and every test behind it at one L."""
    frame = paper["fig2c"]
    levels = frame["level"].unique().sort().to_list()
    marks = tuple(Mark("y", (level,), f"{level:g}") for level in levels)
    sides = {side: replace(SIDES[side], name=f"{side} {levels[0]}") for side in SIDES if levels}
    facts = {"distance": "distance", "expectation": "expectation", "KS statistic": "statistic"}
    y = Axis("p-value", "p", log=True, can_log=True, floor=1e-12, high=1.0)

    def panel(rows: pl.DataFrame, length: int) -> Panel:
        how: dict[str, Any] = {"by": "expected", "y": "p_value", "at": AT, "spread": False}
        series = lines(rows, sides, "top_n", facts=facts, **how)
        return Panel(f"p-values over N at L = {length}", over_n(), y, tuple(series), marks)

    tests = Switch("p", "p-values at L", ())
    panels, switch = switched(paper["fig2c_tests"], "length", tests, panel)
    said = "The first N at which a Kolmogorov–Smirnov test no longer tells distance and "
    said += "expectation apart, over heads." + " p-values below 10⁻¹² stand there." * bool(switch)
    caption = (
        Sentence(said),
        *words.sentences(frame, AT, words.choice),
        *words.sentences(frame, AT, critical_words, letter="(c) "),
        *words.sentences(paper["fig2c_growth"].drop_nulls("exponent"), AT, growth_words),
    )
    panels = (critical_panel(frame, "(c) critical N over L", AT), *(panels if switch else ()))
    return Figure(
        "fig2c",
        "Figure 2c: the critical N, where distance and expectation look alike",
        panels,
        2,
        switch,
        caption,
    )


def critical_panel(frame: pl.DataFrame, title: str, at: Sequence[str] = ()) -> Panel:
    """The critical N over L for each expectation and level, beside the paper's .06 L.

    Where the two were told apart at every N, words above the lines say so.
    """
    series: list[Series] = []
    how: dict[str, Any] = {"by": "expected", "at": at}
    levels = frame["level"].unique().sort().to_list()
    said = [(none_words(rows), setting) for setting, rows in groups(frame, at)]
    frame = frame.with_columns(high=pl.coalesce("high", "tried"))
    for side, entry in SIDES.items():
        for level in levels:
            at_level = f"{entry.title}, level {level:g}" if len(levels) > 1 else entry.title
            named = {side: replace(entry, name=f"{side} {level:g}", title=at_level)}
            rows = frame.filter(level=level)
            for line in lines(rows, named, "length", y="critical_n", facts=_FACTS, **how):
                bare = replace(line, low=None, high=None)
                if level == levels[0]:
                    # Intervals of single numbers: no band goes through them.
                    dots = Look(entry.look.colour, "none", "dot")
                    series += [replace(line, label="", look=dots, facts={}), bare]
                else:
                    series.append(replace(bare, hollow=[True] * len(line.x)))
    few = strictest(frame).filter(pl.col("heads") > GPT2_HEADS)
    series += lines(few, {"printed": _FEW}, "length", y="few_heads", spread=False, **how)
    marks: list[Mark] = []
    if frame.height:
        lengths = frame["length"].sort().to_list()
        ends = [lengths[0] / 1.2, lengths[-1] * 1.2]
        shares = [CRITICAL_SHARE * end for end in ends]
        label = f"{CRITICAL_SHARE:g} L, the paper's"
        series.append(Series("paper", label, PAPER_LINE, ends, shares))
        drawn = frame.drop_nulls("critical_n").select("critical_n", "low", "high").rows()
        numbers = [*shares, *(float(number) for row in drawn for number in row if number)]
        top, step = max(numbers), (max(numbers) / min(numbers)) ** _LINE
        marks += [
            Mark("words", (ends[0], top * step**line), none, Look(GREY), at=setting)
            for notes, setting in said
            for line, none in enumerate(reversed(notes), 1)
        ]
    x, y = over_l(frame["length"]), Axis("critical N", "N", log=True, can_log=True)
    return Panel(title, x, y, tuple(series), tuple(marks), empty="no tests in this run")


def none_words(tests: pl.DataFrame) -> list[str]:
    """Where no critical N was found, a line for each expectation: one for both levels if they
    agree."""
    said = []
    levels = tests["level"].n_unique()
    for side, entry in SIDES.items():
        found: dict[str, list[float]] = {}
        own = tests.filter(expected=side)
        for (level,), rows in own.group_by("level", maintain_order=True):
            none = rows["critical_n"].null_count()
            some, most = f"none at {none} of {rows.height} L", f"none, N ≤ {rows['tried'].max()}"
            if none:
                found.setdefault(some if none < rows.height else most, []).append(level)
        for none, at in found.items():
            level = f", level {span(pl.Series(at))}" if len(at) < levels else ""
            said.append(f"{entry.symbol}{level}: {none}")
    return said


def strictest(tests: pl.DataFrame) -> pl.DataFrame:
    """The paper's own test: its printed expectation, at the lowest level."""
    return tests.filter(expected="printed").filter(pl.col("level") == pl.col("level").min())


def critical_words(frame: pl.DataFrame) -> str:
    """What was tested, what the bars are and where rows were thinned."""
    if frame.is_empty():
        return "nothing was tested"
    windows = frame["windows"].max()
    of = "" if windows == 1 else f"the first of {windows} windows, "
    said = [f"critical N: {span(frame['heads'], ' to ')} heads, {of}{words.query_rows(frame)}"]
    if frame["low"].is_not_null().any():
        said.append("bars: 95 % bootstrap over heads")
    by_window = longest(strictest(frame).drop_nulls(["window_low", "window_high"]))
    for length, low, high in by_window.select("length", "window_low", "window_high").head(1).rows():
        said.append(f"as printed, N = {low} to {high} by window at L = {length}")
    sampled = frame["sampled_from"].drop_nulls()
    if len(sampled):
        said.append(f"only some rows from N = {sampled.min()} on")
    if frame["critical_n"].is_null().all():
        said.append(f"no critical N up to N = {frame['tried'].max()}")
    return "; ".join(said)


def growth_words(growth: pl.DataFrame) -> str:
    """How the critical N grows with L, where enough draws of heads have one at every L."""
    said = []
    for row in growth.iter_rows(named=True):
        ends = "" if row["low"] is None else f" ({row['low']:.2f} to {row['high']:.2f})"
        said.append(
            f"{SIDES[row['expected']].title} at level {row['level']:g}: "
            f"L^{row['exponent']:.2f}{ends}, "
            f"found in {100 * row['found']:.0f} % of draws of {row['heads']} heads"
        )
    return f"growth with L, {'; '.join(said)}" if said else ""
