"""Figures 2a, 2b and 3 of a run against `theory` on the model's own attention."""

from functools import cache

import numpy as np
import polars as pl
import pytest

from headgauge.errors import InputError
from headgauge.paper.figures import DISTANCE, SEPARABILITY, longest, over_n
from headgauge.runs import load_run
from headgauge.theory.normalization import distance_bounds, expected_distance, separability
from headgauge.theory.normalization.distance import distance
from headgauge.theory.normalization.selection import top_n

CLOSEST = {"vectors": "final", "scale": "unit", "keys": "all"}


def test_a_finished_run_has_what_the_figures_read(kept):
    tables = load_run(kept.scan.folder).tables
    assert longest(tables["paper_curves"]) == 110
    assert set(tables["paper_curves"]["window"]) == {0, 1}
    assert len(tables["sensitivity"]) > 0
    assert len(tables["points"]) == 2 * 110
    with pytest.raises(InputError, match="no attention of this model could be measured"):
        longest(tables["paper_curves"].clear())


# Figure 2a

MEASURES = {
    "distance": lambda a, x: distance(a, x, top_n(a, 5)),
    "bound_printed": lambda a, x: distance_bounds.printed_bound(a, x, top_n(a, 5)),
    "bound_upper": lambda a, x: distance_bounds.sandwich(a, x, top_n(a, 5))[1],
    "expected_printed": lambda a, x: expected_distance.printed(a, x, 5),
    "expected_appendix": lambda a, x: expected_distance.appendix(a, x, 5),
    "expected_upper": lambda a, x: expected_distance.sandwich(a, x, 5)[1],
}


def test_a_length_is_theorys_on_the_models_own_attention(kept, attended):
    """All rows of the first window, twelve of the second."""
    length = 40
    for measure, by_theory in MEASURES.items():
        first = attended(0, length).means(by_theory)
        second = attended(1, length).means(by_theory, rows=12)
        row = kept.paper["fig2a"].row(
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


def test_rules_have_curves_of_their_own(kept):
    own = kept.paper["fig2a"].filter(measure="distance", **CLOSEST)
    assert set(own["rule"]) == {"model", "softmax T=2", "sparsemax"}
    assert set(own.group_by("rule").len()["len"]) == {3}
    means = own.filter(length=40).select("rule", "mean").rows()
    assert len({round(mean, 3) for _, mean in means}) == 3
    assert own.filter(rule="sparsemax")["windows"].to_list() == [1, 1, 1]


def test_figure_2a_has_the_lengths_of_the_run(kept):
    fig2a = kept.paper["fig2a"]
    assert set(fig2a["length"]) == {20, 40, 110}
    assert set(fig2a["top_n"]) == {5}
    assert set(fig2a["measure"]) == set(DISTANCE)
    assert np.isfinite(fig2a["mean"].to_numpy()).all()


# Figure 2b


def test_distances_at_an_n_are_theorys(kept, attended):
    n = 20
    measures = {
        "distance": lambda a, x: distance(a, x, top_n(a, n)),
        "bound_centroid": lambda a, x: distance_bounds.centroid_bound(a, x, top_n(a, n)),
        "expected_appendix": lambda a, x: expected_distance.appendix(a, x, n),
    }
    for measure, by_theory in measures.items():
        heads = attended(0, 110).means(by_theory) + attended(1, 110).means(by_theory, rows=12)
        row = kept.paper["fig2b"].row(
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


def test_every_n_that_all_windows_have(kept):
    curves = pl.read_parquet(kept.scan.folder / "paper_curves.parquet")
    again = curves.filter(window=1, length=110, **CLOSEST, rule="model")["top_n"].unique().sort()
    own = kept.paper["fig2b"].filter(measure="distance", **CLOSEST, rule="model")
    assert own["top_n"].to_list() == again.to_list()
    assert {1, 5, 10, 20, 100} < set(own["top_n"])
    assert set(own["windows"]) == {2}
    assert own["low"].null_count() == 0
    # Other choices have one window, and no band.
    other = kept.paper["fig2b"].filter(measure="distance", vectors="value", scale="raw")
    assert set(other["windows"]) == {1}
    assert other["low"].null_count() == len(other) > 20
    assert set(kept.paper["fig2b"]["length"]) == {110}


def test_an_n_that_a_window_lacks_or_beyond_the_papers_is_left_out(kept):
    curves = pl.read_parquet(kept.scan.folder / "paper_curves.parquet").filter(length=110)
    lacks = curves.filter((pl.col("window") == 0) | (pl.col("top_n") != 7), rule="model", **CLOSEST)
    assert {7, 103} < set(lacks["top_n"])
    assert {6, 8, 100} < set(over_n(lacks)["top_n"])
    assert not {7, 103} & set(over_n(lacks)["top_n"])


# Figure 3


@pytest.mark.parametrize("n", [2, 16])
def test_separability_at_an_n_is_theorys(kept, attended, n):
    separation = cache(separability.minimum_separation)  # of all rows of a window

    def lower(a, x):
        chosen = top_n(a, n)
        xi = separability.xi(a, chosen, separation(x))
        return separability.deterministic_lower_bound(xi, chosen, separability.radius(a, x, chosen))

    measures = {"separability": lambda a, x: separability.separability(a, x, top_n(a, n))}
    measures |= {"separability_lower": lower} if n > 2 else {}
    for measure, by_theory in measures.items():
        first, second = attended(0, 110).means(by_theory), attended(1, 110).means(by_theory, 12)
        heads = (first + second) / 2
        row = kept.paper["fig3"].row(
            by_predicate=(pl.col("rule") == "model")
            & (pl.col("vectors") == "final")
            & (pl.col("scale") == "unit")
            & (pl.col("keys") == "all")
            & (pl.col("top_n") == n)
            & (pl.col("measure") == measure),
            named=True,
        )
        # A count may hang on rounding in single precision: one token of one row.
        one = 1 / (n * 12)
        assert row["mean"] == pytest.approx(heads.mean(), abs=one / 8), measure
        assert row["median"] == pytest.approx(np.median(heads), abs=one)
        assert row["maximum"] == pytest.approx(heads.max(), abs=one)


def test_the_papers_n_and_measures(kept):
    fig3 = kept.paper["fig3"]
    assert sorted(set(fig3["top_n"])) == [1, 2, 4, 8, 16, 32, 64, 100]
    assert set(fig3["measure"]) == set(SEPARABILITY)
    assert set(fig3["length"]) == {110}
    own = fig3.filter(measure="separability", rule="model", vectors="final", scale="unit")
    assert own.filter(top_n=1)["mean"].to_list() == [1.0, 1.0]  # a token alone is its own s
    assert own.select((pl.col("minimum") <= pl.col("q25")).all()).item()
    assert own.select((pl.col("q75") <= pl.col("maximum")).all()).item()
