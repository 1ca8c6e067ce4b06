import polars as pl
import pytest

from headgauge.paper import fig2b_top_n
from headgauge.theory.normalization import distance_bounds, expected_distance
from headgauge.theory.normalization.distance import distance
from headgauge.theory.normalization.selection import top_n


@pytest.mark.parametrize("n", [1, 20])
def test_an_n_is_theorys_on_the_models_own_attention(found, attended, n):
    measures = {
        "distance": lambda a, x: distance(a, x, top_n(a, n)),
        "bound_centroid": lambda a, x: distance_bounds.centroid_bound(a, x, top_n(a, n)),
        "expected_appendix": lambda a, x: expected_distance.appendix(a, x, n),
    }
    for measure, by_theory in measures.items():
        heads = attended(0, 110).means(by_theory) + attended(1, 110).means(by_theory, rows=12)
        row = found.paper["fig2b"].row(
            by_predicate=(pl.col("rule") == "model")
            & (pl.col("vectors") == "final")
            & (pl.col("scale") == "unit")
            & (pl.col("keys") == "all")
            & (pl.col("top_n") == n)
            & (pl.col("measure") == measure),
            named=True,
        )
        assert row["mean"] == pytest.approx(heads.mean() / 2, rel=1e-4), measure
        assert row["length"] == 110


def test_every_n_that_all_windows_have(found, kept):
    curves = pl.read_parquet(kept.scan.folder / "paper_curves.parquet")
    closest = {"vectors": "final", "scale": "unit", "keys": "all", "rule": "model"}
    again = curves.filter(window=1, length=110, **closest)["top_n"].unique().sort()
    own = found.paper["fig2b"].filter(measure="distance", **closest)
    assert own["top_n"].to_list() == again.to_list()
    assert {1, 5, 10, 20, 100} < set(own["top_n"])
    assert set(own["windows"]) == {2}
    assert own["low"].null_count() == 0
    # Other choices have one window, and no band.
    other = found.paper["fig2b"].filter(measure="distance", vectors="value", scale="raw")
    assert set(other["windows"]) == {1}
    assert other["low"].null_count() == len(other) > 20
    assert set(found.paper["fig2b"]["length"]) == {110}


def test_a_config_with_a_smaller_largest_n(kept, frames):
    curves = pl.read_parquet(kept.scan.folder / "paper_curves.parquet")
    measured = frames.measured(curves)
    some = fig2b_top_n.run(measured, fig2b_top_n.Config(top_ns=(1, 3)))
    assert set(some["top_n"]) == {1, 2, 3}
