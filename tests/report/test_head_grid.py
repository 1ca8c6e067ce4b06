"""A head's value lands in the head's cell."""

import polars as pl
import pytest

from headgauge.report.head_grid import cells, head_grid, module_kinds

KINDS = ("encoder.block.{}.self", "decoder.block.{}.self", "decoder.block.{}.cross")


def test_values_reach_their_cells(make_run):
    heads, _ = make_run(layers=3, heads=4, windows=1)
    shuffled = heads.sample(fraction=1.0, shuffle=True, seed=0)
    values = cells(head_grid(shuffled), shuffled, "sink_weight")
    for layer in range(3):
        for head in range(4):
            assert values[layer][head] == pytest.approx((layer + head / 100) / 10)


def test_null_differs_from_no_head(make_run):
    heads, _ = make_run(layers=2, heads=3, windows=1)
    heads = heads.filter((pl.col("layer") == 0) | (pl.col("head") < 1)).with_columns(
        entropy=pl.when(pl.col("head") == 2).then(None).otherwise("entropy"),
        sharpness=pl.when(pl.col("head") == 1).then(float("inf")).otherwise("sharpness"),
    )
    grid = head_grid(heads)
    assert grid.absent() == [(1, 1), (1, 2)]
    for name, lost in (("entropy", 2), ("sharpness", 1)):
        first, second = cells(grid, heads, name)
        assert [value is None for value in first] == [place == lost for place in range(3)]
        assert [value is None for value in second] == [False, True, True]


def test_heads_of_a_selection_keep_their_numbers(make_run):
    heads, _ = make_run(layers=1, heads=8)
    grid = head_grid(heads.filter(pl.col("head").is_in([3, 7])))
    assert grid.columns == (3, 7)
    assert {head[3]: place for head, place in grid.places.items()} == {3: (0, 0), 7: (0, 1)}


def test_kinds_of_modules_stand_in_blocks(make_run):
    heads, _ = make_run(layers=6, heads=1, kinds=KINDS)
    grid = head_grid(heads)
    assert grid.rows == ("0", "3", "1", "4", "2", "5")
    assert list(grid.places.values()) == [(row, 0) for row in range(6)]
    assert grid.blocks == (
        ("encoder self", 0, 2),
        ("decoder self", 2, 4),
        ("decoder cross", 4, 6),
    )


def test_a_shared_layer_has_a_row_for_each_call(make_run):
    heads, _ = make_run(layers=2, heads=1, calls=2)
    assert head_grid(heads).rows == ("0", "0 call 2", "1", "1 call 2")


def test_one_kind_needs_no_name():
    assert set(module_kinds(["model.layers.0.attn", "model.layers.11.attn"]).values()) == {""}
