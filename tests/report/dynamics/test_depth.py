"""A model by layer."""

import polars as pl
import pytest

from headgauge.report.dynamics.depth import (
    ATTENTION,
    MEASURED,
    OTHER,
    depth_page,
    draw_added,
    draw_cosines,
    draw_radii,
    draw_speeds,
    recognised_words,
)


@pytest.fixture
def measured(make_layers):
    return make_layers()[0]


@pytest.fixture
def predicted(make_layers):
    return make_layers()[1]


def extents(axes):
    """The lowest and highest of each band at layer 0, the narrow one first."""
    found = []
    for band in axes.collections:
        points = band.get_paths()[0].vertices
        up = points[points[:, 0] == 0][:, 1]
        found.append((up.min(), up.max()))
    return found


def test_the_line_is_the_mean_over_windows_the_bands_are_windows_and_pairs(
    axes, lines, measured, predicted
):
    draw_cosines(axes, measured, predicted)
    first = measured.filter(layer=0)
    ((across, up),) = lines(axes, MEASURED.label)
    assert across == list(range(31))
    assert up[0] == pytest.approx(first["mean_cosine"].mean())
    windows, pairs = extents(axes)
    assert windows == (first["mean_cosine"].min(), first["mean_cosine"].max())
    assert pairs == pytest.approx((first["pair_low"].mean(), first["pair_high"].mean()))


@pytest.mark.parametrize(("draw", "column"), [(draw_cosines, "gamma"), (draw_radii, "radius")])
def test_the_models_scheme_is_bold_and_the_others_faint(axes, measured, predicted, draw, column):
    draw(axes, measured, predicted)
    drawn = {line.get_label(): line for line in axes.get_lines()}
    bold = drawn["Pre-LN, the model's scheme: predicted"]
    assert list(bold.get_ydata()) == predicted.filter(scheme="pre_ln")[column].to_list()
    assert bold.get_alpha() is None
    assert bold.get_linewidth() > 1.5 > drawn["nGPT"].get_linewidth()
    assert drawn["nGPT"].get_alpha() < 0.6


def test_radii_are_in_even_ratios(axes, measured, predicted):
    draw_radii(axes, measured, predicted)
    assert axes.get_yscale() == "log"


def test_what_a_layer_adds_ends_before_the_last_row(axes, lines, measured):
    draw_added(axes, measured)
    for look, column in ((ATTENTION, "attention_norm"), (OTHER, "other_norm")):
        ((across, up),) = lines(axes, look.label)
        assert across == list(range(30))
        assert up[3] == pytest.approx(measured.filter(layer=3)[column].mean())


def test_speeds_have_their_band_and_the_attentions_part(axes, lines, measured):
    draw_speeds(axes, measured)
    assert len(lines(axes, MEASURED.label)) == len(lines(axes, ATTENTION.label)) == 1
    assert (0.25, 0.6) in [pytest.approx(extent) for extent in extents(axes)]
    assert axes.get_ylim()[0] == 0


@pytest.mark.parametrize(
    ("scheme", "told"),
    [("pre_ln", "recognised as Pre-LN"), ("other", "no scheme recognised")],
)
def test_the_title_says_which_scheme_was_recognised(make_layers, words, scheme, told):
    measured, predicted = make_layers(scheme=scheme)
    page = depth_page(measured, predicted, "a model on a text")
    assert f"(a) mean cosine of pairs; {told}" in words(page)


def test_without_predictions_the_layers_themselves_tell_their_scheme(measured, predicted):
    assert recognised_words(measured, predicted.clear()) == "recognised as Pre-LN"
    mixed = pl.when(pl.col("layer") < 9).then(pl.lit("post_ln")).otherwise("scheme")
    both = measured.with_columns(scheme=mixed)
    assert recognised_words(both, predicted.clear()) == "recognised as Post-LN, Pre-LN"


def test_only_the_longest_windows_are_drawn(make_layers, lines):
    long, predicted = make_layers()
    short = make_layers(length=64)[0].with_columns(mean_cosine=pl.lit(0.0))
    page = depth_page(pl.concat([short, long]), predicted, "")
    ((_, up),) = lines(page.axes[0], MEASURED.label)
    assert min(up) > 0.1


def test_what_was_not_seen_is_told(measured, predicted, words):
    unseen = ("attention_norm", "other_norm", "speed", "speed_low", "speed_high")
    blind = measured.with_columns(pl.lit(None, pl.Float64).alias(name) for name in unseen)
    told = " ".join(words(depth_page(blind, predicted.clear(), ""))).replace("\n", " ")
    assert "what the layers add was not seen in this run" in told
    assert "how far the layers turn was not seen in this run" in told
    assert "no prediction" in told
    empty = " ".join(words(depth_page(measured.clear(), predicted.clear(), "")))
    assert "no layers in this run" in empty


def test_the_small_print_counts_windows_and_tokens(measured, predicted):
    page = depth_page(measured, predicted, "SmolLM2")
    told = " ".join(text.get_text() for text in reversed(page.texts))
    assert "SmolLM2; 4 windows of 1024 tokens, 1023 counted" in told
    assert "β = 2.5, n = 1024" in told
