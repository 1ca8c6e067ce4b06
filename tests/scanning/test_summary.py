"""The verdicts by head, by layer and in total, on tables worked out by hand; means over windows."""

import math
from dataclasses import replace

import polars as pl
import pytest

from headgauge.errors import InputError
from headgauge.runs.schema import CurveRow, HeadRow, frame_schema
from headgauge.scanning.summary import (
    counts,
    curves_over_windows,
    depth_over_windows,
    head_table,
    heads_over_windows,
    layer_summary,
)
from headgauge.scanning.thresholds import DEFAULT
from headgauge.scanning.verdicts import verdicts
from report.conftest import run_frames
from report.page.dynamics_frames import depth_frame

NAMES = [
    *("saturated", "diffuse", "idle sink", "broadcast sink", "unstable", "inactive"),
    *("incomplete", "healthy"),
]


def head(layer: int, number: int, window: int = 0, **change) -> dict:
    row = {
        "window": window,
        "length": 64,
        "layer": layer,
        "occurrence": 0,
        "module": f"layers.{layer}",
        "head": number,
        "kv_head": 0,
        "cross": False,
        "seen": "qkv",
        "rows": 64,
        "entropy": 1.0,
        "entropy_share": 0.3,
        "effective_n": 3.0,
        "sink_weight": 0.0,
        "max_logit": 9.0,
        "jacobian_norm": 0.2,
        "output_ratio": 1.0,
        "first_value_ratio": 0.0,
    }
    return {**row, **change}


def tables(*rows: dict) -> tuple[pl.DataFrame, pl.DataFrame]:
    choice = {"top_n": 16, "vectors": "value", "scale": "unit", "keys": "off_sink"}
    frames = []
    for kind, extra in ((HeadRow, {}), (CurveRow, choice)):
        schema = frame_schema(kind)
        filled = [{"separability": 0.8, **row, **extra} for row in rows]
        cut = [{name: row.get(name) for name in schema} for row in filled]
        frames.append(pl.DataFrame(cut, schema=schema))
    return frames[0], frames[1]


@pytest.fixture
def judged():
    """Two layers: a sink and a well head; a dead sink, a well head and one that is half unseen."""
    heads, curves = tables(
        head(0, 0, sink_weight=0.4),
        head(0, 0, 1, sink_weight=0.8),
        head(0, 1, separability=0.6, max_logit=8.0),
        head(0, 1, 1, separability=0.7, max_logit=12.0),
        head(1, 0, sink_weight=0.6, output_ratio=0.17, max_logit=50.0),
        head(1, 0, 1, sink_weight=0.6, output_ratio=0.17),
        head(1, 1, sink_weight=0.4),
        head(1, 1, 1),
        head(1, 2, output_ratio=None),
        head(1, 2, 1, output_ratio=None),
    )
    return heads, curves, verdicts(heads, curves)


def test_one_row_a_head_the_worst_first(judged):
    table = head_table(*judged)
    assert table.select("layer", "head", "verdicts").rows() == [
        (1, 0, "idle sink, inactive"),
        (0, 0, "idle sink"),
        (1, 2, "incomplete"),  # before the healthy: it may hide something
        (0, 1, "healthy"),
        (1, 1, "healthy"),
    ]
    # .6/.3 + .68/.17, then .6/.3.
    assert table["severity"].to_list() == pytest.approx([6.0, 2.0, 0.0, 0.0, 0.0])
    assert table["flips"].to_list() == [0.0, 0.0, None, 0.0, 0.5]


def test_saturated_is_not_held_against_a_head():
    heads, curves = tables(
        head(0, 0, separability=0.1), head(0, 1, separability=0.1, output_ratio=0.34)
    )
    table = head_table(heads, curves, verdicts(heads, curves))
    assert table["verdicts"].to_list() == ["saturated, inactive", "saturated"]
    assert table["severity"].to_list() == pytest.approx([2.0, 0.0])


def test_the_numbers_are_means_over_windows_and_the_largest_logit_the_largest(judged):
    row = head_table(*judged).row(by_predicate=(pl.col("layer") == 0) & (pl.col("head") == 1))
    named = dict(zip(head_table(*judged).columns, row, strict=True))
    assert named["separability"] == pytest.approx(0.65)
    assert named["max_logit"] == 12.0
    assert named["rest_entropy_share"] == pytest.approx(0.3)
    assert named["length"] == 64


def test_separability_is_taken_where_the_threshold_is():
    heads, curves = tables(head(0, 0))
    four = curves.with_columns(top_n=pl.lit(4, pl.Int64), separability=pl.lit(0.9))
    both = pl.concat([curves, four])
    at_four = tuple(replace(t, top_n=4) if t.choice else t for t in DEFAULT)
    found = verdicts(heads, both, at_four)
    assert head_table(heads, both, found, at_four)["separability"].item() == 0.9
    assert head_table(heads, both, found)["separability"].item() == 0.8
    without = tuple(t for t in DEFAULT if not t.choice)
    assert head_table(heads, both, found, without)["separability"].item() is None


def test_only_the_judged_length_counts():
    heads, curves = tables(head(0, 0, sink_weight=0.2), head(0, 0, length=128, sink_weight=0.1))
    table = head_table(heads, curves, verdicts(heads, curves, length=64))
    assert table["sink_weight"].item() == 0.2


def test_layers(judged):
    layers = layer_summary(head_table(*judged))
    assert layers["heads"].to_list() == [2, 3]
    assert layers.select(NAMES).rows() == [
        (0, 0, 1, 0, 0, 0, 0, 1),
        (0, 0, 1, 0, 0, 1, 1, 1),
    ]
    assert layers["sink_weight"].to_list() == pytest.approx([0.3, (0.6 + 0.2 + 0) / 3])
    assert layers["max_logit"].to_list() == [12.0, 50.0]
    assert layers["output_ratio"].to_list() == pytest.approx([1.0, 0.585])


def test_totals_name_every_verdict(judged):
    total = counts(judged[2])
    assert total["verdict"].to_list() == NAMES
    assert total["heads"].to_list() == [0, 0, 2, 0, 0, 1, 1, 2]
    assert total["share"].to_list() == pytest.approx([0, 0, 0.4, 0, 0, 0.2, 0.2, 0.4])
    assert total["flipping"].to_list() == [0, 0, 0, 0, 0, 0, 0, 1]
    with pytest.raises(InputError, match="the table is empty"):
        counts(judged[2].clear())


def test_a_head_has_means_and_its_largest_logit():
    heads, _ = run_frames(layers=1, heads=2, windows=2)
    found = heads_over_windows(heads.sample(fraction=1.0, shuffle=True, seed=1)).sort("head")
    assert found["head"].to_list() == [0, 1]
    assert found["sink_weight"].to_list() == pytest.approx([0.05, 0.051])
    assert found["max_logit"].to_list() == pytest.approx([0.1, 0.101])
    assert found["kv_head"].to_list() == [0, 1]
    assert found["rows"].to_list() == [64, 64]


def test_what_is_no_number_in_a_window_does_not_count():
    heads, _ = run_frames(layers=1, heads=1, windows=3)
    heads[1, "sink_weight"] = math.nan
    heads[2, "sink_weight"] = None
    (row,) = heads_over_windows(heads).iter_rows(named=True)
    assert row["sink_weight"] == heads["sink_weight"][0]


def test_lengths_choices_and_n_stay_apart():
    _, curves = run_frames(layers=1, heads=1, windows=2, ns=(1, 4))
    found = curves_over_windows(curves)
    assert found["top_n"].to_list() == [1, 4]
    assert found["distance"].to_list() == pytest.approx([1.05, 4.05])
    other = curves.with_columns(length=curves["length"] * 2)
    assert curves_over_windows(curves.extend(other)).height == 4


def test_a_layer_has_its_least_and_its_most_too():
    depth = depth_frame()
    found = depth_over_windows(depth)
    assert found["layer"].to_list() == sorted(set(depth["layer"]))
    own, row = depth.filter(layer=1), found.filter(layer=1).row(0, named=True)
    for name in ("mean_cosine", "radius"):
        assert row[name] == pytest.approx(own[name].mean())
        assert (row[f"{name}_least"], row[f"{name}_most"]) == (own[name].min(), own[name].max())
    assert row["clusters"] == pytest.approx(own["clusters"].mean())
    assert row["module"] == own["module"][0]
