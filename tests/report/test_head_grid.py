"""A head's value lands in the head's cell."""

import numpy as np
import polars as pl
import pytest

from headgauge.report.head_grid import cells, head_grid, module_kinds
from headgauge.report.words import MEASURES

KINDS = ("encoder.block.{}.self", "decoder.block.{}.self", "decoder.block.{}.cross")


def test_values_reach_their_cells_as_means_over_windows(make_run):
    heads, _ = make_run(layers=3, heads=4, windows=2)
    shuffled = heads.sample(fraction=1.0, shuffle=True, seed=0)
    values = cells(head_grid(shuffled), shuffled, "sink_weight", MEASURES["sink_weight"])
    for layer in range(3):
        for head in range(4):
            assert values[layer, head] == pytest.approx((layer + head / 100 + 0.5) / 10)


def test_the_largest_logit_is_the_largest_of_the_windows(make_run):
    heads, _ = make_run(layers=1, heads=1, windows=2)
    assert cells(head_grid(heads), heads, "max_logit", MEASURES["max_logit"])[0, 0] == 0.1


def test_null_differs_from_no_head(make_run):
    heads, _ = make_run(layers=2, heads=3)
    heads = heads.filter((pl.col("layer") == 0) | (pl.col("head") < 1)).with_columns(
        entropy=pl.when(pl.col("head") == 2).then(None).otherwise("entropy")
    )
    grid = head_grid(heads)
    assert grid.exists.tolist() == [[True, True, True], [True, False, False]]
    values = cells(grid, heads, "entropy", MEASURES["entropy"])
    assert np.isnan(values).tolist() == [[False, False, True], [False, True, True]]


def test_numbers_that_are_not_finite_are_not_drawn(make_run):
    heads, _ = make_run(layers=1, heads=2, windows=1)
    heads = heads.with_columns(sharpness=pl.Series([float("inf"), 1.0]))
    values = cells(head_grid(heads), heads, "sharpness", MEASURES["sharpness"])
    assert np.isnan(values).tolist() == [[True, False]]


def test_heads_of_a_selection_keep_their_numbers(make_run):
    heads, _ = make_run(layers=1, heads=8)
    grid = head_grid(heads.filter(pl.col("head").is_in([3, 7])))
    assert grid.column_of == {3: 0, 7: 1}


def test_kinds_of_modules_stand_in_blocks(make_run):
    heads, _ = make_run(layers=6, heads=1, kinds=KINDS)
    grid = head_grid(heads)
    assert grid.labels == ("0", "3", "1", "4", "2", "5")
    assert grid.blocks == (
        ("encoder self", 0, 2),
        ("decoder self", 2, 4),
        ("decoder cross", 4, 6),
    )


def test_a_shared_layer_has_a_row_for_each_call(make_run):
    heads, _ = make_run(layers=2, heads=1, calls=2)
    assert head_grid(heads).labels == ("0", "0 call 2", "1", "1 call 2")


def test_one_kind_needs_no_name():
    assert set(module_kinds(["model.layers.0.attn", "model.layers.11.attn"]).values()) == {""}
