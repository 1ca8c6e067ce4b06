import math

import numpy as np
import polars as pl
import pytest
import torch

from headgauge import models
from headgauge.measure.requests import spread_rows
from headgauge.paper import fig4_sensitivity
from headgauge.paper.fig4_sensitivity import Config, grid
from headgauge.paper.measured import Measured
from headgauge.theory.normalization import finite_difference as theory
from headgauge.theory.normalization.sensitivity import spectral_norm

LENGTH, ROWS = 110, 7
DIRECTIONS = {
    ("scaled", "random"), ("scaled", "random over all keys"), ("scaled", "worst"),
    ("scaled", "exact"), ("scaled", "exact mean"), ("raw", "random"),
}  # fmt: skip


def test_the_grid_is_even_on_the_logarithm():
    assert grid(5) == (0.01, 0.1, 1.0, 10.0, 100.0)
    assert len(Config().temperatures) == 25
    assert np.allclose(np.diff(np.log(grid(25))), math.log(1e4) / 24, rtol=1e-4)


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
    temperatures, epsilons = settings.fig4.temperatures, settings.fig4.epsilons
    assert set(sensitivity["temperature"]) == set(temperatures)
    limits = sensitivity.filter(pl.col("direction").str.starts_with("exact"))
    assert set(limits["epsilon"]) == {0.0}
    others = sensitivity.filter(~pl.col("direction").str.starts_with("exact"))
    assert set(others["epsilon"]) == set(epsilons)
    assert len(others) == 8 * 4 * len(temperatures) * len(epsilons)


def _measured(frames, rows: list[dict]) -> Measured:
    default = {
        "window": 0, "length": 9, "layer": 0, "occurrence": 0, "module": "m", "head": 0,
        "logits": "scaled", "direction": "random", "epsilon": 0.1, "temperature": 1.0, "rows": 4,
        "sensitivity": 0.5, "spread": 0.2,
    }  # fmt: skip
    return frames.measured(sensitivity=[default | row for row in rows])


def test_the_figure_shows_the_largest_head(frames):
    measured = _measured(
        frames,
        [
            {"layer": 0, "head": 1, "sensitivity": 0.3},
            {"layer": 1, "head": 2, "sensitivity": 0.8, "spread": 0.4},
            {"layer": 1, "head": 3, "sensitivity": 0.8, "spread": 9.0},  # a tie: the first
            {"layer": 0, "head": 0, "sensitivity": 0.1},
            {"window": 1, "layer": 0, "head": 0, "sensitivity": 7.0},
        ],
    )
    config = Config(temperatures=(1.0,), epsilons=(0.1,))
    found = fig4_sensitivity.run(measured, config).filter(direction="random")
    row = found.row(0, named=True)
    assert len(found) == 1
    assert (row["layer"], row["head"], row["heads"], row["rows"]) == (1, 2, 4, 4)
    assert row["maximum"] == 0.8
    assert row["mean"] == pytest.approx(0.5)
    half = 1.96 * 0.4 / 2 / 0.8  # of the logarithm
    assert row["low"] == pytest.approx(0.8 * math.exp(-half))
    assert row["high"] == pytest.approx(0.8 * math.exp(half))


def test_the_limit_has_no_epsilon_and_a_head_of_zeros_no_nan(frames):
    measured = _measured(
        frames, [{"direction": "exact", "epsilon": 0.0, "sensitivity": 0.0, "spread": 0.0}]
    )
    found = fig4_sensitivity.run(measured, Config(temperatures=(1.0,), epsilons=(0.1,)))
    row = found.filter(direction="exact").row(0, named=True)
    assert row["epsilon"] is None
    for name in ("maximum", "low", "high"):
        assert row[name] is None or row[name] == 0.0, name


def test_the_bounds_are_theorys(found, settings):
    bounds = found.paper["fig4"].filter(pl.col("direction").str.ends_with("bound"))
    grid = settings.fig4.temperatures
    assert len(bounds) == len(grid) * (2 + len(settings.fig4.epsilons))
    for row in bounds.iter_rows(named=True):
        t = row["temperature"]
        wanted = {
            "printed bound": min(1 / (4 * t), math.sqrt(2)),
            "corrected bound": 1 / (2 * t),
            "sharp bound": row["epsilon"] and theory.sharp_bound(row["epsilon"], t),
        }
        assert row["maximum"] == pytest.approx(wanted[row["direction"]], rel=1e-14)
        assert row["low"] is row["layer"] is row["rows"] is None


def test_no_head_is_above_a_corrected_bound(found):
    fig4 = found.paper["fig4"].filter(logits="scaled")
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
