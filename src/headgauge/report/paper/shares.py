"""Lemma 1 and Figure 3: weights over L, separability over N."""

import math
from collections.abc import Sequence
from typing import Any

import polars as pl

from headgauge.registry.entry import GREY, Look
from headgauge.registry.measures import CURVES, WEIGHT_BOUNDS, WEIGHTS
from headgauge.registry.names import MODEL, rules
from headgauge.registry.published import PLATEAU
from headgauge.report.captions import longest, span
from headgauge.report.figure import Axis, Figure, Mark, Panel, Sentence, Series, Switch
from headgauge.report.paper.tables import (
    AT,
    Tables,
    choice_of,
    interval_words,
    lines,
    number_ticks,
    sample_words,
    sentence,
    sentences,
    switched,
)

SHARES = {name: entry for name, entry in CURVES.items() if name.startswith("separability")}
PLATEAU_BAND = Mark(
    "y band", PLATEAU, f"the paper's {PLATEAU[0]:.2f} to {PLATEAU[1]:.2f}", in_legend=True
)
_FAR = 1e4  # a bound on a weight beyond it is told, not drawn: it would hide all the rest
_GUIDE = Look(GREY, "longdash", width=0.8)
_LENGTH = ("L, tokens in the window", "L")
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def vanishing(paper: Tables) -> Figure:
    """The weights over L, the bounds on the largest, and both again under every rule."""
    frame = paper["vanishing"]
    own = frame.filter(pl.col("rule") == MODEL)
    at = ("text", "rule")
    told = own.filter(pl.col("measure") == "bound_printed")["mean"]
    far = told.len() > 0 and float(told.min() or 0) > _FAR  # pyright: ignore
    bounded: list[Series] = []
    if own.filter(pl.col("measure").is_in(list(WEIGHT_BOUNDS)))["mean"].is_not_null().any():
        bounded = lines(own, {"largest_weight": WEIGHTS["largest_weight"]}, "length", at=("text",))
        for name, entry in WEIGHT_BOUNDS.items():
            seen = not (far and name == "bound_printed")
            bounded += lines(own, {name: entry}, "length", at=("text",), shown=seen)
    trivial = Mark("y", (1.0,), "1: a bound above it says nothing", _GUIDE, in_legend=True)
    weights = lines(frame, WEIGHTS, "length", at=at)
    named = rules(frame["rule"].unique(maintain_order=True).to_list())
    by_rule = [
        lines(frame.filter(pl.col("measure") == name), named, "length", by="rule", at=("text",))
        for name in ("largest_weight", "largest_off_sink")
    ]

    def panel(
        title: str, series: tuple[Series, ...], *marks: Mark, empty: str = "no weights in this run"
    ) -> Panel:
        x = Axis(*_LENGTH, log=True, can_log=True, ticks=number_ticks(frame["length"]))
        y = Axis("weight, mean over heads", log=True, can_log=True)
        return Panel(title, x, y, series, marks, empty=empty)

    bounds = "(b) the largest weight and Corollary 1's bounds, model's own rule"
    off_sink = "(d) largest off the first key, of the rest, by rule"
    unbound = "no bound holds for this model's weights"
    panels = (
        panel("(a) weights", _with_guide(weights, own)),
        panel(bounds, tuple(bounded), trivial, empty=unbound),
        panel("(c) largest weight, by rule", _with_guide(by_rule[0], own)),
        panel(off_sink, _with_guide(by_rule[1], own)),
    )
    return Figure(
        "vanishing",
        "Lemma 1. Weights over L",
        panels,
        2,
        caption=(
            *sentences(own, ("text",), vanishing_words, interval_words, far_words),
            sentence(rule_words(list(named))),
        ),
    )


def _with_guide(series: list[Series], frame: pl.DataFrame) -> tuple[Series, ...]:
    """1/L beside the weights."""
    lengths = frame["length"].unique().sort().to_list()
    label = "1/L: the weight of every key if all were alike"
    guide = Series("guide", label, _GUIDE, lengths, [1 / length for length in lengths])
    return (*series, guide) if series else ()


def far_words(rows: pl.DataFrame) -> str:
    """What Corollary 1 gives where it is too far above the others to be drawn."""
    values = rows.filter(pl.col("measure") == "bound_printed")["mean"].drop_nulls()
    if values.is_empty() or float(values.min()) <= _FAR:  # pyright: ignore
        return ""
    powers = [round(math.log10(float(end))) for end in (values.min(), values.max())]  # pyright: ignore
    told = dict.fromkeys(f"10{str(power).translate(_SUPERSCRIPT)}" for power in powers)
    return f"Corollary 1 as printed gives {' to '.join(told)}, far above the axis of (b)"


def vanishing_words(own: pl.DataFrame) -> str:
    """What is averaged over what."""
    windows = own["windows"].max()
    return (
        f"means over {span(own['heads'], ' to ')} heads and {windows} window{'s' * (windows != 1)} "
        f"of {span(longest(own)['rows'].round(0), ' to ')} query rows in the last quarter of the "
        "window; of a bound the geometric mean"
    )


def rule_words(named: Sequence[str]) -> str:
    if set(named) <= {MODEL}:
        return "no other rule was put on the logits in this run"
    told = f"{len(named) - (MODEL in named)} other rules put on the same logits, no retraining"
    notes = [entry.explanation for entry in rules(list(named)).values() if entry.explanation]
    return "; ".join([told, *notes])


def separability(paper: Tables) -> Figure:
    """Figure 3: separability over N; L is a switch."""
    frame = paper["fig3"].filter(pl.col("measure").is_in(list(SHARES)))
    panels, switch = switched(
        frame,
        "length",
        Switch("L", "L", ()),
        lambda rows, length: share_panel(rows, f"L = {length}", AT),
    )
    told = (
        "Boxes: quartiles over heads, whiskers to the extremes; line: their mean. The N are ours: "
    )
    at = frame.with_columns(L=pl.col("length"))
    return Figure(
        "fig3",
        "Figure 3. Separability over N",
        panels,
        switches=switch,
        caption=(
            *sentences(at, (*AT, "L"), choice_of, sample_words, interval_words),
            Sentence(f"{told}the paper prints none."),
        ),
        width=3.4,
        panel_height=2.2,
    )


def share_panel(frame: pl.DataFrame, title: str, at: Sequence[str] = ()) -> Panel:
    """Boxes over heads, their mean and the bounds."""
    facts = {"median head": "median", "least": "minimum", "largest": "maximum"}
    found = []
    for name, entry in SHARES.items():
        spread: dict[str, Any] = {"facts": facts, "boxes": True} if name == "separability" else {}
        found += lines(frame, {name: entry}, "top_n", at=at, **spread)
    none = "no separability in this run"
    return Panel(title, *share_axes(frame), tuple(found), (PLATEAU_BAND,), empty=none)


def share_axes(frame: pl.DataFrame) -> tuple[Axis, Axis]:
    x = Axis("N, tokens selected", "N", log=True, can_log=True, ticks=number_ticks(frame["top_n"]))
    return x, Axis("N_s/N", "N_s/N", low=0.0, high=1.04)
