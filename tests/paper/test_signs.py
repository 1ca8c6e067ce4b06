import math

import numpy as np
import pytest
from scipy import stats

from headgauge.paper import signs

CHOICE = {"vectors": "final", "scale": "unit", "keys": "all"}


def _measured(frames, heads: int, seed: int, windows: int = 2):
    """Tables in a shuffled order, and what stands in them: (windows, heads)."""
    draw = np.random.default_rng(seed)
    share = draw.random((windows, heads))
    measures = {name: share * weight + draw.random((windows, heads)) for name, weight in
                zip(signs.SIGNS, (-2.0, 1.0, 0.0, 5.0), strict=True)}  # fmt: skip
    place = [
        {"window": w, "length": 64, "layer": h // 3, "occurrence": 0, "module": "m", "head": h % 3}
        for w in range(windows) for h in range(heads)
    ]  # fmt: skip
    curves = [
        each | CHOICE | {"rule": "model", "top_n": 16, "rows": 9, "separability": float(value)}
        for each, value in zip(place, share.reshape(-1), strict=True)
    ]
    curves += [row | change | {"separability": 0.5} for row in curves for change in (
        {"rule": "ssmax"}, {"top_n": 8}, {"length": 32}, {"vectors": "value"},
    )]  # fmt: skip
    table = [
        each | {name: float(values.reshape(-1)[at]) for name, values in measures.items()}
        for at, each in enumerate(place)
    ]
    table += [row | {"length": 32, "entropy_share": 0.1} for row in table]
    found = frames.measured(
        [curves[at] for at in draw.permutation(len(curves))],
        heads=[table[at] for at in draw.permutation(len(table))],
    )
    return found, share, measures


@pytest.mark.parametrize("heads", [4, 9, 40])
def test_correlations_are_scipys_over_heads(frames, heads):
    measured, share, measures = _measured(frames, heads, seed=heads)
    found = signs.run(measured, CHOICE)
    assert found["sign"].to_list() == list(signs.SIGNS)
    for row in found.iter_rows(named=True):
        wanted = stats.spearmanr(measures[row["sign"]].mean(0), share.mean(0)).statistic  # type: ignore[attr-defined]
        assert row["correlation"] == pytest.approx(wanted, abs=1e-12)
        assert row["heads"] == heads
        half = 1.96 * math.sqrt(1.06 / (heads - 3))
        inside = min(1 - 1e-12, max(-1 + 1e-12, wanted))
        assert row["low"] == pytest.approx(math.tanh(math.atanh(inside) - half), abs=1e-9)
        assert row["high"] == pytest.approx(math.tanh(math.atanh(inside) + half), abs=1e-9)


def test_the_order_of_the_tables_does_not_show(frames):
    measured = _measured(frames, 12, seed=1)[0]
    found = signs.run(measured, CHOICE)
    again = frames.measured(measured.curves.reverse(), heads=measured.heads.reverse())
    assert signs.run(again, CHOICE).equals(found)


def test_few_heads_or_equal_ones_have_no_correlation(frames):
    for row in signs.run(_measured(frames, 3, seed=0)[0], CHOICE).iter_rows(named=True):
        assert row["correlation"] is row["low"] is row["high"] is None
    measured = _measured(frames, 9, seed=0)[0]
    flat = frames.measured(measured.curves, heads=measured.heads.with_columns(sink_weight=0.25))
    rows = {row["sign"]: row for row in signs.run(flat, CHOICE).iter_rows(named=True)}
    assert rows["sink_weight"]["correlation"] is None
    assert rows["entropy_share"]["correlation"] < 0


def test_the_interval_is_that_of_a_rank_correlation(frames):
    """Over many draws of heads that correlate by −.6, 95 % of the intervals hold the true one."""
    draw = np.random.default_rng(0)
    heads, inside = 60, 0
    true = 6 / math.pi * math.asin(-0.6 / 2)
    base = {"window": 0, "length": 64, "occurrence": 0, "module": "m", "head": 0}
    for _ in range(100):
        x = draw.normal(size=heads)
        y = -0.6 * x + 0.8 * draw.normal(size=heads)
        curves = [base | CHOICE | {"layer": at, "rule": "model", "top_n": 16, "separability": value}
                  for at, value in enumerate(y.tolist())]  # fmt: skip
        table = [
            base | {"layer": at, "entropy_share": value} for at, value in enumerate(x.tolist())
        ]
        row = signs.run(frames.measured(curves, heads=table), CHOICE).row(0, named=True)
        inside += row["low"] <= true <= row["high"]
    assert 88 <= inside <= 100


def test_the_run_has_signs_of_its_heads(found):
    table = found.paper["signs"]
    assert table["sign"].to_list() == list(signs.SIGNS)
    assert set(table["heads"]) == {8}
    for row in table.drop_nulls("correlation").iter_rows(named=True):
        assert -1 <= row["low"] <= row["correlation"] <= row["high"] <= 1
