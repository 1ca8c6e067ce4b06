"""What the tables of a comparison of runs hold.

    comparison/sides.parquet        SideRow         the runs, in their order
    comparison/values.parquet       ValueRow        every measure of every head, run by run
    comparison/differences.parquet  DifferenceRow   what differs between two runs, how surely
    comparison/measures.parquet     MeasureRow      that over heads, measure by measure
    comparison/heads.parquet        ChangedHeadRow  how far each head moved
    comparison/changes.parquet      ChangeRow       verdicts gained and lost, roles changed
    comparison/counts.parquet       CountRow        heads per verdict and role

A pair is a run (`side`) and the one that it is held `against`: `difference` is side − against. Two
runs are one pair; of a series each is held against the one before it and against the first. Numbers
are means over the windows of the longest length (of the largest logit: the largest, which has no
standard error). Columns are null where a number does not exist.
"""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["verdict", "role"]


@dataclass(frozen=True)
class SideRow:
    """A run."""

    side: str  # its name here: the folder's, or the model's
    model: str  # its name
    quantisation: str | None  # what its weights went through; null: nothing known
    text: str  # its name
    length: int  # L, the longest of the run: the one that is compared
    windows: int  # of that length
    loss: float | None  # mean over windows, nats per token
    loss_error: float | None  # its standard error over windows; null with one
    warning: str | None  # why its numbers may be no result


class _Named:
    """A head."""

    layer: int  # place of the attention module among the model's, from 0
    occurrence: int  # 0, or the how-manieth call of a shared module
    module: str  # its name in the first run's model
    head: int  # from 0


class _Pair:
    """Two runs."""

    side: str  # the one whose change it is
    against: str  # the one it is held against


class ValueRow(_Named):
    """A measure of a head in a run."""

    measure: str  # its name, as in heads.parquet
    side: str  # the run
    value: float | None  # over the windows
    error: float | None  # standard error over windows


class DifferenceRow(_Named, _Pair):
    """A measure of a head in two runs."""

    measure: str  # its name, as in heads.parquet
    difference: float | None  # side − against
    error: float | None  # standard error; of the paired differences where windows are the same
    freedom: float | None  # its degrees of freedom
    beyond: bool | None  # more than two standard errors


class MeasureRow(_Pair):
    """A measure over all heads that both runs have a number of; the loss is one of them."""

    measure: str  # its name, or loss
    heads: int  # that both runs have a number of; 0 for the loss
    before: float | None  # mean over heads, of the run it is held against
    after: float | None  # likewise, of `side`
    difference: float | None  # after − before
    error: float | None  # its standard error over windows, in which heads move together
    paired: bool  # both ran on the same windows of the same text
    median: float | None  # of the heads' differences without their sign
    beyond: int | None  # heads that differ by more than two standard errors
    by_chance: float | None  # as many would if no head differed


class ChangedHeadRow(_Named, _Pair):
    """A head in two runs."""

    distance: float | None  # root mean square of its differences, each in standard deviations
    measure: str | None  # the one it moved farthest in, of those that the distance is made of
    difference: float | None  # in that
    error: float | None  # its standard error
    beyond: int | None  # measures that differ by more than two standard errors
    verdicts: str  # of `side`
    verdicts_before: str  # of the run it is held against
    role: str | None  # of `side`
    role_before: str | None  # of the run it is held against


class ChangeRow(_Named, _Pair):
    """A verdict that a head has in one of two runs alone, or a role that is another."""

    kind: Kind  # "verdict" or "role"
    before: str | None  # the verdict lost, or the role; null: gained
    after: str | None  # the verdict gained, or the role; null: lost
    measure: str | None  # what it was judged by
    number_before: float | None  # of that, in the run it is held against
    number_after: float | None  # in `side`
    line: float | None  # the threshold between them
    beyond: bool | None  # the numbers differ by more than two standard errors


class CountRow:
    """How many heads a verdict or a role names in a run."""

    side: str  # the run
    against: str | None  # null: the first run, held against nothing
    kind: Kind  # "verdict" or "role"
    name: str  # of the verdict or role
    heads: int  # that have it
    gained: int | None  # heads that have it now and had not
    lost: int | None  # heads that had it and have it no more


COMPARISON_TABLES: dict[str, type] = {
    "sides": SideRow,
    "values": ValueRow,
    "differences": DifferenceRow,
    "measures": MeasureRow,
    "heads": ChangedHeadRow,
    "changes": ChangeRow,
    "counts": CountRow,
}
