import itertools
import math
from types import SimpleNamespace

import polars as pl
import pytest
import torch

from headgauge.paper import fig1_geometry
from headgauge.paper.choices import Choice
from headgauge.paper.fig1_geometry import CIRCLE_N, CIRCLE_POINTS, plane
from headgauge.theory.normalization.selection import context_vector, top_n
from headgauge.theory.normalization.separability import distinguishable, radius


def _row(seed: int, keys: int = 30, dim: int = 8, sharp: float = 2.0):
    source = torch.Generator().manual_seed(seed)
    weights = torch.softmax(sharp * torch.randn(keys, dtype=torch.float64, generator=source), -1)
    x = torch.randn(keys, dim, dtype=torch.float64, generator=source)
    return weights, torch.nn.functional.normalize(x, dim=-1)


@pytest.mark.parametrize("seed", range(4))
def test_weighted_points_keep_their_distance_from_s(seed):
    weights, x = _row(seed)
    points, placed, centre, r, selected, inside = plane(weights, x, 6)
    chosen = top_n(weights, 6)
    s = context_vector(weights, x, chosen)
    true = torch.linalg.vector_norm(weights[:, None] * x - s, dim=-1)
    away = torch.linalg.vector_norm(placed - centre, dim=-1)
    assert torch.allclose(away, true, rtol=1e-12)
    # s lies on the first axis, at its true length.
    assert centre.tolist() == pytest.approx([float(s.norm()), 0.0], rel=1e-12, abs=1e-12)
    assert float(r) == float(radius(weights, x, chosen))
    assert torch.equal(selected, chosen)
    assert torch.equal(inside, distinguishable(weights, x, chosen))
    # So the picture tells the truth: inside the drawn circle is inside the ball.
    assert torch.equal(chosen & (away <= r * (1 + 1e-12)), inside)
    # The vectors themselves are projected: never longer than they are.
    assert (points.square().sum(-1) <= 1 + 1e-12).all()


def test_in_a_plane_nothing_is_lost():
    weights, x = _row(3, keys=12, dim=2)
    points, y, *_ = plane(weights, x, 4)
    lengths = torch.linalg.vector_norm(weights[:, None] * x, dim=-1)
    assert torch.allclose(torch.linalg.vector_norm(y, dim=-1), lengths, rtol=1e-10, atol=1e-15)
    assert torch.allclose(points.square().sum(-1), torch.ones(12, dtype=torch.float64))


def test_the_second_axis_has_a_fixed_sign():
    weights, x = _row(1)
    first, again = plane(weights, x, 5), plane(weights, x, 5)
    assert all(map(torch.equal, first, again))


def test_the_points_of_the_run_are_the_models(kept, attended):
    points = pl.read_parquet(kept.scan.folder / "points.parquet")
    assert points.select("layer", "head").unique().sort("layer").rows() == [(0, 0), (1, 0)]
    assert set(points["row"]) == {109}
    assert set(points["top_n"]) == {16}
    seen = attended(0, 110)
    for layer in (0, 1):
        mine = points.filter(layer=layer).sort("key")
        assert mine["key"].to_list() == list(range(110))
        _, _, s, r, selected, inside = plane(seen.weights[layer, 0, -1], seen.final, 16)
        assert mine["weight"].to_numpy() == pytest.approx(
            seen.weights[layer, 0, -1].numpy(), rel=1e-4
        )
        assert mine["selected"].to_list() == selected.tolist()
        assert mine["inside"].to_list() == inside.tolist()
        assert mine["radius"][0] == pytest.approx(float(r), rel=1e-4)
        assert mine["s_x"][0] == pytest.approx(float(s[0]), rel=1e-4)
    drawn = kept.paper["fig1"].filter(panel="model")
    assert len(drawn) == len(points)
    assert drawn["weight"].sum() == pytest.approx(2.0, rel=1e-5)


def test_the_circle_is_an_illustration_in_the_plane(kept):
    circle = kept.paper["fig1"].filter(panel="circle")
    assert len(circle) == CIRCLE_POINTS
    assert circle["selected"].sum() == CIRCLE_N
    assert circle["layer"].null_count() == len(circle)
    assert circle["weight"].sum() == pytest.approx(1.0)
    for row in circle.iter_rows(named=True):
        assert math.hypot(row["x"], row["y"]) == pytest.approx(1.0)
        assert row["scaled_x"] == pytest.approx(row["weight"] * row["x"], abs=1e-15)
        away = math.hypot(row["scaled_x"] - row["s_x"], row["scaled_y"] - row["s_y"])
        assert row["inside"] == (row["selected"] and away <= row["radius"])
    some = circle.filter("selected")
    assert some["s_y"][0] == pytest.approx(some["scaled_y"].sum())
    outside = circle.filter(~pl.col("selected"))
    away = (outside["scaled_x"] - outside["s_x"]) ** 2 + (outside["scaled_y"] - outside["s_y"]) ** 2
    assert circle["radius"][0] == pytest.approx(math.sqrt(away.min()))  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("layers", "drawn"),
    [
        (1, {0}),
        (2, {0, 1}),
        (12, {0, 2, 4, 7, 9, 11}),
        (30, {0, 6, 12, 17, 23, 29}),
    ],
)
def test_the_drawn_layers_are_spread_over_the_model(layers, drawn):
    asked = set()
    probe = fig1_geometry.probe(Choice("final"), layers)
    assert (probe.table, probe.kinds) == ("points", ("final",))
    for layer, number in itertools.product(range(layers), range(2)):
        head = SimpleNamespace(head=number, call=SimpleNamespace(layer=layer, occurrence=0))

        def vectors(kind: str, place: tuple[int, int] = (layer, number)) -> None:
            asked.add((*place, kind))

        assert probe.measure(head, vectors) == []
    assert asked == {(layer, 0, "final") for layer in drawn}


def test_without_points_there_is_the_circle(frames):
    assert set(fig1_geometry.run(frames.left("points"))["panel"]) == {"circle"}
