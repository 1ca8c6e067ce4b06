"""A figure by name or by head: drawn, shown by itself, and refused in one line."""

from typing import Any

import polars as pl
import pytest
from matplotlib import rcParams
from matplotlib.figure import Figure
from matplotlib.text import Text

from headgauge.errors import InputError
from headgauge.report import plots
from report.page.dynamics_frames import depth_curves_frame, depth_frame, dynamics_frames
from report.page.results import HEADS, LAYERS, NS, distance, page_content
from report.page.paper_frames import TEXTS, paper_frames

CAPTION = "small, prose"


@pytest.fixture(scope="module")
def tables():
    content = page_content(paper=False)
    return content.heads, content.curves, content.samples, content.verdicts


@pytest.fixture(scope="module")
def scanned(tables):
    heads, curves, _, verdicts = tables
    return plots.scan_figures(heads, curves, verdicts, CAPTION, depth_frame(), depth_curves_frame)


def words(figure: Figure) -> str:
    found: list[Any] = figure.findobj(Text)
    return " ".join(text.get_text() for text in found)


def test_one_head_has_its_curves_its_keys_and_its_numbers(tables):
    figure = plots.draw_head((2, 3, None), tables, CAPTION)
    panels: list[Any] = figure.axes
    over_n, distances, keys = panels
    assert "layer 2, head 3" in over_n.get_title(loc="left")
    assert list(over_n.lines[-1].get_xdata()) == list(NS)
    drawn = {line.get_color(): line.get_ydata() for line in distances.lines}
    means = [sum(distance(2, 3, n, 0, window) for window in (0, 1)) / 2 for n in NS]
    assert any(ys == pytest.approx(means) for ys in drawn.values())
    labels = [label.get_text() for label in keys.get_yticklabels()]
    assert labels[1] == "“</td>” 6"
    assert labels[3].startswith("“↵” ")
    assert next(bar.get_width() for bar in keys.patches) == pytest.approx(0.5 + 3 / 1000)
    shown = words(figure)
    assert CAPTION in shown
    assert "sink" in shown
    assert "Sink weight 0.53" in shown


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
        plots.draw_head(place, tables, CAPTION)


def test_two_modules_of_a_layer_are_told_apart(tables):
    both = tuple(
        pl.concat([table, table.with_columns(module=pl.lit("cross.0"))]) for table in tables
    )
    with pytest.raises(InputError, match=r"layer 0 has cross\.0, model\.layers\.0\.attn"):
        plots.draw_head((0, 0, None), both, CAPTION)
    assert "cross.0, head 0" in words(plots.draw_head((0, 0, "cross.0"), both, CAPTION))


def test_a_head_of_which_little_was_seen(tables):
    heads, curves, samples, verdicts = tables
    nothing = [pl.lit(None, pl.Float64).alias(name) for name in ("separability", "distance")]
    poor = curves.with_columns(
        *nothing,
        *(pl.lit(None, pl.Float64).alias(n) for n in ("bound_printed", "expected_printed")),
    )
    figure = plots.draw_head((0, 0, None), (heads, poor, samples.clear(), verdicts), CAPTION)
    assert words(figure).count("not seen in this run") == 2
    assert "no sampled rows" in words(figure)


def test_every_table_of_a_scan_has_a_figure(scanned):
    assert {"heads", "curves", "depth", "verdicts", "sink_weight", "separability"} <= set(scanned)
    before = dict(rcParams)
    lines = plots.draw(scanned, "curves")
    assert [len(axes.lines) for axes in lines.axes] == [LAYERS * HEADS] * 3
    assert "layer 2" in words(lines)
    assert len(plots.draw(scanned, "depth").axes) == 4
    assert dict(rcParams) == before
    with pytest.raises(InputError, match="no figure named 'rows' here; there are heads, verdicts"):
        plots.draw(scanned, "rows")


def test_a_figure_shows_itself_in_a_notebook(scanned):
    assert plots.draw(scanned, "sink_weight")._repr_png_()[:4] == b"\x89PNG"  # type: ignore


def test_a_reproduction_is_drawn_on_the_text_that_is_named():
    captions = {text: f"on {text}" for text in TEXTS}
    found = plots.paper_figures(paper_frames(), captions, TEXTS[1])
    assert set(found) == {
        *("paper", "vanishing", "fig1", "fig2", "fig2a", "fig2b", "fig2c", "fig3", "fig4"),
        *("choices", "rules"),
    }
    assert f"on {TEXTS[1]}" in words(plots.draw(found, "fig3"))


def test_a_simulation_has_a_figure_for_every_table():
    tables = dynamics_frames()
    found = plots.simulation_figures(tables, "six schemes")
    assert {*tables, "dynamics", "gamma"} == set(found)
    balls = plots.draw(found, "sphere")
    ends = tables["sphere"]["time"].max()
    assert f"t = {ends:.2f}" in words(balls)
    lines: list[Any] = [line for axes in balls.axes for line in axes.lines]
    placed = [line for line in lines if len(line.get_xdata())]
    assert placed
    assert not any(line.get_animated() for line in placed)
    without = plots.simulation_figures({**tables, "phase": tables["phase"].clear()}, "")
    assert "phase" not in without
