"""What heads are worth against every measure of them: a panel a measure, a point a head."""

import math
from collections.abc import Callable
from statistics import median
from typing import cast

import polars as pl

from headgauge.registry.entry import BLUE, GREEN, ORANGE, RED, SKY, Look
from headgauge.registry.measures import GROUPS, MEASURES
from headgauge.registry.names import head_name
from headgauge.report.captions import longest
from headgauge.report.figure import Axis, Figure, Mark, Panel, Sentence, Series, Switch, Values
from headgauge.runs.schema import HEAD
from headgauge.scanning import ScanResult
from headgauge.scanning.summary import heads_over_windows
from headgauge.scanning.verdicts import derived

# The paper's own measure has its N from the threshold of `saturated`.
_MEASURES = {**GROUPS, "Weights and outputs": (*GROUPS["Weights and outputs"], "separability")}
# Layer 0 is apart: what is true of it is often not true elsewhere.
_FIRST = Look(RED, "none", "diamond", size=0.9)
_LATER = (
    Look(ORANGE, "none", "square", size=0.6, opacity=0.75),
    Look(GREEN, "none", "circle", size=0.6, opacity=0.75),
    Look(SKY, "none", "triangle", size=0.7, opacity=0.75),
    Look(BLUE, "none", "down", size=0.7, opacity=0.75),
)
_TICKS = 4  # on either side of zero

Column = Callable[[str, list[int]], Values]  # its values in these rows, or its name


def worth(scan: ScanResult) -> pl.DataFrame:
    """`frame()` with every measure that it leaves out, and each head's name."""
    listed = scan.frame()
    heads = longest(scan.heads)
    means = heads_over_windows(heads.with_columns(**derived(heads)))
    names = [head_name(*place) for place in listed.select("layer", "occurrence", "head").rows()]
    more = means.select(*HEAD, *(name for name in means.columns if name not in listed.columns))
    return listed.join(more, on=HEAD, how="left", maintain_order="left").with_columns(
        head_name=pl.Series(names, dtype=pl.String)
    )


def effects_figure(heads: pl.DataFrame, run: str) -> Figure:
    """Of heads as `worth` gives them."""
    return _figure(heads, lambda name, rows: heads[name].gather(rows).to_list(), run)


def effects_template(heads: pl.DataFrame) -> tuple[Figure, dict[str, list[int]]]:
    """The same with names of columns in place of lists, so that a page that has the columns need
    not have them again; by name of a series the rows of `heads` that are its points."""
    return _figure(heads, lambda name, _: cast(Values, name), ""), layer_rows(heads)


def layer_rows(heads: pl.DataFrame) -> dict[str, list[int]]:
    """Rows by layers: layer 0 alone, the others in up to four parts."""
    layers = heads["layer"].unique().sort().to_list()
    apart = layers[:1] if layers[0] == 0 else []
    size = max(1, math.ceil((len(layers) - len(apart)) / len(_LATER)))
    starts = range(len(apart), len(layers), size)
    parts = [part for part in (apart, *(layers[at : at + size] for at in starts)) if part]
    return {
        f"layer {part[0]}" if len(part) == 1 else f"layers {part[0]} to {part[-1]}": [
            row for row, layer in enumerate(heads["layer"]) if layer in part
        ]
        for part in parts
    }


def _figure(heads: pl.DataFrame, column: Column, run: str) -> Figure:
    known = {
        group: [name for name in names if name in heads and heads[name].is_not_null().any()]
        for group, names in _MEASURES.items()
    }
    groups = {group: names for group, names in known.items() if names}
    y, series = _effect_axis(heads["effect"]), layer_rows(heads)
    looks = (_FIRST, *_LATER) if "layer 0" in series else _LATER
    facts = {"head": "head_name", "standard error": "effect_error"}
    panels = tuple(
        Panel(
            MEASURES[name].title,
            Axis("", MEASURES[name].heading.replace("\n", " "), log=MEASURES[name].logarithmic),
            y,
            tuple(
                Series(
                    layers,
                    layers,
                    look,
                    column(name, rows),
                    column("effect", rows),
                    facts={words: column(each, rows) for words, each in facts.items()},
                )
                for (layers, rows), look in zip(series.items(), looks, strict=False)
            ),
            (Mark("y", (0.0,)),),
            at={"measures": group},
        )
        for group, names in groups.items()
        for name in names
    )
    chosen = Switch(
        "measures", "Measures", tuple((group, group) for group in groups), side_by_side=True
    )
    told = f"A point a head. Effect: {MEASURES['effect'].unit}"
    if y.linear is not None:
        told += f"; its axis is linear up to about {y.linear:g}, logarithmic beyond"
    caption = (Sentence(f"{told}."),)
    title = "What a head is worth, against each measure of it"
    return Figure("effects", title, panels, 4, (chosen,), caption, run, 9.2, 1.1)


def _effect_axis(effects: pl.Series) -> Axis:
    """A few heads have most of the effect, and either sign occurs."""
    values: list[float] = [0.0, *effects.drop_nulls().to_list()]
    sizes = [abs(value) for value in values if value]
    if not sizes:
        return Axis("effect", "effect")
    first, last = (math.floor(math.log10(size)) for size in (median(sizes), max(sizes)))
    linear = 10.0**first
    ends = [math.asinh(end / linear) for end in (min(values), max(values))]
    room = 0.05 * (ends[1] - ends[0])
    low, high = linear * math.sinh(ends[0] - room), linear * math.sinh(ends[1] + room)
    first += first < last  # beside zero there is no room
    powers = [10.0**power for power in range(first, last + 1, 1 + (last - first) // _TICKS)]
    ticks = [*(-power for power in reversed(powers)), 0.0, *powers]
    shown = tuple((at, f"{at:g}".replace("-", "−")) for at in ticks if low <= at <= high)
    return Axis("effect", "effect", linear=linear, low=low, high=high, ticks=shown)
