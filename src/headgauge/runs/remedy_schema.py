"""What the tables of tried remedies hold.

    remedies/trials.parquet    TrialRow    what came of each remedy, over all judged windows
    remedies/losses.parquet    LossRow     the loss of every window under it, named and random heads
    remedies/numbers.parquet   NumberRow   what heads are judged by, before and under it
    remedies/sets.parquet      SetRow      the heads it was tried on
    remedies/choices.parquet   CandidateRow  its candidates on the calibration windows
    remedies/untried.parquet   UntriedRow  what of a remedy cannot be tried on a trained model

A `draw` of 0 is the heads that have the verdict; others are random heads of the same layers that do
not have it. Losses are in nats per token. Columns are null where a number does not exist.
"""

from dataclasses import dataclass

from headgauge.runs.columns import Finite, Share, Size
from headgauge.runs.schema import OfHead


@dataclass(frozen=True)
class OfRemedy:
    """What names a remedy of a verdict."""

    verdict: str  # that the heads have
    remedy: str  # the rule that is swapped into the heads, or "mean": their means in their place


@dataclass(frozen=True)
class TrialRow(OfRemedy):
    """A remedy on all heads that have the verdict, at once, and on random ones.

    The interval is over windows, of paired differences, and allows for all remedies of the run.
    """

    rule: str  # the candidate that was chosen, with its parameters
    word: str  # "helps", "does harm", "no difference seen" or "undecided"
    heads: Size  # that have the verdict on the scan's windows
    layers: Size  # in which they lie
    windows: Size  # judged
    loss: Finite | None  # of the model as it is, mean over the judged windows
    change: Finite | None  # of the loss under the remedy, mean over windows; null: not finite
    error: float | None  # its standard error over windows; null with one
    low: float | None  # the interval's lower end
    high: float | None  # the upper one
    draws: int  # of random heads; 0 where their layers have no others
    random_heads: int  # in each: fewer than `heads` where a layer has too few others
    random: float | None  # mean change over draws and windows
    random_low: float | None  # the least of the draws
    random_high: float | None  # the most of them
    random_better: float | None  # share of the draws whose change per head is smaller
    measure: str | None  # what names most of the heads; null where they are taken out
    before: float | None  # its mean over the heads, on the judged windows
    after: float | None  # under the remedy
    held: int | None  # heads that have the verdict on the judged windows too
    left: int | None  # and that have it under the remedy
    random_before: float | None  # `before` of the first draw of random heads
    random_after: float | None  # `after` of it
    random_held: int | None  # `held` of it: others may have the verdict on other windows
    random_left: int | None  # `left` of it


@dataclass(frozen=True)
class LossRow(OfRemedy):
    """A window under a remedy."""

    draw: int  # 0: the heads that have the verdict; else random ones of their layers
    window: int  # of those that are judged, from 0
    clean: Finite | None  # the loss of the model as it is
    change: Finite | None  # under the remedy


class NumberRow(OfHead):
    """A number by which a head is judged, in a judged window."""

    verdict: str  # that it decides
    remedy: str | None  # null: the model as it is
    draw: int  # the set that the head belongs to, 0 or 1
    measure: str  # its name, as a threshold has it
    seen: str  # as in heads.parquet
    number: float | None  # in this window


@dataclass(frozen=True)
class SetRow:
    """Heads on which remedies of a verdict are tried together."""

    verdict: str  # that those of draw 0 have, and the others do not
    draw: int  # 0: the heads that have the verdict; else random ones of their layers
    count: int  # of heads
    heads: str  # their names


@dataclass(frozen=True)
class CandidateRow(OfRemedy):
    """A candidate on the windows that choose among several."""

    rule: str  # with its parameters
    windows: Size  # that choose
    change: Finite | None  # of the loss, mean over these windows
    chosen: bool  # whether it is the one that is judged


@dataclass(frozen=True)
class UntriedRow:
    """A verdict whose remedy, or a part of it, needs training."""

    verdict: str  # that some head has
    heads: Size  # that have it on the scan's windows
    share: Share  # of all heads
    remedy: str  # in words
    why: str  # it cannot be tried on a trained model


REMEDY_TABLES: dict[str, type] = {
    "trials": TrialRow,
    "losses": LossRow,
    "numbers": NumberRow,
    "sets": SetRow,
    "choices": CandidateRow,
    "untried": UntriedRow,
}
