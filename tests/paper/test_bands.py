import numpy as np
import polars as pl
import pytest

from headgauge.paper.bands import bootstrap, over_heads
from headgauge.runs.paper_schema import FigureRow
from headgauge.runs.schema import PaperCurveRow, frame_schema


def test_a_single_window_has_no_interval():
    assert bootstrap(np.array([3.0]), 0) == (None, None)


def test_the_interval_is_around_the_mean_and_inside_the_values():
    values = np.array([1.0, 2.0, 4.0, 9.0, 11.0])
    low, high = bootstrap(values, 0)
    assert low is not None
    assert high is not None
    assert 1 <= low < values.mean() < high <= 11
    # Two values: a quarter of the draws have the smaller twice.
    assert bootstrap(np.array([0.0, 1.0]), 3) == (0.0, 1.0)
    assert bootstrap(np.full(4, 2.5), 0) == (2.5, 2.5)


def test_the_interval_is_that_of_a_mean():
    """Of many values it is ± 1.96 standard errors."""
    values = np.random.default_rng(0).normal(size=400)
    low, high = bootstrap(values, 1)
    assert low is not None
    assert high is not None
    assert high - low == pytest.approx(2 * 1.96 * values.std() / 20, rel=0.1)


def test_the_seed_decides():
    values = np.random.default_rng(0).normal(size=9)
    assert bootstrap(values, 1) == bootstrap(values, 1)
    assert bootstrap(values, 1) != bootstrap(values, 2)
    low, high = bootstrap(values + 5, 1)
    assert (low, high) == pytest.approx(tuple(5 + x for x in bootstrap(values, 1) if x is not None))


def _curves(values: np.ndarray) -> pl.DataFrame:
    """(windows, heads) distances at one place."""
    schema = frame_schema(PaperCurveRow)
    rows = [
        dict.fromkeys(schema)
        | {
            "window": window, "length": 64, "layer": head // 3, "occurrence": 0, "module": "m",
            "head": head % 3, "top_n": 5, "vectors": "final", "scale": "unit", "keys": "all",
            "rule": "model", "rows": 10 + 20 * window, "distance": None if np.isnan(v) else v,
            "radius": 1.0,
        }
        for (window, head), v in np.ndenumerate(values)
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=schema)


def test_a_row_has_the_means_and_the_spread_of_the_heads():
    values = np.random.default_rng(0).normal(size=(3, 7))
    found = over_heads(_curves(values), ("distance",))
    assert dict(found.schema) == dict(frame_schema(FigureRow))
    row = found.row(0, named=True)
    heads = values.mean(0)
    wanted = {
        "mean": values.mean(),
        "minimum": heads.min(),
        "q25": np.percentile(heads, 25),
        "median": np.median(heads),
        "q75": np.percentile(heads, 75),
        "maximum": heads.max(),
        "rows": 30.0,
    }
    for name, value in wanted.items():
        assert row[name] == pytest.approx(value, rel=1e-12), name
    assert (row["heads"], row["windows"]) == (7, 3)
    assert (row["low"], row["high"]) == pytest.approx(bootstrap(values.mean(1), 0))


def test_heads_without_a_number_are_left_out():
    values = np.array([[1.0, np.nan, 5.0]])
    found = over_heads(_curves(values), ("distance", "radius"))
    distance, radius = (found.row(by_predicate=pl.col("measure") == m, named=True) for m in
                        ("distance", "radius"))  # fmt: skip
    assert (distance["mean"], distance["heads"], distance["low"]) == (3.0, 2, None)
    assert radius["heads"] == 3
    assert over_heads(_curves(values), ("bound_upper",)).is_empty()


def test_the_order_of_the_rows_does_not_show():
    curves = _curves(np.random.default_rng(1).normal(size=(4, 9)) * 10.0 ** np.arange(9))
    found = over_heads(curves, ("distance", "radius"))
    for seed in range(3):
        again = over_heads(
            curves.sample(fraction=1, shuffle=True, seed=seed), ("radius", "distance")
        )
        assert again.equals(found)
