"""Over N: every head's line, one head and what it looks at."""

import polars as pl
import pytest

from headgauge.errors import InputError
from headgauge.report.curves import curves_figure, head_figure, head_template
from report.conftest import panels
from report.page.results import HEADS, LAYERS, NS, distance, fake_scan

RUN = "small, prose"


@pytest.fixture(scope="module")
def tables():
    scan = fake_scan()
    return scan.heads, scan.curves, scan.samples, scan.verdicts()


def told(figure):
    return " ".join([*(each.text for each in figure.caption), figure.run])


def test_one_head_has_its_curves_its_keys_and_its_numbers(tables):
    figure = head_figure((2, 3, None), tables, RUN)
    share, distances, keys = panels(figure)
    assert share.title == "Separability N_s/N"
    assert list(share.series[0].x) == list(NS)
    assert len([each for each in share.series if not each.label]) == 2  # thin: each window
    means = [sum(distance(2, 3, n, 0, window) for window in (0, 1)) / 2 for n in NS]
    assert distances.series[0].name == "distance"
    assert distances.series[0].y == pytest.approx(means)
    labels = [words for _, words in keys.y.ticks]
    assert labels[1] == "“</td>” 6"
    assert labels[3].startswith("“↵” ")
    assert keys.series[0].x == [0.0, pytest.approx(0.5 + 3 / 1000)]
    assert keys.y.low > keys.y.high  # the heaviest on top
    for words in (
        RUN,
        "idle sink",
        "Sink weight 0.63",
        "value vectors of unit length, visible keys",
    ):
        assert words in told(figure)


@pytest.mark.parametrize(
    ("place", "line"),
    [
        ((LAYERS, 0, None), "no head 0 in layer 3: this run has layers 0 to 2, heads 0 to 3"),
        ((0, HEADS, None), "no head 4 in layer 0: this run has layers 0 to 2, heads 0 to 3"),
        ((0, -1, None), "no head -1 in layer 0"),
        ((1, None, None), r"a head is named by two numbers: plot\(1, head\)"),
        ((0, 0, "other"), "layer 0 has model.layers.0.attn: name one of them as module="),
    ],
)
def test_a_head_that_is_not_there_is_one_line(tables, place, line):
    with pytest.raises(InputError, match=line):
        head_figure(place, tables, RUN)


def test_two_modules_of_a_layer_are_told_apart(tables):
    both = tuple(
        pl.concat([table, table.with_columns(module=pl.lit("cross.0"))]) for table in tables
    )
    with pytest.raises(InputError, match=r"layer 0 has cross\.0, model\.layers\.0\.attn"):
        head_figure((0, 0, None), both, RUN)
    assert "cross.0, head 0" in told(head_figure((0, 0, "cross.0"), both, RUN))


def test_a_head_of_which_little_was_seen(tables):
    heads, curves, samples, verdicts = tables
    figure = head_figure((0, 0, None), (heads, curves.clear(), samples.clear(), verdicts), RUN)
    share, distances, keys = panels(figure)
    assert not any(any(each.y) for each in (*share.series, *distances.series, *keys.series))
    assert share.empty == distances.empty == "not measured in this run"
    assert keys.empty == "no sampled rows in this run"


def test_the_template_has_names_of_columns_for_numbers(tables):
    share, distances = panels(head_template())
    lines = [*share.series, *distances.series]
    assert {each.x for each in lines} == {"top_n"}
    assert [each.y for each in lines] == [each.name for each in lines]
    assert {each.y for each in lines} <= set(tables[1].columns)
    hidden = {each.name for each in lines if not each.shown}
    assert hidden == {"bound_lower", "bound_upper"}


def test_every_head_has_a_line_in_the_colour_of_its_layer(tables):
    figure = curves_figure(tables[1], RUN)
    assert [len(panel.series) for panel in panels(figure)] == [LAYERS * HEADS] * 3
    colours = {each.name: each.look.colour for each in panels(figure)[0].series}
    assert len(set(colours.values())) == LAYERS
    assert {each.label for each in panels(figure)[0].series} == set(colours)
    assert f"{LAYERS * HEADS} heads" in told(figure)
    none = curves_figure(tables[1].with_columns(radius=pl.lit(None, pl.Float64)), RUN)
    assert panels(none)[2].empty == "not measured in this run"
