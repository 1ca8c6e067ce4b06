"""Statistics inside layers against plain loops over pairs, and what their intervals promise."""

import numpy as np
import pytest
from scipy import stats

from headgauge.theory import statistics
from headgauge.theory.statistics import Statistic, below_median, best_line, share_of_draws_below


def above_others(*given) -> Statistic:
    found = statistics.above_others(*given)
    assert found is not None
    return found


def rank_correlation(*given) -> Statistic:
    found = statistics.rank_correlation(*given)
    assert found is not None
    return found


def heads(seed: int, layers: int = 20, each: int = 9):
    source = np.random.default_rng(seed)
    return source, np.repeat(np.arange(layers), each)


def test_pairs_of_one_layer_against_a_loop():
    source, groups = heads(0, 4, 5)
    score = source.integers(0, 4, len(groups)).astype(float)  # with ties
    chosen = source.random(len(groups)) < 0.4
    wins, pairs = 0.0, 0
    for i in np.flatnonzero(chosen):
        for j in np.flatnonzero(~chosen & (groups == groups[i])):
            wins, pairs = wins + (score[i] > score[j]) + 0.5 * (score[i] == score[j]), pairs + 1
    found = above_others(score, chosen, groups)
    assert found.value == pytest.approx(wins / pairs)
    for place, layer in enumerate(np.unique(groups)):
        rest = groups != layer
        left = above_others(score[rest], chosen[rest], groups[rest])
        assert found.without[place] == pytest.approx(left.value)


def test_of_one_layer_the_correlation_is_spearmans_and_layers_scale_nothing():
    source, groups = heads(1, 1, 12)
    x, y = source.integers(0, 6, 12).astype(float), source.normal(size=12)
    found = rank_correlation(x, y, groups)
    assert found.value == pytest.approx(stats.spearmanr(x, y)[0])
    assert found.interval(0.95) is None  # one layer does not say how others would differ
    source, groups = heads(2)
    x, y = source.normal(size=(2, len(groups)))
    plain, scaled = (rank_correlation(x, each, groups) for each in (y, y * 10.0**groups))
    assert plain.value == scaled.value


def test_shuffled_errors_are_those_of_shuffling(unchecked):
    source, groups = heads(3, 6, 7)
    score = source.integers(0, 5, len(groups)).astype(float)
    other, chosen = source.normal(size=len(groups)), source.random(len(groups)) < 0.4
    seen = []
    for _ in range(300):
        order = np.lexsort((source.random(len(groups)), groups))  # inside each layer
        pair = (
            above_others(score[order], chosen, groups),
            rank_correlation(score[order], other, groups),
        )
        seen.append([each.value for each in pair])
    spread = np.array(seen).std(0)
    first, second = above_others(score, chosen, groups), rank_correlation(score, other, groups)
    assert [first.shuffled, second.shuffled] == pytest.approx(spread, rel=0.12)


@pytest.mark.parametrize("strength", [0.0, 0.7])
def test_intervals_hold_the_truth_as_often_as_they_say(strength: float, unchecked):
    """Layers differ in how strongly the score drives the effect, as those of models do."""

    def drawn(seed: int, layers: int):
        source, groups = heads(seed, layers)
        score = source.normal(size=len(groups))
        slope = strength * (0.5 + source.random(layers))[groups]
        effect = (source.normal(size=len(groups)) - slope * score) * 10.0 ** -(groups % 4)
        area = above_others(score, below_median(effect, groups), groups)
        ranks = rank_correlation(score, effect, groups)
        return area, ranks

    truth = [each.value for each in drawn(0, 800)]
    inside = {0.95: np.zeros(2), 0.999: np.zeros(2)}
    for seed in range(1, 121):
        for place, found in enumerate(drawn(seed, 20)):
            for level, counts in inside.items():
                low, high = found.interval(level) or (1, 0)
                counts[place] += low <= truth[place] <= high
    assert all(0.91 <= share <= 0.99 for share in inside[0.95] / 120)
    assert (inside[0.999] / 120 >= 0.98).all()


def test_a_few_layers_that_agree_by_luck_prove_little():
    """One head in each of three layers, each the lowest of nine: the jackknife sees no spread."""
    groups = np.repeat(np.arange(3), 9)
    effect = np.tile(np.arange(9.0), 3)
    found = above_others(-effect, effect == 0, groups)
    assert (found.value, np.ptp(found.without)) == (1, 0)
    low, _ = found.interval(0.999) or (1, 1)
    assert low < 0.5


def test_the_best_line_is_the_best_of_all_lines():
    source, groups = heads(5, 3, 6)
    score = source.integers(0, 9, len(groups)).astype(float)
    label = below_median(source.normal(size=len(groups)), groups)
    line = best_line(score, label, groups)
    assert line is not None

    def accuracy(held) -> float:
        return above_others(held.astype(float), label, groups).value

    every = [accuracy(score > cut) for cut in np.arange(-0.5, 9)]
    assert accuracy(line.holds(score)) == pytest.approx(max(every + [1 - each for each in every]))
    assert best_line(np.ones(len(groups)), label, groups) is None


def test_where_the_chosen_lie_among_random_heads_of_their_layers():
    source, groups = heads(6)
    effect = source.normal(size=len(groups)) + 5.0 * groups
    lowest = np.array([effect[i] == effect[groups == groups[i]].min() for i in range(len(groups))])
    assert share_of_draws_below(effect, lowest, groups, 500, 0) == 0
    assert share_of_draws_below(-effect, lowest, groups, 500, 0) == 1
    whole = groups == 3  # all heads of a layer: every draw is the same
    assert share_of_draws_below(effect, whole, groups, 500, 0) == 0.5
    any_heads = source.random(len(groups)) < 0.3
    share = share_of_draws_below(effect, any_heads, groups, 500, 0)
    assert share not in (0, 0.5, 1)
    assert share_of_draws_below(effect, groups < 0, groups, 500, 0) is None
