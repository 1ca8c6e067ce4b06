"""Lemma 1 and Figure 3: weights over L, separability over N."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

import polars as pl

from headgauge.registry.entry import GREY, Look
from headgauge.registry.measures import CURVES, WEIGHT_BOUNDS, WEIGHTS
from headgauge.registry.names import MODEL, rule_notes, rules
from headgauge.registry.published import PLATEAU
from headgauge.report.captions import longest, span
from headgauge.report.figure import Axis, Figure, Mark, Panel, Sentence, Series, Switch
from headgauge.report.paper import words
from headgauge.report.paper.tables import AT, Tables, lines, over_l, over_n, switched

SHARE = {"separability": replace(CURVES["separability"], title="N_s/N, measured")}
SHARE_BOUNDS = {name: each for name, each in CURVES.items() if name.startswith("separability_")}
PLATEAU_BAND = Mark(
    "y band", PLATEAU, f"the paper's {PLATEAU[0]:.2f} to {PLATEAU[1]:.2f}", in_legend=True
)
_FAR = 1e4  # a bound on a weight beyond it is told, not drawn: it would hide all the rest
_GUIDE = Look(GREY, "longdash", width=0.8)
_TRIVIAL = Mark("y", (1.0,), "1: a bound above it says nothing", _GUIDE, in_legend=True)
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def vanishing(paper: Tables) -> Figure:
    """The weights over L, the bounds on the largest, and both again under every rule."""
    frame = paper["vanishing"]
    own = frame.filter(rule=MODEL)
    named = rules(frame["rule"].unique(maintain_order=True).to_list())
    text = ("text",)
    largest = lines(own, {"largest_weight": WEIGHTS["largest_weight"]}, "length", at=text)
    bounds = lines(own, WEIGHT_BOUNDS, "length", at=text)
    if far_words(own):
        bounds = [replace(line, shown=line.name != "bound_printed") for line in bounds]
    lengths = own["length"].unique().sort().to_list()
    label = "1/L: the weight of every key if all were alike"
    guide = Series("guide", label, _GUIDE, lengths, [1 / length for length in lengths])

    def panel(title: str, series: Iterable[Series], *marks: Mark, empty: str = "") -> Panel:
        y = Axis("weight, mean over heads", log=True, can_log=True)
        none = empty or "no weights in this run"
        return Panel(title, over_l(frame["length"]), y, tuple(series), marks, empty=none)

    def by_rule(title: str, measure: str) -> Panel:
        weights = lines(frame.filter(measure=measure), named, "length", by="rule", at=text)
        return panel(title, [*weights, guide] if weights else ())

    weights = lines(frame, WEIGHTS, "length", at=("text", "rule"))
    bounded = "(b) the largest weight and Corollary 1's bounds, model's own rule"
    unbound = "no bound holds for this model's weights"
    return Figure(
        "vanishing",
        "Lemma 1: attention weights over the length L of the window",
        (
            panel("(a) weights", [*weights, guide] if weights else ()),
            panel(bounded, [*largest, *bounds] if bounds else (), _TRIVIAL, empty=unbound),
            by_rule("(c) largest weight under each rule", "largest_weight"),
            by_rule(
                "(d) largest weight but for the first key, share of the rest, under each rule",
                "largest_off_sink",
            ),
        ),
        2,
        caption=(
            *words.sentences(own, text, vanishing_words, words.intervals, far_words),
            words.sentence(rule_words(list(named))),
        ),
    )


def far_words(rows: pl.DataFrame) -> str:
    """What Corollary 1 gives where it is too far above the others to be drawn."""
    values = rows.filter(pl.col("mean").is_finite(), measure="bound_printed")["mean"].sort()
    if values.is_empty() or values[0] <= _FAR:
        return ""
    powers = [round(math.log10(end)) for end in (values[0], values[-1])]
    ends = dict.fromkeys(f"10{str(power).translate(_SUPERSCRIPT)}" for power in powers)
    return f"Corollary 1 as printed gives {' to '.join(ends)}, far above the axis of (b)"


def vanishing_words(own: pl.DataFrame) -> str:
    """What is averaged over what."""
    windows = own["windows"].max()
    return (
        f"means over {span(own['heads'], ' to ')} heads and {windows} window{'s' * (windows != 1)} "
        f"of {span(longest(own)['rows'].round(0), ' to ')} query rows in the last quarter of the "
        "window; of a bound the geometric mean"
    )


def rule_words(named: Sequence[str]) -> str:
    others = [name for name in named if name != MODEL]
    if not others:
        return "no other rule was put on the logits in this run"
    many = f"{len(others)} other rule{'s' * (len(others) != 1)}"
    return "; ".join([f"{many} put on the same logits, no retraining", *rule_notes(others)])


def separability(paper: Tables) -> Figure:
    """Figure 3: separability over N; L is a switch."""
    frame = paper["fig3"].filter(pl.col("measure").is_in([*SHARE, *SHARE_BOUNDS]))

    def panel(rows: pl.DataFrame, length: int) -> Panel:
        return share_panel(rows, f"L = {length}", AT)

    panels, switch = switched(frame, "length", Switch("L", "L", ()), panel)
    at = frame.with_columns(L=pl.col("length"))
    boxes = "Boxes: quartiles over heads, whiskers to the extremes; line: their mean. "
    return Figure(
        "fig3",
        "Figure 3: separability N_s/N over N, tokens selected",
        panels,
        switches=switch,
        caption=(
            *words.sentences(at, (*AT, "L"), words.choice, words.sample, words.intervals),
            Sentence(f"{boxes}Which N is our choice: the paper prints none."),
        ),
        width=3.4,
        panel_height=2.2,
    )


def share_panel(frame: pl.DataFrame, title: str, at: Sequence[str] = ()) -> Panel:
    """Boxes over heads, their mean and the bounds."""
    facts = {"median head": "median", "least": "minimum", "largest": "maximum"}
    series = lines(frame, SHARE, "top_n", at=at, facts=facts, boxes=True)
    series += lines(frame, SHARE_BOUNDS, "top_n", at=at)
    none = "no separability in this run"
    return Panel(title, *share_axes(frame), tuple(series), (PLATEAU_BAND,), empty=none)


def share_axes(frame: pl.DataFrame) -> tuple[Axis, Axis]:
    return over_n(frame["top_n"]), Axis("N_s/N", "N_s/N", low=0.0, high=1.04)
