"""The schemes' predictions: their start, their β, and what is told of them."""

import math
from typing import Any

import polars as pl
import pytest
import torch

from headgauge.particles import equiangular, schemes
from headgauge.runs import DepthCurveRow, DepthRow, frame_schema
from headgauge.scanning import depth_prediction as prediction


def _depth(
    layers: int = 4, windows: int = 2, names: tuple[str | None, ...] = ("pre_ln",), **first: Any
) -> pl.DataFrame:
    """A table whose layer 0 is known; a shorter length is there to be passed over."""
    rows = []
    for window in range(windows):
        for length in (16, 65):
            for layer in range(layers + 1):
                row = dict.fromkeys(frame_schema(DepthRow), 0.5)
                row |= {
                    "window": window, "length": length, "layer": layer, "clusters": 3,
                    "tokens": length - 1, "mean_cosine": 0.1 + 0.1 * window, "radius": 6.0 + layer,
                    "attention_norm": 2.0, "effective_n": 12.0, "module": f"layers.{layer}",
                    "scheme": names[layer * len(names) // layers] if layer < layers else None,
                }  # fmt: skip
                if layer == layers:
                    row |= dict.fromkeys(("attention_norm", "effective_n", "speed"))
                    row["module"] = ""
                if length == 16:
                    row["mean_cosine"] = -0.9
                rows.append(row | (first if layer == 0 else {}))
    return pl.DataFrame(rows, schema=frame_schema(DepthRow))


@pytest.fixture(scope="module")
def curves() -> pl.DataFrame:
    """What is predicted of that table: six systems solved."""
    return prediction.depth_curves(_depth(), causal=True)


def _keys(beta: float, gamma: float, visible: int) -> float:
    """exp(entropy) of the softmax, written out."""
    weights = torch.tensor([beta] + [beta * gamma] * (visible - 1), dtype=torch.float64).softmax(0)
    return math.exp(float(-(weights * weights.log()).sum()))


@pytest.mark.parametrize("gamma", [0.0, 0.3, -0.01])
def test_beta_spreads_as_the_heads_do(gamma: float) -> None:
    beta, exact = prediction.fitting_beta(9.0, 40, gamma, causal=False)
    assert exact
    assert _keys(beta, gamma, 40) == pytest.approx(9.0, rel=1e-9)
    beta, exact = prediction.fitting_beta(9.0, 40, gamma, causal=True)
    assert exact
    mean = sum(_keys(beta, gamma, visible) for visible in range(1, 41)) / 40
    assert mean == pytest.approx(9.0, rel=1e-9)


def test_beta_where_there_is_none() -> None:
    assert prediction.fitting_beta(41.0, 40, 0.2, causal=False) == (0.0, False)
    # Causal rows see 20.5 keys on average.
    assert prediction.fitting_beta(20.5, 40, 0.2, causal=True) == (0.0, False)
    assert prediction.fitting_beta(20.4, 40, 0.2, causal=True)[1]
    beta, exact = prediction.fitting_beta(1.0, 40, 0.2, causal=False)
    assert (beta, exact) == (pytest.approx(50.0), False)


def test_the_start_is_the_mean_over_the_longest_windows() -> None:
    start = prediction.start_of(_depth(), causal=False)
    assert start is not None
    assert (start.tokens, start.radius, start.unit) == (64, 6.0, 2.0)
    assert start.gamma == pytest.approx(0.15)
    assert _keys(start.beta, 0.15, 64) == pytest.approx(12.0)
    # No 64 directions are farther apart than this.
    apart = prediction.start_of(_depth(mean_cosine=-0.5), causal=False)
    assert apart is not None
    assert apart.gamma == -1 / 63
    assert prediction.start_of(_depth(attention_norm=None), causal=False) is None
    assert prediction.start_of(_depth(effective_n=None), causal=False) is None


@pytest.mark.parametrize(
    "first",
    [
        {"attention_norm": 0.0},
        {"attention_norm": math.nan},
        {"attention_norm": math.inf},
        {"radius": 0.0},
        {"effective_n": math.nan},
        {"mean_cosine": -1.0, "effective_n": 99.0},  # evenly over directions that cancel
    ],
)
def test_nothing_to_start_from(first: dict[str, Any]) -> None:
    depth = _depth(**first)
    assert prediction.start_of(depth, causal=True) is None
    assert prediction.depth_curves(depth, causal=True).height == 0
    assert prediction.by_layer(depth, prediction.depth_curves(depth, causal=True)).height == 5
    told = prediction.depth_notes(depth, "decoder")[-1]
    assert told.startswith("depth: nothing is predicted")
    assert told.endswith("or is nothing")


def test_curves_are_the_reduced_systems(curves: pl.DataFrame) -> None:
    assert dict(curves.schema) == dict(frame_schema(DepthCurveRow))
    start = prediction.start_of(_depth(), causal=True)
    assert start is not None
    times = torch.arange(5, dtype=torch.float64)
    for name in schemes.names():
        mine = curves.filter(scheme=name)
        assert mine["layer"].to_list() == [0, 1, 2, 3, 4]
        assert set(mine["recognised"]) == {name == "pre_ln"}
        assert set(mine["tokens"]) == {64}
        # The model's first attention adds 2.0: so does the scheme's first step.
        scheme = schemes.get(name)
        norm = equiangular.solve(scheme, 64, start.beta, times[:1], 0.15).attention_norm
        adds = {"peri_ln": 1.0, "ngpt": 1.0}.get(name, float(norm))
        unit = 2.0 / adds
        solved = equiangular.solve(scheme, 64, start.beta, times, 0.15, 6.0 / unit)
        assert mine["gamma"].to_list() == pytest.approx(solved.gamma.tolist())
        assert mine["radius"].to_list() == pytest.approx((unit * solved.radius).tolist())
    assert curves.filter(layer=0)["gamma"].to_list() == pytest.approx([0.15] * 6)
    assert curves.filter(layer=0)["radius"].to_list() == pytest.approx([6.0] * 6)
    assert prediction.depth_curves(_depth(effective_n=None), causal=True).height == 0


def test_a_mix_ln_switches_where_the_model_does() -> None:
    depth = _depth(names=("post_ln", "pre_ln", "pre_ln", "pre_ln"))
    curves = prediction.depth_curves(depth, causal=True)
    assert curves.filter("recognised")["scheme"].unique().to_list() == ["mix_ln"]
    radius = curves.filter(scheme="mix_ln")["radius"].to_list()
    assert radius[1] == pytest.approx(radius[0])
    assert radius[2] > 1.01 * radius[1]  # by default it would switch after two layers


def test_layers_beside_their_prediction(curves: pl.DataFrame) -> None:
    found = prediction.by_layer(_depth(), curves)
    assert found["layer"].to_list() == [0, 1, 2, 3, 4]
    assert found["mean_cosine"].to_list() == pytest.approx([0.15] * 5)
    mine = curves.filter(scheme="pre_ln")
    assert found["predicted_cosine"].equals(mine["gamma"].alias("predicted_cosine"))
    assert found["predicted_radius"].equals(mine["radius"].alias("predicted_radius"))
    nobody = curves.with_columns(recognised=False)
    assert prediction.by_layer(_depth(), nobody)["predicted_cosine"].null_count() == 5


def test_notes() -> None:
    told = "\n".join(prediction.depth_notes(_depth(), "decoder"))
    assert "depth: Pre-LN. All 4 layers have a norm before the attention" in told
    assert "in 4 of 4 windows the first token is left out" in told
    assert "more than 10 times" in told
    assert "64 tokens, γ = 0.150, a length 3 times what the first attention adds, and β = " in told
    assert "(12 effective keys under the heads' mask)" in told
    assert "without MLPs" in told
    for word in ("evenly spread", "decoder's", "could not be told", "nearest there is"):
        assert word not in told
    every = _depth().with_columns(tokens=pl.col("length"))
    assert "left out" not in "\n".join(prediction.depth_notes(every, "decoder"))
    long = _depth().with_columns(length=pl.col("length") * 100)
    assert "those of 1024 tokens, evenly spread" in "\n".join(
        prediction.depth_notes(long, "encoder")
    )
    assert "is the decoder's" in "\n".join(prediction.depth_notes(_depth(), "encoder-decoder"))
    wide = "\n".join(prediction.depth_notes(_depth(effective_n=99.0), "decoder"))
    assert "99 effective keys under the heads' mask, the nearest there is" in wide
    unseen = "\n".join(prediction.depth_notes(_depth(attention_norm=None), "decoder"))
    assert "could not be told in 1 layers (such as layers.0)" in unseen
    assert "nothing is predicted" in unseen
    other = "\n".join(prediction.depth_notes(_depth(names=("other",)), "decoder"))
    assert "depth: no scheme of the paper. All 4 layers" in other
