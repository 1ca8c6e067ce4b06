"""What came of remedies: the tables of losses and numbers, added up over the judged windows."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from headgauge.remedies import limits
from headgauge.remedies.trials import CONTROL, NAMED, Group
from headgauge.runs.schema import HEAD
from headgauge.scanning.thresholds import MEAN, Threshold, threshold_table
from headgauge.scanning.verdicts import over_windows

Row = dict[str, Any]


def trial_rows(
    groups: Sequence[Group], choices: pl.DataFrame, losses: pl.DataFrame, numbers: pl.DataFrame
) -> list[Row]:
    """One row per verdict and remedy, with its word."""
    chosen = choices.filter("chosen").select("verdict", "remedy", "rule").rows()
    count = len(chosen)
    by_verdict = {group.verdict: group for group in groups}
    rows = []
    for verdict, remedy, rule in chosen:
        group, own = by_verdict[verdict], losses.filter(verdict=verdict, remedy=remedy)
        found = {"verdict": verdict, "remedy": remedy, "rule": rule}
        found |= {"heads": len(group.heads), "layers": len(group.layers)}
        found |= _named(own.filter(draw=NAMED), count) | _random(own, group)
        for draw, words in ((NAMED, ""), (CONTROL, "random_")):
            found |= _judged(group, remedy, numbers.filter(verdict=verdict, draw=draw), words)
        found["measure"] = None if remedy == MEAN else group.measure
        rows.append(found)
    return rows


def _named(own: pl.DataFrame, comparisons: int) -> Row:
    """The change of the loss with its interval. A loss that is not finite has none."""
    paired, clean = own["change"].to_list(), own["clean"].to_list()
    found: Row = {"windows": len(paired), "loss": None if None in clean else own["clean"].mean()}
    if None in paired:
        return (
            found | dict.fromkeys(("change", "error", "low", "high")) | {"word": limits.UNDECIDED}
        )
    change = limits.change(paired, comparisons)
    ends = {"error": change.error, "low": change.low, "high": change.high}
    return found | {"change": change.mean, "word": change.word} | ends


def _random(own: pl.DataFrame, group: Group) -> Row:
    """The same remedy on random heads; compared per head, because a layer may have too few others
    for sets of the same size."""
    names = ("random", "random_low", "random_high", "random_better")
    drawn = own.filter(pl.col("draw") != NAMED).group_by("draw", maintain_order=True)
    means = drawn.agg(pl.when(pl.col("change").count() == pl.len()).then(pl.mean("change")))
    size = len(group.sets[CONTROL]) if len(group.sets) > 1 else 0
    found: Row = {"draws": means.height, "random_heads": size, **dict.fromkeys(names)}
    changes = means["change"].drop_nulls().to_numpy()
    if len(changes):
        found |= {"random": float(changes.mean()), "random_low": float(changes.min())}
        found["random_high"] = float(changes.max())
        paired = own.filter(draw=NAMED)["change"].to_list()
        if None not in paired:
            per_head = float(np.mean(paired)) / len(group.heads)
            found["random_better"] = float((changes / size < per_head).mean())
    return found


def _judged(group: Group, remedy: str, numbers: pl.DataFrame, words: str) -> Row:
    """The mean of the measure and how many heads have the verdict, before and under the remedy:
    judged as a scan judges."""
    names = ("before", "after", "held", "left")
    found: Row = dict.fromkeys(f"{words}{name}" for name in names)
    if remedy == MEAN or numbers.is_empty():
        return found
    parts = {
        ("before", "held"): numbers.filter(pl.col("remedy").is_null()),
        ("after", "left"): numbers.filter(remedy=remedy),
    }
    for (number, held), each in parts.items():
        judged = overall(each, group.thresholds)
        own = judged.filter(measure=group.measure)["number"].drop_nulls()
        found[f"{words}{number}"] = None if own.is_empty() else own.mean()
        found[f"{words}{held}"] = judged.filter("holds").select("layer", "head").n_unique()
    return found


def overall(numbers: pl.DataFrame, thresholds: Sequence[Threshold]) -> pl.DataFrame:
    """Heads and thresholds over the windows, as `scanning.verdicts.judge` has them."""
    table = threshold_table(thresholds).with_columns(asked=pl.lit(True))
    units = numbers.select(*HEAD, "window", "length", "measure", "seen", "number")
    return over_windows(units.join(table, on="measure"), table.columns)
