import math

import numpy as np
import polars as pl
import pytest

from headgauge.paper import gains
from headgauge.paper.choices import COLD, LENGTH_AWARE, Choice
from headgauge.paper.gains import Config
from headgauge.paper.summary import bootstrap

CHOICE = Choice("final", "unit", "all")


def _curves(values: np.ndarray, rule: str, **more) -> list[dict]:
    """(windows, heads) of N_s/N."""
    return [
        vars(CHOICE)
        | {"window": w, "length": 64, "layer": h, "occurrence": 0, "module": "m", "head": 0,
           "rule": rule, "top_n": 16, "rows": 10 + w, "separability": float(value)}
        | more
        for (w, h), value in np.ndenumerate(values)
    ]  # fmt: skip


def _of(table: pl.DataFrame, **where) -> dict:
    (row,) = table.filter(**where).iter_rows(named=True)
    return row


def test_differences_are_paired_by_window_and_head(frames):
    """The windows differ by far more than the rules do: bands of the curves would hide it."""
    draw = np.random.default_rng(0)
    base = draw.random((5, 1)) + 0.01 * draw.random((5, 7))
    change = 0.03 + 0.002 * draw.random((5, 7))
    rows = _curves(base, COLD[0]) + _curves(base + change, COLD[1]) + _curves(base, "model")
    rows += _curves(base + 9, COLD[1], top_n=8) + _curves(base + 9, COLD[1], length=32)
    rows += _curves(base + 9, COLD[1], vectors="value")
    shuffled = [rows[at] for at in draw.permutation(len(rows))]
    row = _of(gains.run(frames.measured(shuffled), CHOICE, Config()), measure="separability")
    windows = change.mean(1)
    assert (row["rule"], row["against"], row["top_n"]) == (COLD[1], COLD[0], 16)
    assert row["change"] == pytest.approx(windows.mean(), rel=1e-9)
    assert (row["low"], row["high"]) == pytest.approx(bootstrap(windows, 0), rel=1e-9)
    assert row["high"] - row["low"] < 0.002 < base.mean(1).std()
    assert (row["heads"], row["windows"], row["rows"]) == (7, 5, 12.0)


def test_windows_that_only_one_rule_has_do_not_count(frames):
    draw = np.random.default_rng(1)
    own, aware = draw.random((4, 3)), draw.random((2, 3))
    rows = _curves(own, "model") + _curves(aware, LENGTH_AWARE)
    row = _of(gains.run(frames.measured(rows), CHOICE, Config()), rule=LENGTH_AWARE)
    assert row["windows"] == 2
    assert row["change"] == pytest.approx((aware - own[:2]).mean())
    one = _curves(own[:1], "model") + _curves(aware[:1], LENGTH_AWARE)
    row = _of(gains.run(frames.measured(one), CHOICE, Config()), rule=LENGTH_AWARE)
    assert (row["low"], row["high"], row["windows"]) == (None, None, 1)


def _norms(values: dict[float, list[float]], spread: float = 0.2, rows: int = 16) -> list[dict]:
    return [
        {"window": 0, "length": 64, "layer": at, "occurrence": 0, "module": "m", "head": 0,
         "logits": "scaled", "direction": "exact", "epsilon": 0.0, "temperature": t, "rows": rows,
         "sensitivity": value, "spread": spread}
        for t, heads in values.items()
        for at, value in enumerate(heads)
    ]  # fmt: skip


def test_the_jacobian_rises_by_the_ratio_of_the_means(frames):
    norms = _norms({0.1: [1.0, 2.0, 3.0], 0.01: [2.0, 4.0, 3.0], 1.0: [9.0] * 3})
    norms += [row | {"direction": "random"} for row in norms]
    norms += [row | {"window": 1, "sensitivity": 7.0} for row in norms]
    model = _curves(np.ones((1, 3)), "model")
    table = gains.run(frames.measured(model, sensitivity=norms), CHOICE, Config())
    row = _of(table, measure="jacobian")
    assert row["change"] == pytest.approx(1.5)
    errors = [math.sqrt(3 * 0.2**2 / 16) / 3 / mean for mean in (2.0, 3.0)]
    half = 1.96 * math.hypot(*errors)
    assert row["low"] == pytest.approx(1.5 * math.exp(-half))
    assert row["high"] == pytest.approx(1.5 * math.exp(half))
    assert (row["heads"], row["windows"], row["rows"], row["top_n"]) == (3, 1, 16.0, None)


def test_what_is_not_there_is_left_out(frames):
    model = _curves(np.ones((1, 3)), "model")
    assert gains.run(frames.measured(model), CHOICE, Config()).is_empty()
    for norms in (_norms({0.1: [1.0]}), _norms({0.1: [0.0], 0.01: [0.0]})):
        assert gains.run(frames.measured(model, sensitivity=norms), CHOICE, Config()).is_empty()


def test_the_run_compares_the_rules_in_every_window(kept):
    table = kept.paper["gains"]
    assert table.select("measure", "rule").rows() == [
        ("separability", COLD[1]), ("separability", LENGTH_AWARE), ("jacobian", COLD[1]),
    ]  # fmt: skip
    curves = pl.read_parquet(kept.scan.folder / "paper_curves.parquet").filter(
        length=110, top_n=16, **vars(CHOICE)
    )
    means = {
        (rule, window): mean
        for rule, window, mean in curves.group_by("rule", "window")
        .agg(pl.col("separability").mean()).rows()
    }  # fmt: skip
    wanted = [means[COLD[1], w] - means[COLD[0], w] for w in (0, 1)]
    row = _of(table, measure="separability", rule=COLD[1])
    assert row["change"] == pytest.approx(np.mean(wanted), abs=1e-12)
    assert (row["low"], row["high"]) == pytest.approx(sorted(wanted), abs=1e-12)
    exact = kept.paper["fig4"].filter(direction="exact")
    by = dict(exact.select("temperature", "mean").rows())
    assert _of(table, measure="jacobian")["change"] == pytest.approx(by[0.01] / by[0.1])
