"""The words, and the interval behind them."""

import math

import pytest
from scipy import stats

from headgauge.remedies.limits import (
    HARM,
    HELPS,
    NOTHING,
    SMALL,
    UNDECIDED,
    Change,
    calibration_windows,
    change,
)


def test_the_interval_is_students_and_allows_for_all_remedies() -> None:
    paired = [0.1, 0.2, 0.4, 0.1]
    one, nine = change(paired, 1), change(paired, 9)
    alone = stats.t.interval(0.95, 3, loc=0.2, scale=stats.sem(paired))
    assert (one.low, one.high) == pytest.approx(alone)
    assert one.mean == pytest.approx(0.2)
    assert one.error == pytest.approx(float(stats.sem(paired)))
    wider = stats.t.interval(1 - 0.05 / 9, 3, loc=0.2, scale=stats.sem(paired))
    assert (nine.low, nine.high) == pytest.approx(wider)


@pytest.mark.parametrize(
    ("low", "high", "word"),
    [
        (-0.02, -0.01, HELPS),
        (0.01, 0.02, HARM),
        (-SMALL, SMALL, NOTHING),
        (0.1 * SMALL, SMALL, NOTHING),  # a difference, and one that does not matter
        (-0.1 * SMALL, 1.1 * SMALL, UNDECIDED),
        (-0.02, 0.01, UNDECIDED),
        (0.9 * SMALL, 1.1 * SMALL, HARM),
        (None, None, UNDECIDED),
    ],
)
def test_a_word_for_each_interval(low: float | None, high: float | None, word: str) -> None:
    assert Change(0.0, None, low, high).word == word


def test_one_window_says_nothing_of_others() -> None:
    found = change([3.0], 4)
    assert (found.mean, found.error, found.low, found.word) == (3.0, None, None, UNDECIDED)


def test_as_many_windows_choose_as_can_be_spared() -> None:
    assert [calibration_windows(each) for each in (1, 2, 3, 4, 8)] == [1, 1, 1, 2, 4]
    assert math.isclose(SMALL, 0.005)  # what docs/remedies.md says
