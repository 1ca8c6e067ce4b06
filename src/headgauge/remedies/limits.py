"""What turns the change of a loss into a word, fixed before a run.

The change is the loss under a remedy less that of the model as it is, window by window; the windows
are the sample. Its interval is Student's, so wide that those of all remedies of a run hold at once
with 95 % (Bonferroni). Random heads of the same layers have no say in the word: it tells what the
remedy did, they tell whether the verdict chose the heads.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from scipy import stats

LEVEL = 0.95
SMALL = 0.005  # nats per token: half a percent of the perplexity
WINDOWS = 4  # judged

HELPS, HARM = "helps", "does harm"
NOTHING, UNDECIDED = "no difference seen", "undecided"
WORDS = {
    HELPS: "the whole interval of the change lies below zero",
    HARM: "it lies above zero",
    NOTHING: f"it stays within {SMALL} nats per token of zero, on whichever side",
    UNDECIDED: "it allows for both, or one window says nothing of others",
}


def calibration_windows(windows: int) -> int:
    """How many windows choose among candidates, beside those that are judged."""
    return max(1, windows // 2)


@dataclass(frozen=True)
class Change:
    """A mean over windows, its standard error and the ends of its interval; None where one window
    gives none."""

    mean: float
    error: float | None
    low: float | None
    high: float | None

    @property
    def word(self) -> str:
        if self.low is None or self.high is None:
            return UNDECIDED
        if self.low >= -SMALL and self.high <= SMALL:
            return NOTHING
        if self.high < 0:
            return HELPS
        return HARM if self.low > 0 else UNDECIDED


def change(paired: Sequence[float], comparisons: int) -> Change:
    """Of the differences of the windows, where as many remedies are looked at together.

    >>> found = change([0.02, 0.03, 0.025, 0.024], 1)
    >>> found.word, round(found.mean, 3), round(found.low, 3), round(found.high, 3)
    ('does harm', 0.025, 0.018, 0.031)
    """
    mean = fmean(paired)
    if len(paired) < 2:
        return Change(mean, None, None, None)
    error = stdev(paired) / math.sqrt(len(paired))
    beyond = (1 - LEVEL) / max(comparisons, 1)
    reach = float(stats.t.isf(beyond / 2, len(paired) - 1)) * error
    return Change(mean, error, mean - reach, mean + reach)
