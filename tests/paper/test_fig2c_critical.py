import itertools
import warnings
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import ks_2samp

from headgauge.paper import fig2c_critical
from headgauge.paper.fig2c_critical import Samples, fewer, head_counts, p_value, rejected_from

LENGTH = 50


def _p_value(size: int, gap: int) -> float:
    """Of two samples whose cumulated counts are `gap` apart where they are most."""
    first = np.arange(size)
    with warnings.catch_warnings():
        # Next to 1 scipy's exact sum may be above 1 by rounding; then it takes the limit, which is
        # near 1 as well.
        warnings.filterwarnings("ignore", "ks_2samp: Exact calculation unsuccessful")
        statistic, found = _tested(first, first + gap - 0.5)
    assert round(statistic * size) == gap
    return found


def _tested(first: np.ndarray, second: np.ndarray) -> tuple[float, float]:
    found: Any = ks_2samp(first, second)
    return float(found.statistic), float(found.pvalue)


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 12, 31, 144])
def test_the_gap_that_is_rejected_is_scipys(size):
    values = {gap: _p_value(size, gap) for gap in range(1, size + 1)}
    for level in (0.001, 0.01, 0.05, 0.2):
        wanted = next((gap for gap, p in values.items() if p < level), size + 1)
        assert rejected_from(size, level) == wanted, level
    for gap, wanted in values.items():
        if wanted < 0.9:
            assert p_value(gap, size) == pytest.approx(wanted, rel=1e-8, abs=1e-300), gap
        else:
            assert 0.9 <= p_value(gap, size) <= 1
    assert p_value(0, size) == 1


def _samples(distance: np.ndarray, expectation: np.ndarray) -> Samples:
    top_ns = tuple(range(1, len(distance) + 1))
    return Samples(top_ns, distance, expectation, (9.0,) * len(distance))


@pytest.mark.parametrize("ties", [False, True])
def test_gaps_are_the_statistic(ties):
    draw = np.random.default_rng(0)
    a, b = draw.normal(size=(2, 6, 30))
    b += np.linspace(0, 2, 6)[:, None]
    if ties:
        a, b = np.round(2 * a) / 2, np.round(2 * b) / 2
        b[3] = a[3]
    draws = [draw.integers(30, size=30) for _ in range(8)]
    draws += [draw.choice(30, size=11, replace=False) for _ in range(4)]
    counts = head_counts(draws, 30)
    found = _samples(a, b).gaps(counts)
    assert found.shape == (6, 12)
    for (n, at), chosen in zip(
        itertools.product(range(6), range(12)), draws * 6, strict=True
    ):  # fmt: skip
        assert found[n, at] == round(_tested(a[n, chosen], b[n, chosen])[0] * len(chosen))
    if ties:
        assert (found[3] == 0).all()


def _curves(frames, distance: np.ndarray, printed: np.ndarray, **columns) -> pl.DataFrame:
    """Curves of (N, heads) numbers, under the closest choice."""
    top_ns = columns.pop("top_ns", range(1, len(distance) + 1))
    rows = [
        {
            "window": 0, "length": LENGTH, "layer": head // 4, "occurrence": 0,
            "module": f"m{head // 4}", "head": head % 4, "top_n": n, "vectors": "final",
            "scale": "unit", "keys": "all", "rule": "model", "rows": 50,
            "distance": float(distance[at, head]), "expected_printed": float(printed[at, head]),
            "expected_appendix": 100.0 + float(printed[at, head]),
            "expected_upper": float(distance[at, head]),
        }
        | {name: value(n, head) for name, value in columns.items()}
        for at, n in enumerate(top_ns)
        for head in range(distance.shape[1])
    ]  # fmt: skip
    return frames.curves(rows)


@pytest.mark.parametrize("seed", range(6))
def test_the_critical_n_is_that_of_the_naive_loop(seed, frames):
    draw = np.random.default_rng(seed)
    distance = draw.normal(size=(15, 24))
    printed = draw.normal(size=(15, 24)) + np.linspace(2.5, 0, 15)[:, None]
    found = critical(_curves(frames, distance, printed), 5)
    for level in (0.01, 0.05):
        naive = next(
            n for n in range(1, 16) if _tested(distance[n - 1], printed[n - 1])[1] >= level
        )
        row = found.row(by_predicate=_is("printed", level), named=True)
        assert row["critical_n"] == naive
        assert row["share"] == naive / LENGTH
        assert (row["heads"], row["windows"], row["tried"], row["rows"]) == (24, 1, 15, 50.0)
        assert row["sampled_from"] is None
    loose, strict = (
        found.row(by_predicate=_is("printed", level), named=True)["critical_n"]
        for level in (0.01, 0.05)
    )
    assert loose <= strict


def critical(curves: pl.DataFrame, draws: int, few: int = 144) -> pl.DataFrame:
    return fig2c_critical.run(curves, draws, few)[0]


def growth(curves: pl.DataFrame, draws: int, few: int = 144) -> pl.DataFrame:
    return fig2c_critical.run(curves, draws, few)[1]


def each_test(curves: pl.DataFrame) -> pl.DataFrame:
    return fig2c_critical.run(curves, 2)[2]


def _is(expected: str, level: float) -> pl.Expr:
    return (pl.col("expected") == expected) & (pl.col("level") == level)


def test_none_where_every_test_rejects_and_one_where_none_does(frames):
    draw = np.random.default_rng(0)
    distance, printed = draw.normal(size=(2, 6, 12))
    found = critical(_curves(frames, distance, printed), 10)
    never = found.row(by_predicate=_is("appendix", 0.01), named=True)
    for name in ("critical_n", "share", "low", "high", "few_heads"):
        assert never[name] is None, name
    assert never["found"] == 0.0
    assert never["tried"] == 6
    same = found.row(by_predicate=_is("upper", 0.05), named=True)  # the distance itself
    assert (same["critical_n"], same["low"], same["high"], same["found"]) == (1, 1, 1, 1.0)
    assert same["few_heads"] is None  # twelve heads are fewer than GPT-2 has


def test_the_interval_and_the_smaller_number_of_heads(frames):
    draw = np.random.default_rng(4)
    distance = draw.normal(size=(40, 200))
    printed = draw.normal(size=(40, 200)) + np.linspace(2, 0, 40)[:, None]
    curves = _curves(frames, distance, printed)
    found = critical(curves, 100, 20)
    row = found.row(by_predicate=_is("printed", 0.01), named=True)
    assert row["low"] <= row["critical_n"] <= row["high"]
    assert row["low"] < row["high"]
    # A test of fewer heads stops rejecting earlier.
    assert row["few_heads"] < row["low"]
    assert critical(curves, 100, 20).equals(found)
    # As many heads as there are: nothing to draw.
    whole = critical(curves, 3, 200)
    assert whole["few_heads"].null_count() == len(whole)


def test_the_first_window_decides_and_the_others_give_the_range(frames):
    draw = np.random.default_rng(0)
    distance = draw.normal(size=(15, 24))
    printed = draw.normal(size=(15, 24)) + np.linspace(2.5, 0, 15)[:, None]
    later = draw.normal(size=(15, 24)) + np.linspace(5, 0, 15)[:, None]
    windows = [_curves(frames, distance, printed), _curves(frames, distance, later)]
    second = windows[1].with_columns(window=pl.lit(1, pl.Int64))
    alone, other, both = (
        critical(curves, 5).filter(expected="printed")
        for curves in (*windows, pl.concat([second, windows[0]]))
    )
    over = ["window_low", "window_high", "windows"]
    assert both.drop(over).equals(alone.drop(over))
    assert alone.select(over).rows() == [(None, None, 1)] * 2
    assert both["windows"].to_list() == [2, 2]
    assert both["window_low"].equals(alone["critical_n"], check_names=False)
    assert both["window_high"].equals(other["critical_n"], check_names=False)
    assert (both["window_low"] != both["window_high"]).any()


def test_windows_of_which_one_has_no_critical_n_have_no_range(frames):
    draw = np.random.default_rng(0)
    distance, printed = draw.normal(size=(2, 6, 12))
    never = _curves(frames, distance, printed + 100).with_columns(window=pl.lit(1, pl.Int64))
    first = _curves(frames, distance, printed)
    both = pl.concat([first, never])
    row = critical(both, 2).row(by_predicate=_is("printed", 0.01), named=True)
    assert row["critical_n"] == 1
    assert (row["window_low"], row["window_high"]) == (None, None)


def test_a_choice_at_a_single_n_has_no_critical_one(frames):
    draw = np.random.default_rng(0)
    distance, printed = draw.normal(size=(2, 6, 8))
    curves = _curves(frames, distance, printed)
    single = curves.filter(top_n=5)
    assert critical(single, 2).is_empty()
    assert each_test(single).is_empty()


def test_an_n_that_some_heads_lack_is_left_out(frames):
    draw = np.random.default_rng(0)
    distance, printed = draw.normal(size=(2, 4, 8))
    curves = _curves(
        frames,
        distance,
        printed,
        expected_printed=lambda n, head: None if (n, head) == (1, 3) else 0.0,
    )
    assert Samples.of(curves, "printed").top_ns == (2, 3, 4)
    assert Samples.of(curves, "appendix").top_ns == (1, 2, 3, 4)


def test_where_only_some_rows_were_drawn_is_told(frames):
    draw = np.random.default_rng(0)
    distance, printed = draw.normal(size=(2, 6, 8))
    curves = _curves(frames, distance, printed, rows=lambda n, head: 50 if n < 4 else 10)
    found = critical(curves, 2)
    assert set(found["sampled_from"]) == {4}
    assert set(found["rows"]) == {50.0}


def test_every_single_test_is_scipys(frames):
    draw = np.random.default_rng(0)
    distance, printed = draw.normal(size=(2, 5, 9))
    tests = each_test(_curves(frames, distance, printed))
    assert len(tests) == 3 * 5
    for row in tests.filter(expected="printed").iter_rows(named=True):
        a, b = distance[row["top_n"] - 1], printed[row["top_n"] - 1]
        assert (row["statistic"], row["p_value"]) == pytest.approx(_tested(a, b), rel=1e-9)
        assert (row["distance"], row["expectation"]) == pytest.approx((a.mean(), b.mean()))


@pytest.mark.parametrize("heads", [5, 144])
def test_samples_that_hardly_differ_raise_no_warning(heads, frames):
    values = np.arange(float(heads))[None]
    curves = _curves(frames, np.repeat(values, 2, 0), np.repeat(values + 0.5, 2, 0))
    tests = each_test(curves).filter(expected="printed")
    assert tests["statistic"].to_list() == pytest.approx([1 / heads] * 2)
    assert tests["p_value"].to_list() == pytest.approx([1.0, 1.0])


def test_the_real_run_agrees_with_the_naive_loop(kept):
    tests = kept.paper["fig2c_tests"]
    for row in kept.paper["fig2c"].iter_rows(named=True):
        place = {name: row[name] for name in ("vectors", "scale", "keys", "rule", "length")}
        mine = tests.filter(expected=row["expected"], **place).sort("top_n")
        accepted = mine.filter(pl.col("p_value") >= row["level"])
        assert row["critical_n"] == (accepted["top_n"][0] if len(accepted) else None)
        assert row["tried"] == mine["top_n"].max()
    assert kept.paper["fig2c"]["critical_n"].null_count() > 0
    assert kept.paper["fig2c"]["critical_n"].n_unique() > 2


def test_draws_of_fewer_heads_are_without_replacement_and_the_same_at_every_l():
    counts = fewer(200, 144, 30)
    assert counts.shape == (30, 200)
    assert set(counts.sum(1)) == {144}
    assert counts.max() == 1
    assert len({tuple(each) for each in counts.tolist()}) == 30
    assert (fewer(200, 144, 30) == counts).all()


def _tables(
    frames, heads: int, seed: int = 0
) -> tuple[pl.DataFrame, dict[int, tuple[np.ndarray, np.ndarray]]]:
    """At three lengths, expectations that come nearer with N: later, the longer."""
    draw = np.random.default_rng(seed)
    tables, curves = {}, []
    for length, last in ((256, 14), (512, 24), (1024, 36)):
        distance = draw.normal(size=(40, heads))
        away = np.clip(np.linspace(2, 2 - 80 / last, 40), 0, None)[:, None]
        tables[length] = distance, draw.normal(size=(40, heads)) + away
        made = _curves(frames, *tables[length], length=lambda n, head, here=length: here)
        curves.append(made)
    # A shorter one, at which nothing grows yet.
    short = _curves(frames, *tables[256], length=lambda n, head: 128)
    return pl.concat([*curves, short]), tables


def _first(distance: np.ndarray, printed: np.ndarray, chosen: np.ndarray) -> int | None:
    for n, (a, b) in enumerate(zip(distance, printed, strict=True), 1):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "ks_2samp: Exact calculation unsuccessful")
            if _tested(a[chosen], b[chosen])[1] >= 0.01:
                return n
    return None


def test_growth_with_more_heads_than_the_paper_had(frames):
    """Draw by draw: the critical N at every L, and the slope through them."""
    curves, tables = _tables(frames, heads=30)
    row = growth(curves, 12, 20).row(by_predicate=_is("printed", 0.01), named=True)
    slopes = []
    for draw in fewer(30, 20, 12):
        chosen = np.flatnonzero(draw)
        firsts = [_first(*tables[length], chosen) for length in (256, 512, 1024)]
        assert None not in firsts
        slopes.append(np.polyfit(np.log((256, 512, 1024)), np.log(np.array(firsts, float)), 1)[0])
    low, middle, high = np.percentile(slopes, (2.5, 50, 97.5))
    assert (row["exponent"], row["low"], row["high"]) == pytest.approx((middle, low, high))
    assert row["found"] == 1.0
    assert (row["heads"], row["shortest"], row["longest"]) == (20, 256, 1024)
    assert 0 < row["low"] < row["high"] < 1.2


def test_growth_with_as_many_heads_as_the_paper_had_or_fewer(frames):
    """All heads give the exponent, draws with replacement its interval."""
    curves, tables = _tables(frames, heads=24)
    row = growth(curves, 60).row(by_predicate=_is("printed", 0.01), named=True)
    firsts = [_first(*tables[length], np.arange(24)) for length in (256, 512, 1024)]
    wanted = np.polyfit(np.log((256, 512, 1024)), np.log(np.array(firsts, float)), 1)[0]
    assert row["exponent"] == pytest.approx(wanted)
    assert row["low"] < row["exponent"] < row["high"]
    assert row["heads"] == 24


def test_growth_of_what_has_no_critical_n(frames):
    curves, _ = _tables(frames, heads=10)
    table = growth(curves, 5)
    never = table.row(by_predicate=_is("appendix", 0.01), named=True)
    assert (never["exponent"], never["low"], never["high"], never["found"]) == (None,) * 3 + (0.0,)
    same = table.row(by_predicate=_is("upper", 0.01), named=True)  # N = 1 everywhere
    assert (same["exponent"], same["found"]) == (pytest.approx(0.0, abs=1e-12), 1.0)
    one = curves.filter(pl.col("length") <= 256)
    assert growth(one, 5).is_empty()


def test_draws_without_a_critical_n_leave_the_upper_end_open():
    middle = fig2c_critical._middle
    assert middle([None, *range(1, 40)]) == (2, 21, 39)  # one of forty is a tail
    assert middle([None, None, *range(1, 39)]) == (2, 21, None)
    assert middle([*range(1, 41)]) == (2, 21, 39)
    assert middle([None, 4, None, 3, None]) == (3, None, None)
    assert middle([None] * 5) == middle([]) == (None, None, None)


def test_the_first_accepted_is_by_the_size_of_the_draw():
    gaps = np.array([[12, 12], [7, 3], [2, 8]])
    samples = Samples((1, 5, 9), np.empty((3, 9)), np.empty((3, 9)), (9.0,) * 3)
    assert samples.first_accepted(gaps, 20, 0.01) == [5, 5]
    assert rejected_from(20, 0.01) > 7
    assert samples.first_accepted(gaps, 5, 0.05) == [9, 5]
