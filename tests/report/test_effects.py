"""Effect against every measure: what a panel holds, and how its axis bends."""

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import polars as pl
import pytest

from headgauge.registry.measures import GROUPS, MEASURES
from headgauge.report.drawing import draw
from headgauge.report.effects import effects_figure, effects_template, layer_rows, worth
from report.page.results import HEADS, LAYERS, fake_scan, head_rows


@pytest.fixture(scope="module")
def heads() -> pl.DataFrame:
    return worth(fake_scan(heads=head_rows(effects=True)))


def test_every_measure_has_a_panel_and_every_head_a_point(heads):
    figure: Any = effects_figure(heads, "the run")
    wanted = [MEASURES[name].title for names in GROUPS.values() for name in names]
    assert sorted([*wanted, "Separability N_s/N"]) == sorted(each.title for each in figure.panels)
    (panel,) = [each for each in figure.panels if each.title == "Sink weight"]
    assert [each.name for each in panel.series] == [f"layer {layer}" for layer in range(LAYERS)]
    means = {(row["layer"], row["head"]): row for row in heads.iter_rows(named=True)}
    for layer, series in enumerate(panel.series):
        own = [means[layer, int(name[-1])] for name in series.facts["head"]]
        assert len(own) == HEADS
        assert [*zip(series.x, series.y, strict=True)] == [
            (row["sink_weight"], row["effect"]) for row in own
        ]
    assert means[1, 3]["effect"] == pytest.approx(0.0205)  # of .02 and .021


def test_a_page_takes_the_same_points_from_the_columns_it_has(heads):
    figure: Any = effects_figure(heads, "")
    template, rows = effects_template(heads)
    shown: Any = template.panels
    for panel, named in zip(figure.panels, shown, strict=True):
        for series, other in zip(panel.series, named.series, strict=True):
            for values, column in ((series.x, other.x), (series.y, other.y)):
                assert values == [heads[column][row] for row in rows[other.name]]
            assert series.facts["standard error"] == [
                heads[other.facts["standard error"]][row] for row in rows[other.name]
            ]


def test_layer_0_is_alone_and_the_others_are_in_four_parts():
    heads = pl.DataFrame({"layer": [layer for layer in range(30) for _ in range(2)]})
    rows = layer_rows(heads)
    assert list(rows) == [
        *("layer 0", "layers 1 to 8", "layers 9 to 16", "layers 17 to 24", "layers 25 to 29"),
    ]
    assert rows["layer 0"] == [0, 1]
    assert sorted(row for own in rows.values() for row in own) == list(range(60))
    assert list(layer_rows(heads.head(2))) == ["layer 0"]
    later = layer_rows(heads.filter(pl.col("layer") > 24))
    assert list(later) == ["layers 25 to 26", "layers 27 to 28", "layer 29"]


def test_the_axis_is_linear_around_zero_and_logarithmic_beyond(heads):
    figure: Any = effects_figure(heads, "")
    axis = figure.panels[0].y
    assert axis.low < -0.0095 < 1.0005 < axis.high
    assert [label for _, label in axis.ticks] == ["0", "0.1", "1"]
    axes = draw(replace(figure, panels=figure.panels[:1])).axes[0]
    place = axes.transData.transform
    ups = [place((1.5, value))[1] for value in (0.0, 1e-4, 2e-4, 0.1, 1.0)]
    steps = [after - before for before, after in pairwise(ups)]
    assert steps[1] == pytest.approx(steps[0], rel=1e-3)
    width = axis.linear
    assert steps[3] / steps[0] == pytest.approx(
        (math.asinh(1 / width) - math.asinh(0.1 / width)) / math.asinh(1e-4 / width), rel=1e-3
    )


def test_heads_without_any_effect_have_a_plain_axis(heads):
    figure: Any = effects_figure(heads.with_columns(effect=pl.lit(0.0)), "")
    assert figure.panels[0].y.linear is None
    draw(replace(figure, panels=figure.panels[:1]))
