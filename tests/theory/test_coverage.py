import pytest

from headgauge.theory import coverage


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
