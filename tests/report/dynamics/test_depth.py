"""A model by layer."""

import polars as pl
import pytest

from headgauge.report.dynamics.depth import depth_figure, recognised_words
from report.conftest import panels


@pytest.fixture(scope="module")
def both(make_layers):
    return make_layers()


@pytest.fixture(scope="module")
def figure(both):
    return depth_figure(*both, run="SmolLM2")


def told(figure):
    return " ".join([*(each.text for each in figure.caption), figure.run])


def test_the_line_is_the_mean_over_windows_the_bands_are_pairs_and_windows(both, figure):
    line, windows = figure.panels[0].series[:2]
    first = both[0].filter(layer=0)
    assert line.x == list(range(31))
    assert line.y[0] == pytest.approx(first["mean_cosine"].mean())
    assert line.low[0] == pytest.approx(first["pair_low"].mean())
    assert line.high[0] == pytest.approx(first["pair_high"].mean())
    ends = first["mean_cosine"].min(), first["mean_cosine"].max()
    assert (windows.low[0], windows.high[0]) == ends
    assert windows.look.line == "none"
    assert line.facts["enters"][:2] == ["model.layers.0", "model.layers.1"]


def test_the_models_scheme_is_bold_and_the_others_faint(both, figure):
    for panel, column in zip(figure.panels[:2], ("gamma", "radius"), strict=True):
        series = {each.label: each for each in panel.series}
        bold = series["Pre-LN, the model's scheme: predicted"]
        assert bold.y == both[1].filter(scheme="pre_ln")[column].to_list()
        assert bold.look.width > 1.5 > series["nGPT"].look.width
        assert bold.look.opacity == 1 > 0.6 > series["nGPT"].look.opacity
    assert figure.panels[1].y.log


def test_what_a_layer_adds_and_how_far_it_turns(both, figure):
    first = both[0].filter(layer=3)
    added, turned = ({each.label: each for each in panel.series} for panel in figure.panels[2:])
    by_label = {"attention alone": "attention_norm", "the rest of the layer (MLP)": "other_norm"}
    for label, name in by_label.items():
        assert added[label].y[3] == pytest.approx(first[name].mean())
        assert len(added[label].x) == 30  # after the last layer nothing is added
    assert turned["attention alone"].y[3] == pytest.approx(first["attention_speed"].mean())
    assert figure.panels[3].y.low == 0


@pytest.mark.parametrize(
    ("scheme", "words"),
    [("pre_ln", "recognised as Pre-LN"), ("other", "no scheme recognised")],
)
def test_the_title_says_which_scheme_was_recognised(make_layers, scheme, words):
    figure = depth_figure(*make_layers(scheme=scheme), run="a model on a text")
    assert figure.panels[0].title == f"mean cosine of pairs; {words}"


def test_without_predictions_the_layers_themselves_tell_their_scheme(both):
    measured, predicted = both[0], both[1].clear()
    assert recognised_words(measured, predicted) == "recognised as Pre-LN"
    mixed = pl.when(pl.col("layer") < 9).then(pl.lit("post_ln")).otherwise("scheme")
    mixed = measured.with_columns(scheme=mixed)
    assert recognised_words(mixed, predicted) == "recognised as Post-LN, Pre-LN"


def test_only_the_longest_windows_are_drawn(make_layers, both):
    short = make_layers(length=64)[0].with_columns(mean_cosine=pl.lit(0.0))
    figure = depth_figure(pl.concat([short, both[0]]), both[1], "")
    assert min(panels(figure)[0].series[0].y) > 0.1


def test_what_was_not_seen_is_told(both):
    unseen = ("attention_norm", "other_norm", "speed", "speed_low", "speed_high", "attention_speed")
    blind = both[0].with_columns(pl.lit(None, pl.Float64).alias(name) for name in unseen)
    figure = depth_figure(blind, both[1].clear(), "")
    assert [bool(panel.series) for panel in panels(figure)] == [True, True, False, False]
    assert panels(figure)[2].empty == "what the layers add was not measured in this run"
    assert panels(figure)[3].empty == "how far the layers turn was not measured in this run"
    assert "No prediction" in told(figure)
    empty = depth_figure(both[0].clear(), both[1].clear(), "")
    assert {panel.empty for panel in panels(empty)[:2]} == {"no layers in this run"}
    assert not any(panel.series for panel in panels(empty))


def test_the_small_print_counts_windows_and_tokens(figure):
    assert "4 windows of 1024 tokens, 1023 counted" in told(figure)
    assert "β = 2.5, n = 1024" in told(figure)
    assert told(figure).endswith("SmolLM2")
