"""What can be asked of a unit: curves for a choice, on all rows or some, and other probes."""

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

import numpy as np
import polars as pl
from torch import Tensor

from headgauge.measure.head_facts import HeadFacts
from headgauge.measure.placed import PlacedRule
from headgauge.models import ObservedCall
from headgauge.models.head_names import Heads
from headgauge.normalizers import Normalizer
from headgauge.runs import SCAN, Derived, Layout, UnitKey
from headgauge.runs.columns import How, Where

Made = TypeVar("Made")
OWN = "model"  # the rule that is none: the weights the model itself computed
OFF_SINK = "off_sink"  # the visible keys but the first, on which many heads rest


@dataclass(frozen=True)
class CurveRequest:
    """Curves over `top_ns` for one choice of vectors and keys, under one rule.

    `rows` is how many of the query rows are measured, evenly spread; None is all of them. `part`
    is the purpose the time is booked under, `table` where the curves go. `where` is told of curves
    under a rule that stands in a model (`PlacedRule`), with its own numbers in each head.
    """

    vectors: str
    scale: str
    keys: str
    top_ns: tuple[int, ...]
    rule: str = OWN
    normalizer: Normalizer | PlacedRule | None = None  # None: the model's own weights
    rows: int | None = None
    table: str = "curves"
    part: str = "curves"
    where: Where | None = None

    @property
    def choice(self) -> dict[str, str]:
        """The columns that name it; `rule` and `where` only where the table has them."""
        named = {"vectors": self.vectors, "scale": self.scale, "keys": self.keys}
        named |= {} if self.table == "curves" else {"rule": self.rule}
        return named if self.where is None else named | {"where": self.where}


@dataclass(frozen=True)
class RowRequest:
    """The measures of a head that need no N, under one rule; without one the model's own.

    `where` says whether it is put on the logits as they come ("logits"), or is in force in the
    model already ("inside"), so that the weights are those of its pass.
    """

    rule: str = OWN
    where: Where | None = None
    placed: PlacedRule | None = None

    @property
    def table(self) -> str:
        return "heads" if self.where is None else "rule_heads"

    @property
    def choice(self) -> dict[str, str]:
        """The columns that name it."""
        return {} if self.where is None else {"rule": self.rule, "where": self.where}

    @property
    def on_logits(self) -> bool:
        return self.where == "logits"


@dataclass(frozen=True)
class Probe:
    """Something measured once per head: `measure(head, vectors)` gives rows of `table`, or frames.

    `vectors` maps a kind of vectors to those of the head's keys, or None where they are unseen.
    """

    table: str
    part: str
    kinds: tuple[str, ...]
    measure: Callable[..., list[Any]]


Vectors = Callable[[str], Tensor | None]


class Together(Generic[Made]):
    """What the heads of a call share: made by the first that asks, while the others wait. That of
    the latest call is held."""

    def __init__(self, make: Callable[[ObservedCall], Made]) -> None:
        self._make, self._turn = make, threading.RLock()
        self._held: tuple[ObservedCall, Made] | None = None

    def of(self, call: ObservedCall) -> Made:
        with self._turn:
            if self._held is None or self._held[0] is not call:
                self._held = call, self._make(call)
            return self._held[1]


@dataclass(frozen=True)
class Ablate:
    """The loss without every measured head, or without each of these groups of heads (name, heads),
    with their means or zeros in their place."""

    how: How
    groups: tuple[tuple[str, Heads], ...] = ()


@dataclass(frozen=True)
class Task:
    """All that is measured in one unit.

    `judged` asks for the measures that need no N, and samples, `roles` among them for what heads
    do; `depth` for the residual stream through the layers; `ablate` for the loss without heads;
    `rules` for all of it under each of these rules, as they were asked for (`of_original`,
    `of_swapped`). `tables` are those that result beside heads, curves and samples, `once` what was
    made once for all units of the run, `facts` what is known of the heads before: without it there
    are no roles. `only` has the heads (layer, head) to measure where not all are wanted that the
    settings name.
    """

    curves: tuple[CurveRequest, ...]
    probes: tuple[Probe, ...] = ()
    judged: bool = True
    roles: bool = True
    depth: bool = False
    ablate: Ablate | None = None
    rules: tuple[str, ...] = ()
    row_requests: tuple[RowRequest, ...] = (RowRequest(),)
    tables: tuple[str, ...] = ()
    facts: HeadFacts | None = None
    only: frozenset[tuple[int, int]] | None = None
    once: Mapping[str, pl.DataFrame] = field(default_factory=dict)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of vectors it needs, in the order they are first asked for."""
        asked = [request.vectors for request in self.curves]
        asked += [kind for probe in self.probes for kind in probe.kinds]
        return tuple(dict.fromkeys(asked))


def of_original(task: Task, placed: tuple[PlacedRule, ...]) -> Task:
    """What is measured in the pass of the model as it is: its own weights, and every rule put on
    its logits."""
    rows = [RowRequest(OWN, "inside")]
    curves = list(_under(task.curves, OWN, "inside", None))
    for rule in placed:
        rows.append(RowRequest(rule.text, "logits", rule))
        curves += _under(task.curves, rule.text, "logits", rule)
    return replace(task, row_requests=tuple(rows), curves=tuple(curves))


def of_swapped(task: Task, rule: PlacedRule) -> Task:
    """What is measured in the pass of the model with a rule in it."""
    curves = _under(task.curves, rule.text, "inside", None)
    rows = (RowRequest(rule.text, "inside", rule),)
    return replace(task, row_requests=rows, curves=tuple(curves))


def _under(
    curves: tuple[CurveRequest, ...], text: str, where: Where, rule: PlacedRule | None
) -> Iterator[CurveRequest]:
    for each in curves:
        yield replace(each, rule=text, where=where, normalizer=rule, table="rule_curves")


@dataclass(frozen=True)
class Experiment:
    """What a run does: `task(settings, key)` in each unit, and in terms of the paper, for the
    manifest, `pseudocode`. `notes(settings)` says what became of its own defaults.

    `once(settings)` names the tables that are made once for the run, before its units, which get
    them: they need the model (`make(plan)`). They are kept with the run and read again when it is
    taken up. `derived` has those that follow from the units' tables.
    """

    pseudocode: str
    task: Callable[[Any, UnitKey], Task]
    notes: Callable[[Any], list[str]] = lambda settings: []
    once: Callable[[Any], Mapping[str, Callable[[Any], pl.DataFrame]]] = lambda settings: {}
    derived: Derived = field(default_factory=dict)
    layout: Layout = SCAN


def spread_rows(start: int, stop: int, queries: int, count: int | None) -> np.ndarray:
    """Which rows of a block, counted from its start, are among `count` spread evenly over all.

    The middle of each stretch, so that their mean position is that of all rows.
    """
    if count is None or count >= queries:
        return np.arange(stop - start)
    places = ((np.arange(count) + 0.5) * queries / count).astype(np.int64)
    return places[(places >= start) & (places < stop)] - start
