"""What the tables of a training log hold.

    steps.parquet   LoggedStepRow   a line of the log
    heads.parquet   TrainedHeadRow  a head at a logged step
    alarms.parquet  AlarmRow        an alarm that was raised or cleared

They are written when the log is closed, from its lines. A measure is null where it was not taken
(the rows of some are sampled, spectra come every few thousand steps) and NaN or infinite where the
training was: a diverged loss stays one.
"""

from dataclasses import dataclass
from typing import Literal

AlarmState = Literal["raised", "cleared"]


@dataclass(frozen=True)
class LoggedStepRow:
    """A logged step of a training."""

    step: int  # optimiser steps done, from 1
    loss: float | None  # of the step, as the training told it
    every: int  # one step in so many is logged
    cost: float | None  # share of the time of the steps that went into watching
    notes: str | None  # what the monitor said, a line each


@dataclass(frozen=True)
class TrainedHeadRow:
    """A head at a logged step: over the rows of one micro-batch."""

    step: int
    layer: int  # place of the attention module among those watched, from 0
    head: int  # from 0
    entropy: float | None  # nats, mean over rows
    entropy_share: float | None  # mean of H/log n
    entropy_min: float | None  # nats, the smallest of a row
    collision_entropy: float | None  # nats, mean over rows
    max_logit: float | None  # the largest of all rows
    largest_weight: float | None  # p₁, mean over rows
    jacobian_lower: float | None  # p₁(1 − p₁), mean over rows
    jacobian_upper: float | None  # min(p₁, 2p₁(1 − p₁)), mean over rows
    jacobian_norm: float | None  # exact, mean over sampled rows
    separability: float | None  # N_s/N, mean over sampled rows
    sink_weight: float | None  # mean weight on the first token
    output_norm: float | None  # mean length of Σ α_i v_i
    qk_largest: float | None  # σ₁ of W_Qᵀ W_K, from the weights alone
    qk_stable_rank: float | None
    qk_spectral_entropy: float | None
    clip_factor: float | None  # by which QK-clip shrank its logits at this step


@dataclass(frozen=True)
class AlarmRow:
    """An alarm that was raised or cleared."""

    step: int
    alarm: str  # "entropy collapse", "logit growth", …
    layer: int | None  # null: of the whole model
    head: int | None
    value: float | None  # of the measure that the alarm looks at
    state: AlarmState


TRAINING_TABLES: dict[str, type] = {
    "heads": TrainedHeadRow,
    "steps": LoggedStepRow,
    "alarms": AlarmRow,
}
LOG = "log.jsonl"  # what they are made from
PLACE = ("step", "layer", "head")
SPECTRA = ("qk_largest", "qk_stable_rank", "qk_spectral_entropy")
# What a line may say of each head, spectra apart.
ROW_MEASURES = tuple(
    name for name in TrainedHeadRow.__annotations__ if name not in {*PLACE, *SPECTRA, "clip_factor"}
)
HEAD_NUMBERS = (*ROW_MEASURES, *SPECTRA, "clip_factor")
