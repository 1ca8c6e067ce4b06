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
    # A trend counts as spread.
    assert 0.95 < np.sqrt(np.mean(np.square(errors))) / spread < 1.3


_PLACES = np.arange(1024) / 1024
_FEW = {
    "the last": _PLACES >= 1 - 4 / 64,
    "here and there": np.random.default_rng(4).random(1024) < 4 / 64,
    "among all": np.ones(1024, bool),
}


@pytest.mark.parametrize("which", _FEW)
@pytest.mark.parametrize("spread", ["even", "at the ends", "trend"])
def test_the_error_of_few_rows_is_not_too_small(which: str, spread: str, unchecked: None) -> None:
    """Two to ten counted rows, also where the first and last strata have all of the spread."""
    rough = np.random.default_rng(5).normal(size=1024)
    at_ends = np.abs(_PLACES - 0.5) > 0.5 - 1 / 8
    values = {
        "even": rough,
        "at the ends": np.where(at_ends, rough, 0.0),
        "trend": 3 * _PLACES + rough,
    }[spread]
    counted = _FEW[which]
    drawn = [stratified_places(1024, 8 if which == "among all" else 64, (s,)) for s in range(DRAWS)]
    rows = np.stack([each[:, 0] for each in drawn])
    enough = counted[rows].sum(1) > 1
    mean, error = stratified_mean(values[rows], drawn[0][:, 1].astype(float), counted[rows])
    away = mean[enough] - values[counted].mean()
    assert 0.97 < np.sqrt((error[enough] ** 2).mean() / (away**2).mean()) < 1.6
    if spread == "even":
        assert np.mean(np.abs(away) <= 2 * error[enough]) > 0.8
    assert np.isnan(error[counted[rows].sum(1) == 1]).all()


def test_the_error_is_that_of_its_formula() -> None:
    """Gaps inside count as zeros, rows before the first and behind the last not at all."""
    values, widths = np.array([9.0, 1.0, 9.0, 4.0, 2.0, 9.0]), np.full(6, 3.0)
    counted = np.array([False, True, False, True, True, False])
    mean, error = stratified_mean(values[None], widths, counted[None])
    e = 3 * np.array([1 - 7 / 3, 0.0, 4 - 7 / 3, 2 - 7 / 3])
    squares = np.diff(e) ** 2 @ [2, 1, 2]
    assert mean.item() == pytest.approx(7 / 3)
    assert error.item() == pytest.approx(((1 - 6 / 18) * 3 / 2 * squares / 2) ** 0.5 / 9)
    # Of several measures at once, those before the rows.
    both = np.broadcast_to(values, (2, 3, 6))
    assert np.allclose(stratified_mean(both, widths, counted[None, None])[1], error.item())
    assert stratified_mean(both, widths)[1].shape == (2, 3)


def test_one_row_of_several_has_no_error() -> None:
    values, widths = np.array([[5.0, 1.0, 2.0]]), np.full(3, 4.0)
    mean, error = stratified_mean(values, widths, np.array([[True, False, False]]))
    assert mean.item() == 5.0
    assert np.isnan(error).all()
    assert stratified_mean(values, np.ones(3), np.array([[True, False, False]]))[1].item() == 0.0


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
