"""Does a number go with another, head by head? Compared inside layers, with intervals over them.

What a head is worth differs by orders of magnitude between layers, so only heads of one layer are
compared with each other; `groups` says which layer a head belongs to. What is found in the layers
is added up, and the layers are the sample: heads of one layer share its input and are no
independent cases.

Both statistics are ratios of sums over layers. Their interval is the jackknife's, which leaves out
one layer at a time, with Student's t for as many layers as have a say. Resampling layers gives
about the same at 95 %; but an interval that allows for hundreds of comparisons needs tails of
1e-4, and a resampling would have to be drawn millions of times to have them. The jackknife sees no
spread where a few layers agree by luck. So the interval also holds every true value that shuffling
the heads of each layer makes likely enough (Wilson's interval, with the shuffled statistic's own
standard error, for which there is a formula).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy import stats

Numbers = Float[np.ndarray, "heads"]
Groups = Int[np.ndarray, "heads"]
Labels = Bool[np.ndarray, "heads"]


@dataclass(frozen=True, eq=False)
class Statistic:
    """A ratio of sums over layers, between −1 and 1 or, `area`, between 0 and 1.

    `without` has it without each layer in turn; `shuffled` is its standard error if the two numbers
    had nothing to do with each other.
    """

    value: float
    without: Float[np.ndarray, "layers"]
    shuffled: float
    area: bool = False

    def interval(self, level: float) -> tuple[float, float] | None:
        """The wider, on each side, of two intervals; none where a single layer has a say.

        The jackknife's: θ ± t·√((K−1)/K Σ (θ₋ₖ − mean)²). Wilson's: all v₀ with
        |v − v₀| ≤ tσ√(1 − v₀²), where v is θ, or 2θ − 1 of an area, and σ its shuffled error.
        """
        layers, scale = len(self.without), 2 if self.area else 1
        if layers < 2:
            return None
        t = float(stats.t.isf((1 - level) / 2, layers - 1))
        v, reach = scale * self.value - (scale - 1), t * scale * self._jackknife()
        c = (t * scale * self.shuffled) ** 2
        root = math.sqrt(c * (1 + c - v * v))
        low = max(-1.0, min(v - reach, (v - root) / (1 + c)))
        high = min(1.0, max(v + reach, (v + root) / (1 + c)))
        return (low + scale - 1) / scale, (high + scale - 1) / scale

    def _jackknife(self) -> float:
        return math.sqrt((len(self.without) - 1) * float(self.without.var()))


def rank_correlation(x: Numbers, y: Numbers, groups: Groups) -> Statistic | None:
    """Spearman's ρ inside layers: with ranks a, b about their layer's mean, ties averaged,
    Σ ab / √(Σ a² Σ b²) over the layers where both vary. None where there is no such layer.

    Shuffled, Σ ab of a layer of n heads has the variance Σ a² Σ b²/(n − 1).

    >>> layers = np.array([0, 0, 0, 1, 1, 1])
    >>> up = np.array([1.0, 2.0, 3.0, 100.0, 200.0, 300.0])
    >>> rank_correlation(up, np.array([5.0, 6.0, 7.0, 1.0, 2.0, 3.0]), layers).value
    1.0
    """
    sums = []
    for here in _layers(groups):
        a, b = (stats.rankdata(each[here]) - (here.sum() + 1) / 2 for each in (x, y))
        if a.any() and b.any():
            squares = a @ a, b @ b
            sums.append([a @ b, *squares, math.prod(squares) / (here.sum() - 1)])

    def value(total: Float[np.ndarray, "4"]) -> float:
        return float(total[0] / math.sqrt(total[1] * total[2]))

    if not sums:
        return None
    total, left = _left_out(np.array(sums))
    shuffled = math.sqrt(total[3] / (total[1] * total[2]))
    return Statistic(value(total), np.array([value(each) for each in left]), shuffled)


def above_others(score: Numbers, chosen: Labels, groups: Groups) -> Statistic | None:
    """How often a chosen head has a higher score than another of its layer that is not chosen: the
    share of all such pairs, a tie counting half. This is the area under the ROC curve, stratified
    by layer; of a score that is 0 or 1 it is the balanced accuracy. None where there is no pair.

    Shuffled, the wins of m chosen of n heads have the variance m(n−m)/12·(n + 1 − Σ(t³−t)/(n(n−1)))
    with t heads in each tie (Mann and Whitney).

    >>> layers = np.array([0, 0, 0, 1, 1])
    >>> chosen = np.array([True, False, False, True, False])
    >>> above_others(np.array([2.0, 1.0, 3.0, 8.0, 9.0]), chosen, layers).value  # 1 of 3 pairs
    0.3333333333333333
    """
    sums = []
    for here in _layers(groups):
        named, heads = int(chosen[here].sum()), int(here.sum())
        if 0 < named < heads:
            ranks = stats.rankdata(score[here])
            wins = ranks[chosen[here]].sum() - named * (named + 1) / 2
            _, ties = np.unique(score[here], return_counts=True)
            tied = (ties**3 - ties).sum() / (heads * (heads - 1))
            pairs = named * (heads - named)
            sums.append([wins, pairs, pairs / 12 * (heads + 1 - tied)])
    if not sums:
        return None
    total, left = _left_out(np.array(sums))
    shuffled = math.sqrt(total[2]) / total[1]
    return Statistic(float(total[0] / total[1]), left[:, 0] / left[:, 1], shuffled, area=True)


def below_median(values: Numbers, groups: Groups) -> Labels:
    """Which heads lie below their layer's median; one at the median does not.

    >>> below_median(np.array([1.0, 2.0, 3.0, 50.0, 70.0]), np.array([0, 0, 0, 1, 1])).tolist()
    [True, False, False, True, False]
    """
    below = np.zeros(len(values), dtype=bool)
    for here in _layers(groups):
        below[here] = values[here] < np.median(values[here])
    return below


@dataclass(frozen=True)
class Line:
    """Heads on one side of `value` are taken for those with the label."""

    value: float
    above: bool

    def holds(self, score: Numbers) -> Labels:
        return score > self.value if self.above else score < self.value


def best_line(score: Numbers, label: Labels, groups: Groups) -> Line | None:
    """The line, half-way between two scores, with the largest balanced accuracy inside layers.

    Of the line c it is ½ + ½ Σ w [score > c]/Σ pairs, where a head weighs as much as its layer has
    heads of the other kind, those without the label negatively: one walk along the sorted scores
    finds the best. None where the scores are all alike or no layer has both kinds.

    >>> layers = np.array([0, 0, 0, 0])
    >>> best_line(np.array([1.0, 2.0, 5.0, 9.0]), np.array([True, True, False, False]), layers)
    Line(value=3.5, above=False)
    """
    weights = np.zeros(len(score))
    for here in _layers(groups):
        mine = label[here]
        weights[here] = np.where(mine, (~mine).sum(), -mine.sum())
    places, where = np.unique(score, return_inverse=True)
    if len(places) < 2 or not weights.any():
        return None
    at = np.bincount(where, weights, len(places))
    beyond = at.sum() - at.cumsum()[:-1]  # of the heads above the middle of two places
    best = int(np.abs(beyond).argmax())
    return Line(float(places[best] + places[best + 1]) / 2, bool(beyond[best] > 0))


def share_of_draws_below(
    values: Numbers, chosen: Labels, groups: Groups, draws: int, seed: int
) -> float | None:
    """Where the chosen heads' mean lies among those of as many heads drawn from the same layers:
    the share of the draws with a smaller mean, equal ones by half. None without chosen heads."""
    if not chosen.any():
        return None
    source, total = np.random.default_rng(seed), np.zeros(draws)
    for here in _layers(groups):
        order = source.random((draws, here.sum())).argsort(1)[:, : chosen[here].sum()]
        total += values[here][order].sum(1)
    # Sums of the same numbers in another order differ in their last digits.
    apart = total - values[chosen].sum()
    tied = np.abs(apart) <= 1e-12 * np.abs(values).sum()
    return float(np.where(tied, 0.5, apart < 0).mean())


def _layers(groups: Groups) -> Iterator[Labels]:
    """For each layer which heads are its own."""
    return (groups == each for each in np.unique(groups))


def _left_out(
    sums: Float[np.ndarray, "layers parts"],
) -> tuple[Float[np.ndarray, "parts"], Float[np.ndarray, "left parts"]]:
    """The sums over all layers, and over all but each; over one layer alone there are none."""
    total = sums.sum(0)
    return total, (total - sums if len(sums) > 1 else sums[:0])
