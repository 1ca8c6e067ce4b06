"""Means of drawn rows against the means of all: no bias, and an error that covers."""

import numpy as np
import pytest

from headgauge.theory.sampling import stratified_mean, stratified_places

DRAWS = 2000


def _population(kind: str, n: int = 403) -> np.ndarray:
    """Rows as attention has them: rough, with a trend over places, and with rare large ones."""
    source, places = np.random.default_rng(3), np.arange(n) / n
    rough = source.normal(size=n)
    return {
        "rough": rough,
        "trend": 3 * places + 0.3 * rough,
        "rare": np.where(source.random(n) < 0.1, 5.0, 0.0) + 0.1 * rough,
    }[kind]


@pytest.mark.parametrize("kind", ["rough", "trend", "rare"])
@pytest.mark.parametrize("some", [False, True])
def test_the_error_covers(kind: str, some: bool, unchecked: None) -> None:
    """Also where only some rows have the measure, and strata are of unequal width."""
    values = _population(kind)
    counted = np.arange(len(values)) > 90 if some else np.ones(len(values), bool)
    wanted = values[counted].mean()
    means, errors = [], []
    for seed in range(DRAWS):
        places, widths = stratified_places(len(values), 60, (seed,)).T
        mean, error = stratified_mean(
            values[None, places], widths.astype(float), counted[None, places]
        )
        means.append(mean.item())
        errors.append(error.item())
    away = np.abs(np.array(means) - wanted)
    spread = np.std(means)
    assert abs(np.mean(means) - wanted) < 4 * spread / DRAWS**0.5 + 0.01 * spread
    assert 0.92 < np.mean(away <= 2 * np.array(errors)) < 0.99
    # Never too small on average; a trend counts as spread.
    assert 0.95 < np.sqrt(np.mean(np.square(errors))) / spread < 1.3


def test_one_row_is_drawn_in_each_stratum() -> None:
    for seed in range(20):
        places, widths = stratified_places(100, 7, (seed, 1)).T
        edges = np.concatenate([[0], np.cumsum(widths)])
        assert widths.sum() == 100
        assert widths.max() - widths.min() == 1
        assert ((edges[:-1] <= places) & (places < edges[1:])).all()
    assert len({tuple(stratified_places(100, 7, (seed,))[:, 0]) for seed in range(20)}) == 20
    assert (stratified_places(100, 7, (1,)) == stratified_places(100, 7, (1,))).all()


def test_all_rows_have_no_error() -> None:
    values = _population("rough", 50)
    places, widths = stratified_places(50, 80, (0,)).T
    assert places.tolist() == list(range(50))
    mean, error = stratified_mean(values[None, places], widths.astype(float))
    assert mean.item() == pytest.approx(values.mean(), abs=1e-15)
    assert error.item() == 0.0


def test_without_a_number_there_is_none() -> None:
    values = np.array([[1.0, np.nan, 2.0], [1.0, np.inf, 2.0], [1.0, 3.0, 2.0]])
    widths, nobody = np.full(3, 4.0), np.zeros((3, 3), bool)
    assert np.isfinite(stratified_mean(values, widths)[0]).tolist() == [False, False, True]
    assert np.isnan(stratified_mean(values, widths, nobody)[0]).all()
    left_out = np.array([True, False, True])
    mean, error = stratified_mean(values, widths, left_out[None])
    assert mean.tolist() == [1.5, 1.5, 1.5]
    assert np.isfinite(error).all()
