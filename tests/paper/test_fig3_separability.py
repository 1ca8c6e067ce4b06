import numpy as np
import polars as pl
import pytest

from headgauge.paper import fig3_separability
from headgauge.theory.normalization import separability
from headgauge.theory.normalization.selection import top_n


@pytest.mark.parametrize("n", [2, 16])
def test_an_n_is_theorys_on_the_models_own_attention(found, attended, n):
    def lower(a, x):
        chosen = top_n(a, n)
        xi = separability.xi(a, chosen, separability.minimum_separation(x))
        return separability.deterministic_lower_bound(xi, chosen, separability.radius(a, x, chosen))

    measures = {
        "separability": lambda a, x: separability.separability(a, x, top_n(a, n)),
        "separability_lower": lower,
    }
    for measure, by_theory in measures.items():
        first, second = attended(0, 110).means(by_theory), attended(1, 110).means(by_theory, 12)
        heads = (first + second) / 2
        row = found.paper["fig3"].row(
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


def test_the_papers_n_and_measures(found):
    fig3 = found.paper["fig3"]
    assert sorted(set(fig3["top_n"])) == [1, 2, 4, 8, 16, 32, 64, 100]
    assert set(fig3["measure"]) == set(fig3_separability.MEASURES)
    assert set(fig3["length"]) == {110}
    own = fig3.filter(measure="separability", rule="model", vectors="final", scale="unit")
    assert own.filter(top_n=1)["mean"].to_list() == [1.0, 1.0]  # a token alone is its own s
    assert own.select((pl.col("minimum") <= pl.col("q25")).all()).item()
    assert own.select((pl.col("q75") <= pl.col("maximum")).all()).item()
