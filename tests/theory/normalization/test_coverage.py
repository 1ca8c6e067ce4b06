import itertools

import pytest
import torch

from headgauge.theory.normalization import coverage


def test_the_papers_arithmetic():
    assert coverage.multi_head_coverage(0.8, 3) == pytest.approx(0.992)
    assert coverage.multi_head_coverage(0.8, 0) == 0


@pytest.mark.parametrize(
    ("p", "target", "heads"),
    [(0.8, 0.99, 3), (0.7, 0.99, 4), (0.9, 0.99, 2), (0.5, 0.5, 1), (1.0, 0.999, 1), (0.1, 0.0, 1)],
)
def test_heads_needed_is_the_smallest(p, target, heads):
    assert coverage.heads_needed(p, target) == heads
    assert coverage.multi_head_coverage(p, heads) >= target - 1e-12


@pytest.mark.parametrize(("p", "target"), [(0.0, 0.9), (0.5, 1.0), (1.5, 0.9)])
def test_the_impossible_is_refused(p, target):
    with pytest.raises(ValueError, match=f"got {p}, {target}"):
        coverage.heads_needed(p, target)


def _separable(seed: int, heads: int, keys: int, share: float) -> torch.Tensor:
    return torch.rand(heads, keys, generator=torch.Generator().manual_seed(seed)) < share


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("heads", "keys"), [(1, 5), (3, 4), (5, 16), (6, 1)])
def test_several_heads_against_every_set_of_them(seed, heads, keys):
    separable = _separable(seed, heads, keys, (0.1, 0.5, 0.9)[seed % 3])
    for size in range(1, heads + 1):
        sets = [list(each) for each in itertools.combinations(range(heads), size)]
        union = [float(separable[each].any(0).double().mean()) for each in sets]
        assert float(coverage.shared_coverage(separable, size)) == pytest.approx(
            sum(union) / len(union), abs=1e-12
        )
        misses = 1 - separable.double().mean(-1)
        alone = [1 - float(misses[each].prod()) for each in sets]
        assert float(coverage.independent_coverage(separable, size)) == pytest.approx(
            sum(alone) / len(alone), abs=1e-12
        )


def test_heads_that_miss_the_same_keys_cover_less_than_independent_ones():
    """All miss the same half: three cover a half, independent ones seven eighths."""
    same = torch.tensor([[True, False]] * 3)
    assert float(coverage.shared_coverage(same, 3)) == 0.5
    assert float(coverage.independent_coverage(same, 3)) == coverage.multi_head_coverage(0.5, 3)
    # And different halves more.
    other = torch.tensor([[True, False], [False, True]])
    assert float(coverage.shared_coverage(other, 2)) == 1.0
    assert float(coverage.independent_coverage(other, 2)) == 0.75


def test_one_head_covers_what_it_separates():
    separable = torch.stack([_separable(seed, 4, 9, 0.6) for seed in range(3)])
    alone = separable.double().mean((-2, -1))
    assert torch.allclose(coverage.shared_coverage(separable, 1), alone)
    assert torch.allclose(coverage.independent_coverage(separable, 1), alone)


def test_more_heads_cover_no_less():
    separable = _separable(1, 9, 20, 0.4)
    for measure in (coverage.shared_coverage, coverage.independent_coverage):
        found = [float(measure(separable, size)) for size in range(1, 10)]
        assert found == sorted(found)


@pytest.mark.parametrize("heads", [0, 4])
def test_sets_that_there_are_not_are_refused(heads):
    for measure in (coverage.shared_coverage, coverage.independent_coverage):
        with pytest.raises(ValueError, match=f"needs 1 <= heads <= 3, got {heads}"):
            measure(_separable(0, 3, 5, 0.5), heads)
