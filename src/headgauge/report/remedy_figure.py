"""The picture of tried remedies: the change of the loss, named heads against random ones."""

import polars as pl

from headgauge.registry.entry import BLACK, GREY, Look
from headgauge.registry.names import mark
from headgauge.remedies import Remedies
from headgauge.remedies.limits import SMALL
from headgauge.report.figure import Axis, Figure, Mark, Panel, Sentence, Series

_RANDOM = Look(GREY, "none", "circle")
_ROW = 0.32  # inches
_APART = 0.2  # rows between named and random heads


def remedy_figure(result: Remedies, run: str) -> Figure:
    """A row for each verdict and remedy: its heads with their interval, each draw of random ones
    below."""
    trials = result.trials.filter(pl.col("change").is_not_null())
    rows = trials.to_dicts()
    series = []
    for at, row in enumerate(rows):
        look = mark(row["verdict"]).look
        if row["low"] is not None:
            ends = [row["low"], row["high"]]
            series.append(Series("named", "", Look(look.colour), ends, [at - _APART] * 2))
        point = Look(look.colour, "none", "diamond")
        series.append(Series("named", "", point, [row["change"]], [at - _APART]))
        drawn = _draws(result.tables["losses"], row)
        if drawn:
            label = (
                "" if any(each.name == "random" for each in series) else "random heads, a draw each"
            )
            places = [at + _APART] * len(drawn)
            series.append(Series("random", label, _RANDOM, drawn, places))
    if rows:
        series.insert(
            0,
            Series("named", "heads with the verdict", Look(BLACK, "none", "diamond"), [None], [0]),
        )
    largest = max(
        (abs(each) for one in series for each in one.x if isinstance(each, float)), default=0.0
    )
    names = [f"{row['verdict']}: {row['rule']}" for row in rows]
    panel = Panel(
        "",
        Axis("change of the loss, nats per token", linear=SMALL if largest > 20 * SMALL else None),
        Axis("", low=len(rows) - 0.5, high=-0.5, ticks=tuple(enumerate(names))),
        tuple(series),
        (Mark("x band", (-SMALL, SMALL)), Mark("x", (0.0,))),
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


def _draws(losses: pl.DataFrame, row: dict[str, object]) -> list[float]:
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
