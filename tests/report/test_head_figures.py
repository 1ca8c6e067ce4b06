"""What is in the figures before they are saved."""

import numpy as np
import polars as pl
import pytest

from headgauge.report.figure_files import house_style
from headgauge.report.head_figures import figures


def drawn(heads, curves, verdicts, caption="the caption"):
    with house_style():
        return dict(figures(heads, curves, verdicts, caption))


def array(axes):
    """The numbers in an image, masked where nothing is drawn."""
    return np.ma.asarray(axes.images[0].get_array())


def texts(figure):
    return [text.get_text() for text in figure.texts]


def test_a_measures_array_is_in_its_image(frames):
    heads = frames[0]
    axes = drawn(*frames)["jacobian_norm"].axes[0]
    expected = (
        heads.group_by("layer", "head").agg(pl.col("jacobian_norm").mean()).sort("layer", "head")
    )
    assert array(axes).data == pytest.approx(expected["jacobian_norm"].to_numpy().reshape(3, 4))
    assert axes.images[0].get_clim() == (0, 0.5)


def test_null_cells_are_masked_and_hatched_and_in_the_legend(frames):
    heads, curves, verdicts = frames
    lost = (pl.col("layer") == 1) & (pl.col("head") == 2)
    heads = heads.with_columns(output_norm=pl.when(lost).then(None).otherwise("output_norm"))
    figure = drawn(heads, curves, verdicts)["output_norm"]
    axes = figure.axes[0]
    mask = np.ma.getmaskarray(array(axes))
    assert np.argwhere(mask).tolist() == [[1, 2]]
    boxes = next(each for each in axes.collections if each.get_hatch()).get_paths()
    assert [box.get_extents().bounds for box in boxes] == [(1.5, 0.5, 1.0, 1.0)]
    assert "not seen" in texts(figure)
    assert "not seen" not in texts(drawn(heads, curves, verdicts)["entropy"])


def test_a_measure_nobody_saw_has_no_figure(frames):
    heads, curves, verdicts = frames
    heads = heads.with_columns(pl.lit(None, pl.Float64).alias("output_ratio"))
    names = drawn(heads, curves, verdicts)
    assert "output_ratio" not in names
    assert "Output ratio" not in texts(names["heads"])


def test_curves_have_a_panel_for_each_n_with_one_scale(frames):
    figure = drawn(*frames)["distance"]
    panels = [axes for axes in figure.axes if axes.images]
    assert [text for text in texts(figure) if text.startswith("N =")] == [
        "N = 1",
        "N = 4",
        "N = 16",
    ]
    assert len({axes.images[0].norm.vmax for axes in panels}) == 1
    assert array(panels[2])[1, 2] == pytest.approx(16 + (1 + 0.02 + 0.5) / 10)
    # At N = 1 separability is 1 by definition.
    assert "N = 1" not in texts(drawn(*frames)["separability"])


def test_many_n_are_thinned_out(make_run, make_verdicts):
    heads, curves = make_run(layers=1, heads=1, ns=range(1, 101))
    labels = texts(drawn(heads, curves, make_verdicts(heads, {}))["radius"])
    shown = [int(text[4:]) for text in labels if text.startswith("N =")]
    assert len(shown) <= 8
    assert (shown[0], shown[-1]) == (1, 100)


def test_another_choice_of_vectors_has_its_own_name(frames):
    heads, curves, verdicts = frames
    other = curves.with_columns(vectors=pl.lit("hidden"), scale=pl.lit("raw"))
    names = drawn(heads, pl.concat([curves, other]), verdicts)
    assert {"radius", "radius-hidden-raw-visible"} <= set(names)
    assert any(
        "hidden vectors of raw length" in text for text in texts(names["radius-hidden-raw-visible"])
    )


def test_only_the_longest_length_is_drawn(frames):
    heads, curves, verdicts = frames
    shorter = heads.with_columns(length=pl.lit(32, pl.Int64), entropy=pl.col("entropy") + 100)
    figure = drawn(pl.concat([heads, shorter]), curves, verdicts)["entropy"]
    assert array(figure.axes[0]).max() < 1
    assert any(line.startswith("the caption; shown at L = 64;") for line in texts(figure))


def test_the_overview_names_its_measures_and_verdicts(frames):
    found = texts(drawn(*frames)["heads"])
    for title in ("Entropy share", "Sink weight", "Separability N_s/N", "Jacobian norm"):
        assert title in found
    assert {"Output ratio", "Verdicts", "sink 2", "saturated 1"} <= set(found)
    assert "N = 16; share of the top N in the ball, 0 to 1" in " ".join(found)


def test_no_curves_still_draw(frames):
    heads, curves, verdicts = frames
    assert "heads" in drawn(heads, curves.clear(), verdicts)


def test_a_name_with_dollars_is_no_mathematics(frames):
    figure = drawn(*frames, caption="a $model$ with \\frac")["heads"]
    figure.canvas.draw()
    assert any(line.startswith("a $model$ with \\frac") for line in texts(figure))


@pytest.mark.parametrize(("layers", "heads", "last"), [(2, 1, "0"), (30, 9, "8"), (96, 128, "120")])
def test_rows_and_columns_are_numbered_as_far_as_there_is_room(
    make_run, make_verdicts, layers, heads, last
):
    frame, curves = make_run(layers, heads, windows=1, ns=(16,))
    found = texts(drawn(frame, curves, make_verdicts(frame, {}))["entropy"])
    numbers = [text for text in found if text.isdigit()]
    assert {"layer", "head", "0", last} <= set(found)
    assert len(numbers) <= 60


def test_the_end_of_a_short_colour_bar_is_numbered(make_run, make_verdicts):
    heads, curves = make_run(layers=30, heads=9, windows=1, ns=(16,))
    figure = drawn(heads, curves, make_verdicts(heads, {}))["heads"]
    figure.canvas.draw()
    bars = [axes for axes in figure.axes if not axes.images]
    ends = [bar.get_xticklabels()[-1].get_text() for bar in bars]
    assert ends == ["1", "1", "1", "0.5", "2"]


def test_the_caption_counts_the_query_rows(frames):
    heads, curves, verdicts = frames
    figure = drawn(heads, curves, verdicts)["verdicts"]
    low, high = heads["rows"].min(), heads["rows"].max()
    rows = str(low) if low == high else f"{low} to {high}"
    assert f"{rows} query rows a head and window" in " ".join(texts(figure))
