import itertools
import math
from types import SimpleNamespace

import polars as pl
import pytest
import torch

from headgauge.paper import fig1_geometry
from headgauge.paper.choices import Choice
from headgauge.paper.fig1_geometry import CIRCLE_N, CIRCLE_POINTS, panel
from headgauge.theory.normalization.selection import context_vector, top_n
from headgauge.theory.normalization.separability import distinguishable, radius


def _row(seed: int, keys: int = 30, dim: int = 8, sharp: float = 2.0):
    source = torch.Generator().manual_seed(seed)
    weights = torch.softmax(sharp * torch.randn(keys, dtype=torch.float64, generator=source), -1)
    x = torch.randn(keys, dim, dtype=torch.float64, generator=source)
    return weights, torch.nn.functional.normalize(x, dim=-1)


def _columns(points: list[dict], *names: str) -> torch.Tensor:
    values = [[point[name] for name in names] for point in points]
    return torch.tensor(values, dtype=torch.float64)


def test_weighted_points_keep_their_distance_from_s():
    for seed in range(4):
        weights, x = _row(seed)
        points = panel(weights, x, 6)
        chosen = top_n(weights, 6)
        s = context_vector(weights, x, chosen)
        true = torch.linalg.vector_norm(weights[:, None] * x - s, dim=-1)
        centre = _columns(points, "s_x", "s_y")
        away = torch.linalg.vector_norm(_columns(points, "scaled_x", "scaled_y") - centre, dim=-1)
        assert torch.allclose(away, true, rtol=1e-12)
        # s lies on the first axis, at its true length.
        assert centre[0].tolist() == pytest.approx([float(s.norm()), 0.0], rel=1e-12, abs=1e-12)
        inside = distinguishable(weights, x, chosen)
        r = radius(weights, x, chosen)
        assert {point["radius"] for point in points} == {float(r)}
        assert [point["selected"] for point in points] == chosen.tolist()
        assert [point["inside"] for point in points] == inside.tolist()
        # So the picture tells the truth: inside the drawn circle is inside the ball.
        assert torch.equal(chosen & (away <= r * (1 + 1e-12)), inside)
        # The vectors themselves are projected: never longer than they are.
        assert (_columns(points, "x", "y").square().sum(-1) <= 1 + 1e-12).all()
        assert panel(weights, x, 6) == points  # the second axis has a fixed sign


def test_in_a_plane_nothing_is_lost():
    weights, x = _row(3, keys=12, dim=2)
    points = panel(weights, x, 4)
    lengths = torch.linalg.vector_norm(weights[:, None] * x, dim=-1)
    scaled = torch.linalg.vector_norm(_columns(points, "scaled_x", "scaled_y"), dim=-1)
    assert torch.allclose(scaled, lengths, rtol=1e-10, atol=1e-15)
    ones = torch.ones(12, dtype=torch.float64)
    assert torch.allclose(_columns(points, "x", "y").square().sum(-1), ones)


def test_the_points_of_the_run_are_the_models(kept, attended):
    points = pl.read_parquet(kept.scan.folder / "points.parquet")
    assert points.select("layer", "head").unique().sort("layer").rows() == [(0, 0), (1, 0)]
    assert set(points["row"]) == {109}
    assert set(points["top_n"]) == {16}
    seen = attended(0, 110)
    for layer in (0, 1):
        mine = points.filter(layer=layer).sort("key")
        assert mine["key"].to_list() == list(range(110))
        wanted = panel(seen.weights[layer, 0, -1], seen.final, 16)
        for name in ("weight", "radius", "s_x"):
            assert mine[name].to_list() == pytest.approx([row[name] for row in wanted], rel=1e-4)
        for name in ("selected", "inside"):
            assert mine[name].to_list() == [row[name] for row in wanted]
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
