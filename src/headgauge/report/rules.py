"""Figures of a comparison of rules: the loss under each, and every measure over N beside the
model's own."""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from statistics import median
from typing import Any

import polars as pl

from headgauge.comparison.rules_result import RuleComparison
from headgauge.registry.entry import BLUE, Look
from headgauge.registry.measures import CURVE_MEASURES
from headgauge.registry.names import MODEL, rules
from headgauge.report.comparison import Compared, differences_figure
from headgauge.report.figure import Axis, Figure, Mark, Panel, Sentence, Series, Switch
from headgauge.report.head_maps import usual_choice

WHERE = {"logits": "on the original model's logits", "inside": "inside the swapped model"}
_LOOK = Look(BLUE, "none", "circle")
_ROW = 0.19  # inches
_TICKS = 3  # on either side of zero


def rules_figure(result: RuleComparison, run: str) -> Figure:
    """A line a rule: how much its loss differs, how far its predictions are, what it costs."""
    rows = [row for row in result.rules().rows(named=True) if row["text"] != MODEL]
    names = [result.title(row["text"]) for row in rows]
    reaches = [result.reach(row) for row in rows]
    differences = [row["difference"] for row in rows]
    ends = [
        [
            None if d is None or r is None else d + sign * r
            for d, r in zip(differences, reaches, strict=True)
        ]
        for sign in (-1, 1)
    ]
    panels = [
        _panel("Loss", _signed_axis([*differences, *ends[0], *ends[1]]), names, differences, ends),
        _panel(
            "KL(original ‖ swapped)", _kl_axis(rows), names, [row["kl"] or None for row in rows]
        ),
        _panel(
            "Top-1 agreement",
            Axis("share of tokens", low=0.0, high=1.02),
            names,
            [row["agreement"] for row in rows],
        ),
    ]
    if any(row["to_sdpa"] is not None for row in rows):
        axis = Axis("time of a pass ÷ plain sdpa", low=0.0)
        panels.append(_panel("Cost", axis, names, [row["to_sdpa"] for row in rows]))
    told = "Bars: 95 % intervals of the paired difference over windows (Student's t)."
    alone = "One window: a difference has no interval."
    caption = (
        Sentence("Loss: difference to the original model, nats per token; left of 0 it is lower."),
        Sentence(told if any(each is not None for each in reaches) else alone),
    )
    return Figure(
        "rules",
        "The same windows under each rule",
        tuple(panels),
        2,
        caption=caption,
        run=run,
        width=9.2,
        panel_height=_ROW * max(len(rows), 5),
    )


def _panel(
    title: str,
    x: Axis,
    names: Sequence[str],
    values: Sequence[float | None],
    ends: Sequence[Sequence[float | None]] | None = None,
) -> Panel:
    places = list(range(len(names)))
    series = [Series(title, "", _LOOK, list(values), places)]
    for place in places if ends else ():
        assert ends is not None
        both = [ends[0][place], ends[1][place]]
        if None not in both:
            series.append(Series(title, "", Look(BLUE), both, [place, place]))
    y = Axis("", low=len(names) - 0.5, high=-0.5, ticks=tuple(enumerate(names)))
    marks = (Mark("x", (0.0,)),) if ends else ()
    return Panel(title, x, y, tuple(series), marks, empty="no rule has a number here")


def _signed_axis(values: Sequence[float | None]) -> Axis:
    """Some rules cost a thousandth, some several nats, and a few gain."""
    label = "difference of the loss"
    known = [0.0, *(each for each in values if each is not None)]
    sizes = [abs(each) for each in known if each]
    if not sizes:
        return Axis(label, "difference")
    first, last = (math.floor(math.log10(size)) for size in (median(sizes), max(sizes)))
    first = min(first, last - 1)
    linear = 10.0**first
    ends = [math.asinh(end / linear) for end in (min(known), max(known))]
    room = 0.06 * (ends[1] - ends[0])
    low, high = linear * math.sinh(ends[0] - room), linear * math.sinh(ends[1] + room)
    first += first < last  # beside zero there is no room
    powers = [10.0**power for power in range(first, last + 1, 1 + (last - first) // _TICKS)]
    ticks = [*(-power for power in reversed(powers)), 0.0, *powers]
    shown = tuple((at, f"{at:g}".replace("-", "−")) for at in ticks if low <= at <= high)
    return Axis(label, "difference", linear=linear, low=low, high=high, ticks=shown)


def _kl_axis(rows: Sequence[dict[str, Any]]) -> Axis:
    some = any(row["kl"] for row in rows)
    return Axis("nats per token", "KL", log=some)


def rule_curves_figure(result: RuleComparison, run: str) -> Figure:
    """Separability, distance and radius over N, a line a rule, means over heads: of all, or of a
    layer that the reader chooses. The rule on the same logits on the left, inside on the right."""
    texts = result.texts()
    looks = {name: entry.look for name, entry in rules(texts).items()}
    chosen = usual_choice(result.tables["rule_curves"])
    names = [name for name in CURVE_MEASURES if chosen[name].is_not_null().any()]
    numbers = [pl.mean(name) for name in names]
    by = ["rule", "where", "top_n"]
    parts = {"all": chosen.group_by(by).agg(numbers)}
    layers = chosen["layer"].unique().sort().to_list()
    if len(layers) > 1:
        by_layer = chosen.group_by("layer", *by).agg(numbers)
        parts |= {f"{layer}": by_layer.filter(layer=layer) for layer in layers}
    ns = chosen["top_n"].unique().sort().to_list()
    x = Axis("N", "N", log=True, can_log=True, ticks=tuple((n, f"{n}") for n in ns))

    def line(text: str, name: str, where: str, layer: str) -> Series:
        own = parts[layer].filter(rule=text, where="inside" if text == MODEL else where)
        own = own.sort("top_n")
        points = own["top_n"].to_list(), own[name].to_list()
        return Series(text, result.title(text), looks[text], *points, at={"layer": layer})

    panels = []
    for name in names:
        for where, words in WHERE.items():
            lines = tuple(line(text, name, where, layer) for layer in parts for text in texts)
            y = Axis("", low=0.0, high=1.02 if CURVE_MEASURES[name].high == 1 else None)
            title = f"{CURVE_MEASURES[name].title}, {words}"
            panels.append(Panel(title, x, y, lines, empty="not measured in this run"))
    heads = chosen.select("layer", "occurrence", "module", "head").n_unique()
    options = tuple((name, "all" if name == "all" else f"layer {name}") for name in parts)
    caption = (Sentence(f"Means over {heads} heads and over windows.", {"layer": "all"}),)
    return Figure(
        "rule_curves",
        "Over N, tokens selected, under each rule",
        tuple(panels),
        2,
        (Switch("layer", "Heads", options),),
        (*caption, Sentence("Unit values, visible keys.")),
        run,
        width=9.2,
        panel_height=1.9,
    )


def compared_rules(result: RuleComparison, run: str) -> Compared:
    """The sides of a map of differences."""
    sides = result.sides()
    names = tuple(sides.places)
    return Compared("rule", names, sides.values(), sides.differences(), sides.marks(), run)


def rule_figures(result: RuleComparison) -> dict[str, Callable[[], Figure]]:
    """By name what describes each figure, the overview first: of every rule inside the model the
    map of what differs from the original."""
    run = result.caption()
    made: dict[str, Callable[[], Figure]] = {
        "rules": partial(rules_figure, result, run),
        "rule_curves": partial(rule_curves_figure, result, run),
    }
    for name, (text, where) in result.sides().places.items():
        if text != MODEL and where == "inside":
            file = "map-" + re.sub(r"[^\w.]+", "-", text)
            made[file] = partial(_map_figure, result, file, name, run)
    return made


def _map_figure(result: RuleComparison, file: str, side: str, run: str) -> Figure:
    compared = compared_rules(result, run)
    return replace(differences_figure(compared, side, compared.sides[0]), name=file)
