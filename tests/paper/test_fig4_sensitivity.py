import math

import numpy as np
import polars as pl
import pytest
import torch

from headgauge import models
from headgauge.measure.requests import spread_rows
from headgauge.paper import fig4_sensitivity
from headgauge.paper.choices import rule
from headgauge.paper.fig4_sensitivity import RULE_TEMPERATURES
from headgauge.paper.settings import ReproduceSettings, temperatures
from headgauge.registry.published import EPSILONS
from headgauge.theory.normalization import finite_difference as theory
from headgauge.theory.normalization.sensitivity import spectral_norm

LENGTH, ROWS = 110, 7
DIRECTIONS = {
    ("scaled", "random"), ("scaled", "random over all keys"), ("scaled", "worst"),
    ("scaled", "exact"), ("scaled", "exact mean"), ("raw", "random"),
}  # fmt: skip


def test_the_grid_is_even_on_the_logarithm():
    assert temperatures(5) == (0.01, 0.1, 1.0, 10.0, 100.0)
    assert ReproduceSettings().temperatures == temperatures(25)
    assert np.allclose(np.diff(np.log(temperatures(25))), math.log(1e4) / 24, rtol=1e-4)


@pytest.fixture(scope="module")
def sensitivity(kept) -> pl.DataFrame:
    return pl.read_parquet(kept.scan.folder / "sensitivity.parquet")


def _g(table: pl.DataFrame, **where) -> np.ndarray:
    """(layers, heads)."""
    found = table.filter(**where).sort("layer", "head")
    assert len(found) == 8
    return found["sensitivity"].to_numpy().reshape(2, 4)


def test_the_exact_limits_are_theorys_on_the_models_own_attention(sensitivity, attended):
    seen = attended(0, LENGTH)
    for direction, measure in (
        ("exact", lambda a, x: spectral_norm(a[a > 0])),
        ("exact mean", lambda a, x: theory.mean_over_directions(a[a > 0])),
    ):
        found = _g(sensitivity, direction=direction, temperature=1.0)
        assert found == pytest.approx(seen.means(measure, ROWS), rel=1e-4), direction


def test_finite_steps_are_theorys_along_the_same_draws(sensitivity, model, tokens, unchecked):
    """Every row keeps its vector over the grid; they come from the seed and the head's place."""
    wanted: dict[tuple, np.ndarray] = {}

    def observer(call: models.ObservedCall) -> None:
        places = spread_rows(0, LENGTH, LENGTH, ROWS)
        for head in range(call.heads):
            draw = np.random.default_rng((0, 0, LENGTH, call.layer, 0, head))
            normal = torch.from_numpy(draw.standard_normal((ROWS, LENGTH)))
            block = call.block(0, head, 0, LENGTH)
            for t, epsilon in ((0.1, 0.1), (1.0, 10.0)):
                g = []
                for at, place in enumerate(places):
                    keys = block.visible[place]
                    z = block.logits[place][keys].double()
                    v = normal[at][keys] / normal[at][keys].norm()
                    over_all = normal[at][keys] / normal[at].norm()
                    g.append(
                        (
                            float(theory.sensitivity(z, v, epsilon, t)),
                            float(theory.sensitivity(z, over_all, epsilon, t)),
                            float(theory.worst_sensitivity(z, epsilon, t)),
                            float(theory.sensitivity(z / call.scaling, v, epsilon, t)),  # type: ignore[attr-defined]
                        )
                    )
                wanted[call.layer, head, t, epsilon] = np.array(g)

    with torch.no_grad(), models.intercept(model, observer):
        model(tokens[:1])
    names = [
        ("scaled", "random"), ("scaled", "random over all keys"), ("scaled", "worst"),
        ("raw", "random"),
    ]  # fmt: skip
    for (layer, head, t, epsilon), values in wanted.items():
        for at, (logits, direction) in enumerate(names):
            row = sensitivity.row(
                by_predicate=(pl.col("layer") == layer)
                & (pl.col("head") == head)
                & (pl.col("logits") == logits)
                & (pl.col("direction") == direction)
                & (pl.col("temperature") == t)
                & (pl.col("epsilon") == epsilon),
                named=True,
            )
            assert row["sensitivity"] == pytest.approx(values[:, at].mean(), rel=1e-3, abs=1e-9)
            assert row["spread"] == pytest.approx(values[:, at].std(ddof=1), rel=1e-3, abs=1e-9)
            assert row["rows"] == ROWS


def test_everything_is_measured_in_the_first_longest_window_only(sensitivity, settings):
    sensitivity = sensitivity.filter(~pl.col("direction").str.contains(" under "))  # other rules
    assert sensitivity.select("window", "length").unique().rows() == [(0, LENGTH)]
    assert set(sensitivity.select("logits", "direction").rows()) == DIRECTIONS
    assert set(sensitivity["temperature"]) == set(settings.temperatures)
    limits = sensitivity.filter(pl.col("direction").str.starts_with("exact"))
    assert set(limits["epsilon"]) == {0.0}
    others = sensitivity.filter(~pl.col("direction").str.starts_with("exact"))
    assert set(others["epsilon"]) == set(EPSILONS)
    assert len(others) == 8 * 4 * len(settings.temperatures) * len(EPSILONS)


def _table(frames, rows: list[dict]) -> pl.DataFrame:
    default = {
        "window": 0, "length": 9, "layer": 0, "occurrence": 0, "module": "m", "head": 0,
        "logits": "scaled", "direction": "random", "epsilon": 0.1, "temperature": 1.0, "rows": 4,
        "sensitivity": 0.5, "spread": 0.2,
    }  # fmt: skip
    return frames.left("sensitivity", [default | row for row in rows])


def test_the_figure_shows_the_largest_head(frames):
    table = _table(
        frames,
        [
            {"layer": 0, "head": 1, "sensitivity": 0.3},
            {"layer": 1, "head": 2, "sensitivity": 0.8, "spread": 0.4},
            {"layer": 1, "head": 3, "sensitivity": 0.8, "spread": 9.0},  # a tie: the first
            {"layer": 0, "head": 0, "sensitivity": 0.1},
            {"window": 1, "layer": 0, "head": 0, "sensitivity": 7.0},
        ],
    )
    found = fig4_sensitivity.run(table, (1.0,)).filter(direction="random")
    row = found.row(0, named=True)
    assert len(found) == 1
    assert (row["layer"], row["head"], row["heads"], row["rows"]) == (1, 2, 4, 4)
    assert row["maximum"] == 0.8
    assert row["mean"] == pytest.approx(0.5)
    half = 1.96 * 0.4 / 2 / 0.8  # of the logarithm
    assert row["low"] == pytest.approx(0.8 * math.exp(-half))
    assert row["high"] == pytest.approx(0.8 * math.exp(half))


def test_the_limit_has_no_epsilon_and_a_head_of_zeros_no_nan(frames):
    table = _table(
        frames, [{"direction": "exact", "epsilon": 0.0, "sensitivity": 0.0, "spread": 0.0}]
    )
    found = fig4_sensitivity.run(table, (1.0,))
    row = found.filter(direction="exact").row(0, named=True)
    assert row["epsilon"] is None
    for name in ("maximum", "low", "high"):
        assert row[name] is None or row[name] == 0.0, name


def test_the_bounds_are_theorys(kept, settings):
    bounds = kept.paper["fig4"].filter(pl.col("direction").str.ends_with("bound"))
    assert len(bounds) == len(settings.temperatures) * (2 + len(EPSILONS))
    for row in bounds.iter_rows(named=True):
        t = row["temperature"]
        wanted = {
            "printed bound": min(1 / (4 * t), math.sqrt(2)),
            "corrected bound": 1 / (2 * t),
            "sharp bound": row["epsilon"] and theory.sharp_bound(row["epsilon"], t),
        }
        assert row["maximum"] == pytest.approx(wanted[row["direction"]], rel=1e-14)
        assert row["low"] is row["layer"] is row["rows"] is None


def test_no_head_is_above_a_corrected_bound(kept):
    fig4 = kept.paper["fig4"].filter(logits="scaled")
    sharp = {
        (e, t): g
        for e, t, g in fig4.filter(direction="sharp bound")
        .select("epsilon", "temperature", "maximum")
        .iter_rows()
    }
    for direction in ("random", "random over all keys", "worst"):
        for row in fig4.filter(direction=direction).iter_rows(named=True):
            assert row["maximum"] <= sharp[row["epsilon"], row["temperature"]] * (1 + 1e-9)
    exact = fig4.filter(direction="exact")
    assert (exact["maximum"] * 2 * exact["temperature"] <= 1 + 1e-9).all()


# Under other rules, against the rule itself on the model's own logits

RULE_ROWS = 16
NAME = "random under sparsemax"  # of the run's two other rules the one that is no softmax


@pytest.fixture(scope="module")
def under(kept) -> pl.DataFrame:
    return pl.read_parquet(kept.scan.folder / "sensitivity.parquet").filter(direction=NAME)


def test_only_rules_that_are_no_softmax_and_were_asked_for(kept, under):
    told = pl.read_parquet(kept.scan.folder / "sensitivity.parquet")["direction"].unique()
    assert [name for name in told if " under " in name] == [NAME]
    assert len(under) == 8 * len(RULE_TEMPERATURES) * len(EPSILONS)
    assert set(under["rows"]) == {RULE_ROWS}
    assert set(under["logits"]) == {"scaled"}


def test_the_numbers_are_the_rules_own(under, model, tokens, unchecked):
    sparsemax = rule("sparsemax")
    places = spread_rows(0, LENGTH, LENGTH, RULE_ROWS)
    seen = 0

    def observer(call: models.ObservedCall) -> None:
        nonlocal seen
        for head in range(call.heads):
            draw = np.random.default_rng((0, 0, LENGTH, call.layer, 0, head))
            normal = torch.from_numpy(draw.standard_normal((len(places), LENGTH)))
            block = call.block(0, head, 0, LENGTH)
            for temperature, epsilon in ((0.1, 1e-3), (1.0, 10.0)):
                g = []
                for at, place in enumerate(places):
                    keys = block.visible[place]
                    z = block.logits[place][keys].double()
                    v = normal[at][keys] / normal[at][keys].norm()
                    before, after = sparsemax(torch.stack([z, z + epsilon * v]) / temperature)
                    g.append(float((after - before).norm()) / epsilon)
                found = under.filter(
                    layer=call.layer, head=head, temperature=temperature, epsilon=epsilon
                )
                assert found["sensitivity"].item() == pytest.approx(np.mean(g), rel=1e-6)
                seen += 1

    with torch.no_grad(), models.intercept(model, observer):
        model(tokens[:1])
    assert seen == 16


def test_sparsemax_moves_by_no_more_than_one_over_t(under):
    assert (under["sensitivity"] <= 1 / under["temperature"] + 1e-9).all()
    assert (under["sensitivity"] > 0).any()


def test_the_figure_has_them(kept):
    drawn = kept.paper["fig4"].filter(direction=NAME)
    assert len(drawn) == len(RULE_TEMPERATURES) * len(EPSILONS)
    assert set(drawn["rows"]) == {RULE_ROWS}
