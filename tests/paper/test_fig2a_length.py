import numpy as np
import polars as pl
import pytest

from headgauge.paper import fig2a_length
from headgauge.theory.normalization import distance_bounds, expected_distance
from headgauge.theory.normalization.distance import distance
from headgauge.theory.normalization.selection import top_n

MEASURES = {
    "distance": lambda a, x: distance(a, x, top_n(a, 5)),
    "bound_printed": lambda a, x: distance_bounds.printed_bound(a, x, top_n(a, 5)),
    "bound_upper": lambda a, x: distance_bounds.sandwich(a, x, top_n(a, 5))[1],
    "expected_printed": lambda a, x: expected_distance.printed(a, x, 5),
    "expected_appendix": lambda a, x: expected_distance.appendix(a, x, 5),
    "expected_upper": lambda a, x: expected_distance.sandwich(a, x, 5)[1],
}


@pytest.mark.parametrize("length", [20, 40])
def test_a_length_is_theorys_on_the_models_own_attention(found, attended, length):
    """All rows of the first window, twelve of the second."""
    for measure, by_theory in MEASURES.items():
        first = attended(0, length).means(by_theory)
        second = attended(1, length).means(by_theory, rows=12)
        row = found.paper["fig2a"].row(
            by_predicate=(pl.col("rule") == "model")
            & (pl.col("length") == length)
            & (pl.col("measure") == measure),
            named=True,
        )
        heads = (first + second) / 2
        assert row["mean"] == pytest.approx(heads.mean(), rel=1e-4), measure
        assert row["minimum"] == pytest.approx(heads.min(), rel=1e-4)
        assert row["q75"] == pytest.approx(np.percentile(heads, 75), rel=1e-4)
        assert row["maximum"] == pytest.approx(heads.max(), rel=1e-4)
        assert (row["top_n"], row["heads"], row["windows"]) == (5, 8, 2)
        assert row["rows"] == pytest.approx((length + 12) / 2)
        ends = sorted((first.mean(), second.mean()))  # of two windows: all of either
        assert (row["low"], row["high"]) == pytest.approx(ends, rel=1e-4)


def test_rules_have_curves_of_their_own(found):
    closest = {"vectors": "final", "scale": "unit", "keys": "all"}
    own = found.paper["fig2a"].filter(measure="distance", **closest)
    assert set(own["rule"]) == {"model", "softmax T=2", "sparsemax"}
    assert set(own.group_by("rule").len()["len"]) == {3}
    means = own.filter(length=40).select("rule", "mean").rows()
    assert len({round(mean, 3) for _, mean in means}) == 3
    assert own.filter(rule="sparsemax")["windows"].to_list() == [1, 1, 1]


def test_only_the_configs_n_and_lengths(kept, frames):
    curves = pl.read_parquet(kept.scan.folder / "paper_curves.parquet")
    measured = frames.measured(curves)
    some = fig2a_length.run(measured, fig2a_length.Config(top_n=7, lengths=(40, 999)))
    assert set(some["length"]) == {40}
    assert set(some["top_n"]) == {7}
    assert set(some["measure"]) == set(fig2a_length.MEASURES)
