"""The measures over windows that figures, tables and the page show."""

import math

import pytest

from headgauge.scanning.summary import (
    curves_over_windows,
    depth_over_windows,
    heads_over_windows,
)
from report.conftest import run_frames
from report.page.dynamics_frames import depth_frame


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
