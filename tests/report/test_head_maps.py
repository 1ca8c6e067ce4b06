"""What the maps of the heads describe, and how they are drawn."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from matplotlib.text import Text

from headgauge.report.drawing import draw
from headgauge.report.head_maps import head_maps, some_ns


def described(heads, curves, verdicts, run="the run", roles=None) -> Any:
    if roles is None:
        roles = verdicts.clear().rename({"verdict": "role"})
    return {name: make() for name, make in head_maps(heads, curves, verdicts, roles, run).items()}


def texts(figure):
    return [text.get_text() for text in figure.findobj(Text)]


def test_a_measures_numbers_are_its_means_over_windows(frames):
    heads = frames[0]
    (panel,) = described(*frames)["jacobian_norm"].panels
    expected = (
        heads.group_by("layer", "head").agg(pl.col("jacobian_norm").mean()).sort("layer", "head")
    )
    assert np.array(panel.values) == pytest.approx(
        expected["jacobian_norm"].to_numpy().reshape(3, 4)
    )
    assert (panel.rows, panel.columns) == (("0", "1", "2"), ("0", "1", "2", "3"))
    axes = draw(described(*frames)["jacobian_norm"]).axes[0]
    assert axes.images[0].get_clim() == (0, 0.5)


def test_null_cells_are_hatched_and_in_the_legend(frames):
    heads, curves, verdicts = frames
    lost = (pl.col("layer") == 1) & (pl.col("head") == 2)
    heads = heads.with_columns(output_norm=pl.when(lost).then(None).otherwise("output_norm"))
    made = described(heads, curves, verdicts)
    assert made["output_norm"].panels[0].values[1][2] is None
    figure = draw(made["output_norm"])
    boxes = next(each for each in figure.axes[0].collections if each.get_hatch()).get_paths()
    assert [box.get_extents().bounds for box in boxes] == [(1.5, 0.5, 1.0, 1.0)]
    assert "not measured" in texts(figure)
    assert "not measured" not in texts(draw(made["entropy"]))


def test_a_place_without_a_head_is_not_a_head_that_was_not_seen(frames):
    heads, curves, verdicts = frames
    fewer = heads.filter((pl.col("layer") < 2) | (pl.col("head") < 3))
    (panel,) = described(fewer, curves.clear(), verdicts.clear())["entropy"].panels
    assert panel.absent == [(2, 3)]


def test_a_measure_nobody_saw_has_no_figure(frames):
    heads, curves, verdicts = frames
    heads = heads.with_columns(pl.lit(None, pl.Float64).alias("output_ratio"))
    made = described(heads, curves, verdicts)
    assert "output_ratio" not in made
    assert "Output ratio" not in [panel.title for panel in made["heads"].panels]


def test_curves_have_a_panel_for_each_n_with_one_scale(frames):
    made = described(*frames)
    figure = made["distance"]
    assert [panel.title for panel in figure.panels] == ["N = 1", "N = 4", "N = 16"]
    assert figure.one_scale
    assert figure.panels[2].values[1][2] == pytest.approx(16 + (1 + 0.02 + 0.5) / 10)
    # At N = 1 separability is 1 by definition.
    assert [panel.title for panel in made["separability"].panels] == ["N = 4", "N = 16"]
    assert "value vectors of unit length, visible keys" in figure.caption[0].text


def test_many_n_are_thinned_out(make_run, make_verdicts):
    heads, curves = make_run(layers=1, heads=1, ns=range(1, 101))
    panels = described(heads, curves, make_verdicts(heads, {}))["radius"].panels
    shown = [int(panel.title[4:]) for panel in panels]
    assert len(shown) <= 8
    assert (shown[0], shown[-1]) == (1, 100)
    assert shown == some_ns(list(range(1, 101)), 8)
    assert {1, 16, 100} <= set(some_ns(list(range(1, 101)), 12))
    assert some_ns([3, 5], 12) == [3, 5]


def test_another_choice_of_vectors_has_its_own_name(frames):
    heads, curves, verdicts = frames
    other = curves.with_columns(vectors=pl.lit("hidden"), scale=pl.lit("raw"))
    made = described(heads, pl.concat([curves, other]), verdicts)
    assert {"radius", "radius-hidden-raw-visible"} <= set(made)
    told = made["radius-hidden-raw-visible"].caption[0].text
    assert "hidden vectors of raw length" in told


def test_only_the_longest_length_is_drawn_and_the_rows_are_counted(frames):
    heads, curves, verdicts = frames
    shorter = heads.with_columns(length=pl.lit(32, pl.Int64), entropy=pl.col("entropy") + 100)
    figure = described(pl.concat([heads, shorter]), curves, verdicts)["entropy"]
    assert max(map(max, figure.panels[0].values)) < 1
    assert figure.run == "the run; shown at L = 64; 64 query rows a head and window"
    assert described(*frames)["verdicts"].run == "the run; 64 query rows a head and window"


def test_the_overview_names_its_measures_and_verdicts(frames):
    figure = described(*frames)["heads"]
    assert [panel.title for panel in figure.panels] == [
        *("Entropy share", "Sink weight", "Separability N_s/N", "Jacobian norm", "Output ratio"),
        "Verdicts",
    ]
    assert figure.panels[2].unit == "N = 16; share of the top N in the ball, 0 to 1"
    assert figure.title == "12 attention heads in 3 layers"
    told = " ".join(texts(draw(figure)))
    assert "idle sink 2" in told
    assert "saturated 1" in told
    heads, curves, verdicts = frames
    none = described(heads, curves.clear(), verdicts)["heads"]
    assert len(none.panels) == 5


def test_each_verdict_of_a_head_is_in_its_cell(frames):
    (panel,) = described(*frames)["verdicts"].panels
    assert panel.verdicts[2][3] == ["saturated", "idle sink"]
    assert panel.verdicts[0][1] == ["idle sink"]
    assert panel.verdicts[1] == [["healthy"]] * 4


def test_roles_have_a_map_and_a_count_and_none_where_no_head_has_one(frames):
    heads, curves, verdicts = frames
    roles = verdicts.rename({"verdict": "role"}).with_columns(
        role=pl.when(pl.col("layer") == 1).then(pl.lit("induction")).otherwise(None)
    )
    figure = described(heads, curves, verdicts, roles=roles)["roles"]
    (panel,) = figure.panels
    assert panel.verdicts[1] == [["induction"]] * 4
    assert panel.verdicts[0] == [[]] * 4
    told = texts(draw(figure))
    assert "I  induction 4" in told
    assert "not measured" in told
    assert "roles" not in described(*frames)


def test_a_name_with_dollars_is_no_mathematics(frames):
    figure = draw(described(*frames, run="a $model$ with \\frac")["verdicts"])
    figure.draw_without_rendering()
    assert any("a $model$ with \\frac" in line for line in texts(figure))


@pytest.mark.parametrize(("layers", "heads", "last"), [(2, 1, "0"), (30, 9, "8"), (96, 128, "120")])
def test_rows_and_columns_are_numbered_as_far_as_there_is_room(
    make_run, make_verdicts, layers, heads, last
):
    frame, curves = make_run(layers, heads, windows=1, ns=(16,))
    figure = described(frame, curves, make_verdicts(frame, {}))["entropy"]
    assert 4 < figure.width < 12
    assert 0.2 < figure.panel_height < 8
    axes = draw(figure).axes[0]
    numbers = [label.get_text() for label in (*axes.get_xticklabels(), *axes.get_yticklabels())]
    assert {"0", last} <= set(numbers)
    assert len(numbers) <= 60
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("head", "layer")
