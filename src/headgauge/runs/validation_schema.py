"""What the tables of a validation hold.

    validation/scores.parquet       ScoreRow        what a measure, verdict or role says of effects
    validation/reliability.parquet  ReliabilityRow  how far the effects themselves can be trusted
    validation/induction.parquet    InductionRow    the loss without the induction heads

`part` is the windows that were read: those a line is chosen on, those it is judged on, those of a
second text. Layer 0 stands alone, because what is true of it is often not true elsewhere; an
interval over layers it cannot have. Columns are null where a number does not exist.
"""

from dataclasses import dataclass

from headgauge.runs.columns import Finite, Share

PARTS = ("choosing", "judging", "second text")
DEEPER, FIRST = "layers from 1", "layer 0"


@dataclass(frozen=True)
class ScoreRow:
    """A measure, verdict or role beside the effects of the heads in a part.

    Only heads of one layer are compared. 95 % intervals are over layers; the adjusted ones hold all
    at once, for every comparison of the run.
    """

    part: str  # "choosing", "judging" or "second text"
    where: str  # "layers from 1" or "layer 0"
    kind: str  # "measure", "verdict" or "role"
    name: str
    heads: int  # that have both a number and an effect
    named: int | None  # of a verdict or role: heads that have it
    correlation: float | None  # Spearman's inside layers, with the effect
    correlation_low: float | None
    correlation_high: float | None
    pooled: float | None  # Spearman's over all heads, layers mixed
    auc: float | None  # above .5: a higher number goes with an effect below the layer's median
    auc_low: float | None
    auc_high: float | None
    auc_adjusted_low: float | None
    auc_adjusted_high: float | None
    smaller: float | None  # how often a named head has a smaller effect than another of its layer
    smaller_low: float | None
    smaller_high: float | None
    smaller_adjusted_low: float | None
    smaller_adjusted_high: float | None
    line: float | None  # of the measure (of a verdict: its measure), chosen on the choosing part
    direction: str | None  # above or below: the side that is taken for effects below the median
    line_accuracy: float | None  # balanced accuracy of that line here; .5 by chance
    effect_named: float | None  # mean over the heads named
    effect_others: float | None  # and over the others of their layers
    none_named: float | None  # share of them with an effect of zero or less
    none_others: float | None
    control: float | None  # share of random sets of as many heads of these layers that have less


@dataclass(frozen=True)
class ReliabilityRow:
    """The effects in a part, and how they agree with those in the choosing part."""

    part: str
    where: str
    heads: int
    windows: int
    effect: float  # mean over heads
    none: Share  # share of heads with an effect of zero or less
    sure: float | None  # share beyond 2 standard errors over windows
    sure_by_chance: float | None  # share that would be if no head had an effect
    correlation: float | None  # Spearman's inside layers, with the effects in the choosing part
    correlation_low: float | None
    correlation_high: float | None


@dataclass(frozen=True)
class InductionRow:
    """The rise of the loss without some heads, all at once: nats per token."""

    draw: int  # 0: the heads with the highest induction score; else random ones of their layers
    heads: str  # their names
    repeated: Finite  # on the second half of fresh repeated random tokens
    natural: Finite  # on the windows of the judging part


VALIDATION_TABLES: dict[str, type] = {
    "scores": ScoreRow,
    "reliability": ReliabilityRow,
    "induction": InductionRow,
}
