"""The picture of tried remedies: the change of the loss, named heads against random ones."""

from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from headgauge.registry.entry import BLACK, GREY, Look
from headgauge.registry.names import mark
from headgauge.remedies import Remedies
from headgauge.remedies.limits import SMALL
from headgauge.report.figure import Axis, Figure, Mark, Panel, Sentence, Series

_RANDOM = Look(GREY, "none", "circle")
_ROW = 0.32  # inches
_APART = 0.2  # rows between named and random heads
_FAR = 20  # times what is a difference, from which on the axis is logarithmic


def remedy_figure(result: Remedies, run: str) -> Figure:
    """A row for each verdict and remedy: its heads with their interval, each draw of random ones
    below."""
    rows = result.trials.filter(pl.col("change").is_not_null()).to_dicts()
    series = [each for at, row in enumerate(rows) for each in _row(result, row, at)]
    # The legend's own: in the figure each verdict has its colour.
    legend = [
        Series("named", "heads with the verdict", Look(BLACK, "none", "diamond"), [None], [0]),
        Series("random", "random heads, a draw each", _RANDOM, [None], [0]),
    ]
    names = [f"{row['verdict']}: {_short(row['rule'])}" for row in rows]
    panel = Panel(
        "",
        _axis([abs(x) for each in series for x in each.x if isinstance(x, float)]),
        Axis("", low=len(rows) - 0.5, high=-0.5, ticks=tuple(enumerate(names))),
        (*legend, *series) if rows else (),
        (Mark("x band", (-SMALL, SMALL)), Mark("x", (0.0,))) if rows else (),
        empty="no head has a verdict to try a remedy on",
    )
    caption = (
        Sentence("Right of zero: the loss rises."),
        Sentence("Bars: intervals over windows that allow for all remedies of the run."),
        Sentence(f"Band: within {SMALL} nats, no difference that matters."),
    )
    title = "What remedies do to the loss"
    high = _ROW * max(len(rows), 4) + 0.4
    return Figure("remedies", title, (panel,), caption=caption, run=run, panel_height=high)


def _row(result: Remedies, row: dict[str, Any], at: int) -> Iterator[Series]:
    colour = mark(row["verdict"]).look.colour
    if row["low"] is not None:
        yield Series("named", "", Look(colour), [row["low"], row["high"]], [at - _APART] * 2)
    point = Look(colour, "none", "diamond")
    yield Series("named", "", point, [row["change"]], [at - _APART])
    if drawn := _draws(result.tables["losses"], row):
        yield Series("random", "", _RANDOM, drawn, [at + _APART] * len(drawn))


def _short(rule: str) -> str:
    """There is little room beside the rows."""
    return rule.replace(":temperature=", " T=").replace(":", " ")


def _axis(sizes: Sequence[float]) -> Axis:
    """Linear about zero and, where one remedy costs far more than another, logarithmic beyond."""
    label, largest = "change of the loss, nats per token", max(sizes, default=0.0)
    if largest <= _FAR * SMALL:
        return Axis(label)
    powers = [10.0**power for power in range(-2, 3) if 10.0**power <= largest]
    ticks = [*(-each for each in reversed(powers)), 0.0, *powers]
    named = tuple((each, f"{each:g}".replace("-", "−")) for each in ticks)
    return Axis(label, linear=SMALL, ticks=named)


def _draws(losses: pl.DataFrame, row: dict[str, Any]) -> list[float]:
    """The mean change of each draw of random heads."""
    own = losses.filter(
        (pl.col("verdict") == row["verdict"])
        & (pl.col("remedy") == row["remedy"])
        & (pl.col("draw") > 0)
    )
    return (
        own.group_by("draw", maintain_order=True)
        .agg(pl.mean("change"))["change"]
        .drop_nulls()
        .to_list()
    )
