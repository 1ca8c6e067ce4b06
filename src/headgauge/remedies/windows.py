"""One window under every remedy: losses of named and random heads, numbers of the heads."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import polars as pl
import torch
from jaxtyping import Int
from torch import Tensor

from headgauge import models
from headgauge.measure.changed_losses import ChangedLosses
from headgauge.measure.head_facts import HeadFacts
from headgauge.measure.plan import Plan
from headgauge.measure.requests import OFF_SINK, CurveRequest, Task
from headgauge.measure.unit import Unit, measure_unit, settled
from headgauge.models.ablation import head_means
from headgauge.remedies.trials import CONTROL, NAMED, Changes, Group, layers_of, remedy_name
from headgauge.runs.remedy_schema import NumberRow
from headgauge.runs.schema import HEAD, frame_schema
from headgauge.scanning.scanning import OFF_SINK_ROWS
from headgauge.scanning.thresholds import MEAN
from headgauge.scanning.verdicts import numbers
from headgauge.threads import in_turn

Row = dict[str, Any]
Chosen = Mapping[tuple[str, str], str]  # by verdict and remedy the candidate that is judged


def candidate_rows(
    plan: Plan,
    groups: Sequence[Group],
    windows: Sequence[Int[Tensor, "length"]],
    changes: Changes,
    done: Callable[[], object],
) -> list[Row]:
    """Every candidate on the windows that choose, and the one of each remedy with the smallest
    loss, the first of several."""
    rows: list[Row] = [
        {"verdict": group.verdict, "remedy": remedy_name(some), "rule": rule, "seen": []}
        for group in groups
        for some in group.tries
        for rule in some
    ]
    by_verdict = {group.verdict: group for group in groups}
    for ids in windows if rows else ():
        inputs = models.model_inputs(plan.loaded, ids[None])
        with in_turn(), settled(plan.loaded.model, plan.settings):
            layers = [group.layers for group in groups]
            losses = ChangedLosses(plan.loaded, inputs, ids[None], layers)
            for row in rows:
                group = by_verdict[row["verdict"]]
                change = changes(group.heads, row["rule"])
                row["seen"].append(losses.under(group.layers, change) - losses.clean)
                done()
    best: dict[tuple[str, str], Row] = {}
    for row in rows:
        seen = row.pop("seen")
        row |= {"windows": len(seen), "change": finite(sum(seen) / len(seen))}
        row["chosen"] = False
        key = row["verdict"], row["remedy"]
        best[key] = min(best.get(key, row), row, key=_least)
    for row in best.values():
        row["chosen"] = True
    return rows


def _least(row: Row) -> float:
    return math.inf if row["change"] is None else row["change"]


def changes_of(
    plan: Plan, groups: Sequence[Group], windows: Sequence[Int[Tensor, "length"]]
) -> Changes:
    """What can be done to heads, with their means over the windows that choose where some of them
    are taken out."""
    loaded = plan.loaded
    if not any((MEAN,) in group.tries for group in groups):
        return Changes(loaded, models.Projections(), None)
    with in_turn(), settled(loaded.model, plan.settings):
        inputs = [models.model_inputs(loaded, ids[None]) for ids in windows]
        projections = models.output_projections(loaded)
        return Changes(loaded, projections, head_means(loaded, projections, inputs))


@dataclass(frozen=True, eq=False)
class Judge:
    """One window after the other: `chosen` has the candidates, `facts` what is known of the heads
    before; `done` is called after each pass."""

    plan: Plan
    groups: Sequence[Group]
    chosen: Chosen
    changes: Changes
    facts: HeadFacts
    done: Callable[[], object]

    def window(self, unit: Unit) -> tuple[list[Row], pl.DataFrame]:
        """The rows of its losses, and the numbers of the heads before and under each remedy.

        Named heads and the first draw are measured where a rule is swapped in, which gives the loss
        as well; a head that is taken out has no attention left to judge.
        """
        swapped = [group for group in self.groups if set(group.tries) - {(MEAN,)}]
        found, losses = [], dict[tuple[str, str, int], float]()
        if swapped:
            both = {
                head for group in swapped for some in group.sets[: CONTROL + 1] for head in some
            }
            clean, before = self._measured(unit, swapped, both, nullcontext())
            found += [
                part
                for group in swapped
                for draw in (NAMED, CONTROL)
                for part in self._numbers(before, group, None, draw)
            ]
            for group, remedy, rule in self._remedies(swapped):
                for draw, heads in enumerate(group.sets[: CONTROL + 1]):
                    if rule != MEAN:
                        change = self.changes(heads, rule)
                        loss, tables = self._measured(unit, [group], heads, change)
                        losses[group.verdict, remedy, draw] = loss - clean
                        found += self._numbers(tables, group, remedy, draw)
        rows = self._losses(unit, losses)
        return rows, pl.concat(found) if found else pl.DataFrame(schema=_NUMBERS)

    def _remedies(self, groups: Sequence[Group]) -> Iterator[tuple[Group, str, str]]:
        """Each group with its remedies and the candidate of each."""
        for group in groups:
            for candidates in group.tries:
                remedy = remedy_name(candidates)
                yield group, remedy, self.chosen[group.verdict, remedy]

    def _losses(self, unit: Unit, known: dict[tuple[str, str, int], float]) -> list[Row]:
        """The changes of the loss, those that are not known by a pass each."""
        loaded, ids = self.plan.loaded, torch.tensor([unit.ids], dtype=torch.long)
        inputs, rows = models.model_inputs(loaded, ids), []
        layers = [layers_of(heads) for group in self.groups for heads in group.sets]
        with in_turn(), settled(loaded.model, self.plan.settings):
            losses = ChangedLosses(loaded, inputs, ids, layers)
            for group, remedy, rule in self._remedies(self.groups):
                for draw, heads in enumerate(group.sets):
                    change = known.get((group.verdict, remedy, draw))
                    if change is None:
                        under = losses.under(layers_of(heads), self.changes(heads, rule))
                        change = under - losses.clean
                        self.done()
                    row = {"verdict": group.verdict, "remedy": remedy, "draw": draw}
                    row |= {"window": unit.key.window, "clean": finite(losses.clean)}
                    rows.append(row | {"change": finite(change)})
        return rows

    def _measured(
        self,
        unit: Unit,
        groups: Sequence[Group],
        heads: Iterable[tuple[int, int]],
        change: AbstractContextManager[object],
    ) -> tuple[float, Mapping[str, pl.DataFrame]]:
        """The loss, and the tables that these heads of groups are judged by, under a change."""
        only = frozenset(heads)
        layers = tuple(sorted({layer for layer, _ in only}))
        task = Task(_curves(groups, unit.key.length), facts=self.facts, only=only)
        settings = replace(self.plan.settings, layers=layers, sample_rows=0)
        with change:
            found = measure_unit(self.plan.source, unit, settings, task)
        self.done()
        loss = found.facts["loss"]
        return math.nan if loss is None else float(loss), found.tables

    def _numbers(
        self, tables: Mapping[str, pl.DataFrame], group: Group, remedy: str | None, draw: int
    ) -> Iterator[pl.DataFrame]:
        """What the heads of a set are judged by."""
        if draw >= len(group.sets):
            return
        measures = [(each.measure, each.choice) for each in group.thresholds]
        own = pl.DataFrame(group.sets[draw], schema=("layer", "head"), orient="row")
        named = pl.DataFrame({"measure": [each.measure for each in group.thresholds]})
        yield (
            numbers(tables["heads"], tables["curves"], measures)
            .join(named.with_row_index("place").cast({"place": pl.Int64}), on="place")
            .join(own, on=("layer", "head"), how="semi")
            .with_columns(
                verdict=pl.lit(group.verdict),
                remedy=pl.lit(remedy, pl.String),
                draw=pl.lit(draw, pl.Int64),
            )
            .sort(*HEAD, "place")
            .select(*_NUMBERS)
        )


_NUMBERS = frame_schema(NumberRow)


def _curves(groups: Sequence[Group], length: int) -> tuple[CurveRequest, ...]:
    """The points of curves that verdicts of these groups are judged by, as a scan measures them."""
    asked = dict.fromkeys(
        tuple(each.choice.values())
        for group in groups
        for each in group.thresholds
        if each.top_n is not None and each.top_n < length
    )
    return tuple(
        CurveRequest(
            *(vectors, scale, keys, (top_n,)), rows=OFF_SINK_ROWS if keys == OFF_SINK else None
        )
        for top_n, vectors, scale, keys in asked
    )


def finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
