"""The renderer: what is described is drawn, in its place and so that it can be read."""

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from matplotlib.collections import PathCollection, PolyCollection
from matplotlib.patches import Circle
from matplotlib.text import Text

from headgauge.registry.entry import Look
from headgauge.registry.measures import MEASURES
from headgauge.report.drawing import draw
from headgauge.report.drawing_cells import colours
from headgauge.report.drawing_text import around, label_points, printable, typeset
from headgauge.report.figure import (
    Axis,
    Figure,
    HeatMap,
    Mark,
    Panel,
    Sentence,
    Series,
    Switch,
    setting,
)

LINE = Look("#009E73", "solid", "circle")
POINTS = Look("#0072B2", "none", "square")


X, Y = Axis("x"), Axis("y")


def one(*series, x=X, y=Y, marks=(), columns=1, **more) -> Any:
    panel = Panel("a title", x, y, tuple(series), marks, **more)
    return draw(Figure("name", "Title", (panel,), columns, run="the run")).axes[0]


def drawn(axes):
    return [
        (list(line.get_xdata()), list(line.get_ydata()))
        for line in axes.get_lines()
        if len(line.get_xdata())
    ]


def words(sheet):
    return [text.get_text() for text in sheet.findobj(Text) if text.get_text()]


def test_a_line_goes_through_what_is_there():
    axes = one(Series("a", "a", LINE, [1, 2, 3], [1.0, None, 9.0]))
    assert drawn(axes) == [([1, 3], [1, 9])]
    line = axes.get_lines()[0]
    assert (line.get_color(), line.get_linestyle(), line.get_marker()) == ("#009E73", "-", "o")


def test_intervals_are_a_band_on_a_line_and_bars_at_points():
    ends = {"low": [0.5, None, 2.0], "high": [1.5, 3.0, 4.0]}
    band = one(Series("a", "a", LINE, [1, 2, 3], [1, 2, 3], **ends))
    (shape,) = band.collections
    assert isinstance(shape, PolyCollection)
    corners = {tuple(map(float, corner)) for corner in np.asarray(shape.get_paths()[0].vertices)}
    assert {(1.0, 0.5), (1.0, 1.5), (3.0, 2.0), (3.0, 4.0)} <= corners
    bars = one(Series("a", "a", POINTS, [1, 2, 3], [1, 2, 3], **ends))
    assert [segment.tolist() for segment in bars.collections[0].get_segments()] == [
        [[1, 0.5], [1, 1.5]],
        [[3, 2.0], [3, 4.0]],
    ]
    assert not one(Series("a", "a", LINE, [1, 2], [1, 2])).collections


def test_bands_end_at_a_logarithmic_axis_where_the_interval_goes_below():
    series = Series("a", "a", LINE, [1, 2], [1, 2], low=[-1, 1], high=[2, 3])
    axes = one(series, y=Axis("y", log=True, low=0.01, high=10))
    assert axes.collections[0].get_paths()[0].vertices[:, 1].min() == 0.01
    assert axes.get_ylim() == (0.01, 10)


def test_an_area_lies_between_two_lines():
    low = Series("low", "low", LINE, [1, 2, 3], [1, 2, 3], filled_to="high")
    axes = one(low, Series("high", "high", LINE, [1, 3], [5, 7]))
    corners = axes.collections[0].get_paths()[0].vertices
    assert {tuple(map(float, each)) for each in corners} >= {(1, 1), (1, 5), (3, 3), (3, 7)}


def test_hollow_and_apart_points_are_off_the_line():
    series = Series(
        "a",
        "a",
        LINE,
        [1, 2, 3],
        [1, 2, 3],
        hollow=[True, False, False],
        apart=[False, False, True],
    )
    line, filled, hollow, apart = one(series).get_lines()
    assert (line.get_linestyle(), list(line.get_xdata())) == ("-", [1, 2])
    assert (list(filled.get_xdata()), list(hollow.get_xdata())) == ([2], [1])
    assert hollow.get_markerfacecolor() == "white"
    assert (list(apart.get_xdata()), apart.get_alpha()) == ([3], 0.35)


def test_boxes_are_the_quartiles_with_whiskers_to_the_extremes():
    boxes = {"minimum": [1], "q25": [2], "median": [3], "q75": [5], "maximum": [8]}
    axes = one(Series("a", "a", LINE, [4], [3.5], boxes=boxes), x=Axis("x", log=True))
    (box,) = [patch for patch in axes.patches if len(patch.get_path().vertices) == 6]
    extent = box.get_path().get_extents()
    assert (extent.ymin, extent.ymax) == (2, 5)
    heights = {y for _, up in drawn(axes) for y in up}
    assert {1, 3, 8} <= heights


def test_an_arrow_begins_at_its_point():
    arrows = [Series("a", "a", Look("#CC79A7", "none", "right"), [1, 2], [10, 20])]
    axes = one(*arrows, y=Axis("y", log=True))
    (line,) = axes.get_lines()
    across, up = line.get_transform().transform(line.get_xydata())[0]
    begin = axes.transData.transform((1, 10))
    assert across > begin[0] + 2
    assert up == pytest.approx(begin[1])


def test_many_points_do_not_have_a_marker_each():
    many = one(Series("a", "a", LINE, list(range(50)), list(range(50))))
    assert many.get_lines()[0].get_markevery() == 0.1
    few = one(Series("a", "a", LINE, [1, 2], [1, 2]))
    assert few.get_lines()[0].get_markevery() is None


def test_marks_are_where_they_are_told():
    marks = (
        Mark("x", (2.0,), "a level"),
        Mark("y band", (0.5, 1.5), "a band", in_legend=True),
        Mark("circle", (1.0, 2.0, 0.5), "a ball"),
    )
    axes = one(Series("a", "a", LINE, [1, 2], [1, 2]), marks=marks)
    (ball,) = [patch for patch in axes.patches if isinstance(patch, Circle)]
    assert (ball.center, ball.radius) == ((1.0, 2.0), 0.5)
    assert ([2.0, 2.0], [0, 1]) in drawn(axes)
    sheet = axes.get_figure()
    assert "a band" in words(sheet)
    assert "a level" not in words(sheet)


def test_a_panel_without_data_says_so_and_has_no_legend():
    axes = one(Series("a", "a", LINE, [1], [None]), empty="no rows")
    assert [text.get_text() for text in axes.texts] == ["no rows"]
    assert not any(each.get_legend() for each in axes.get_figure().axes)


def ticks(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def test_ticks_are_round_and_long_numbers_short():
    series = Series("a", "a", LINE, [1, 100], [0, 40_000])
    axes = one(series, x=Axis("x", log=True), y=Axis("y", low=0.0))
    axes.figure.draw_without_rendering()
    assert {"1", "2", "5", "10", "20", "50", "100"} <= set(ticks(axes.xaxis))
    assert "20k" in ticks(axes.yaxis)
    axes = one(Series("a", "a", LINE, [1, 2], [1e-9, 1e3]), y=Axis("y", log=True))
    axes.figure.draw_without_rendering()
    assert "10⁻⁸" in ticks(axes.yaxis) or "10⁻⁹" in ticks(axes.yaxis)
    named = one(series, x=Axis("x", ticks=((1, "one"), (100, "$x_{"))))
    assert ticks(named.xaxis) == ["one", "$x_{"]
    named.figure.draw_without_rendering()


def test_what_is_below_the_floor_stands_there():
    axes = one(Series("a", "a", LINE, [1, 2], [1e-300, 1]), y=Axis("y", log=True, floor=1e-12))
    assert drawn(axes)[0][1] == [1e-12, 1]


def test_one_scale_for_both_axes():
    axes = one(Series("a", "a", POINTS, [0, 10], [0, 1]), equal=True)
    box, (left, right), (bottom, top) = axes.get_window_extent(), axes.get_xlim(), axes.get_ylim()
    assert (right - left) / box.width == pytest.approx((top - bottom) / box.height)


def test_an_entry_stands_once_under_the_last_row_that_has_it():
    first = Panel("a", Axis("x"), Axis("y"), (Series("a", "first", LINE, [1], [1]),))
    both = Panel(
        "b",
        Axis("x"),
        Axis("y"),
        (Series("a", "first", LINE, [1], [1]), Series("b", "second", POINTS, [1], [1])),
    )
    sheet = draw(Figure("f", "F", (first, first, both), 2))
    legends = [legend for axes in sheet.axes if (legend := axes.get_legend())]
    assert [[t.get_text() for t in legend.get_texts()] for legend in legends] == [
        ["first", "second"]
    ]


def test_a_file_shows_the_first_setting_or_the_closest_that_was_measured():
    series = [
        Series("a", "a", LINE, [1], [n], at={"text": text, "rule": rule})
        for n, (text, rule) in enumerate([("A", "model"), ("B", "model"), ("A", "ssmax")])
    ]
    text = Switch("text", "Text", (("A", "a"), ("B", "b")))
    rule = Switch("rule", "Rule", (("model", "m"), ("ssmax", "s")))
    panel = Panel("p", Axis("x"), Axis("y"), tuple(series))
    caption = (Sentence("of A.", {"text": "A"}), Sentence("of B.", {"text": "B"}))
    figure = Figure("f", "F", (panel,), switches=(text, rule), caption=caption)
    assert drawn(draw(figure).axes[0]) == [([1], [0])]
    turned = [replace(each, options=each.options[::-1]) for each in (text, rule)]
    other = replace(figure, switches=tuple(turned))
    assert setting(other) == {"text": "B", "rule": "model"}
    assert drawn(draw(other).axes[0]) == [([1], [1])]
    assert "of B." in words(draw(other))


def test_what_waits_for_the_reader_is_not_in_a_file():
    hidden = Series("b", "b", LINE, [1], [100], shown=False)
    page = Series("c", "c", LINE, [1], [100], in_file=False)
    assert drawn(one(Series("a", "a", LINE, [1], [1]), hidden, page)) == [([1], [1])]


def test_text_from_outside_is_no_mathematics_and_our_subscripts_are():
    assert typeset("N_s/N over α_i x_i") == "$N_s$/N over $α_i$ $x_i$"
    assert typeset("sa_softmax_normalized") == "sa_softmax_normalized"
    assert typeset("$x_{ and N_s") == r"\$x_{ and N_s"  # which matplotlib prints as it was
    assert printable("a\nb\tc $x$ 中é") == "a⏎b c $x$ □é"
    series = Series("a", "$a_{b", LINE, [1], [1])
    sheet = draw(Figure("f", "F", (Panel("$t_{", Axis("$"), Axis("_{$"), (series,)),), run="$r_{"))
    sheet.draw_without_rendering()


def test_words_beside_points_lie_on_no_other_and_stay_in_the_frame():
    close = [(0.5 + 0.02 * step, 0.5 + 0.01 * (step % 3)) for step in range(6)]
    axes = one(Series("a", "a", POINTS, [0, 1], [0, 1]))
    label_points(axes, [(x, y, f"word {x:.2f}") for x, y in close], close)
    axes.figure.draw_without_rendering()
    boxes = [Text.get_window_extent(text) for text in axes.texts]
    assert len(boxes) >= 4
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))
    points = [around(axes, point, 1.5) for point in close]
    assert not any(one.overlaps(other) for one, other in itertools.product(boxes, points))
    frame = axes.get_window_extent()
    assert all(frame.x0 < box.x0 and box.x1 < frame.x1 for box in boxes)
    assert any(text.arrow_patch is not None for text in axes.texts)  # led back from further away


def heat_map(measure="entropy_share", **more):
    held = {"values": [[0.1, 0.9], [None, 0.5]], "absent": [(1, 0)]} | more
    return HeatMap(
        "Title", Axis("head"), Axis("layer"), ("0", "1"), ("0", "1"), measure=measure, **held
    )


def image(axes) -> Any:
    return axes.images[0]


def scale(values, measure) -> Any:
    return colours(np.array(values), MEASURES[measure])


def test_cells_have_their_values_the_measures_ends_and_hatching_where_no_head_is():
    sheet = draw(Figure("f", "Heads", (heat_map(),), panel_height=2.0))
    cells = image(sheet.axes[0])
    assert cells.get_array()[0].tolist() == [0.1, 0.9]
    assert (cells.norm.vmin, cells.norm.vmax) == (0.0, 1.0)
    assert "no such head" in words(sheet)
    assert "not measured" not in words(sheet)
    assert "Heads" in words(sheet)
    unseen = draw(Figure("f", "Heads", (heat_map(absent=[]),), panel_height=2.0))
    assert "not measured" in words(unseen)


def test_colours_span_the_measure_or_the_middle_of_the_data_and_say_what_is_beyond():
    norm, extend = scale([*np.linspace(0, 1, 99), 1000.0], "output_norm")
    assert (norm.vmin, extend) == (0.0, "max")
    assert norm.vmax < 10
    norm, extend = scale([0.5, 3.0], "output_ratio")
    assert (norm.vcenter, norm.vmax, extend) == (1.0, 2.0, "max")
    assert scale([np.nan], "max_logit")[0].vmax == 1.0
    sheet = draw(Figure("f", "F", (heat_map("output_ratio", values=[[0.5, 3], [1, 1]]),)))
    assert any(text.endswith("; arrow: above 2") for text in words(sheet))


def test_maps_on_one_scale_share_their_colours_and_one_bar():
    maps = (heat_map("output_norm"), heat_map("output_norm", values=[[5.0, 9.0], [None, 8.0]]))
    shared = draw(Figure("f", "F", maps, 2, one_scale=True))
    ends = [image(axes).norm.vmax for axes in shared.axes if axes.images]
    assert ends[0] == ends[1] > 5
    alone = draw(Figure("f", "F", maps, 2))
    ends = [image(axes).norm.vmax for axes in alone.axes if axes.images]
    assert ends[0] < 1 < ends[1]


def test_verdicts_are_stripes_with_letters_and_counted_in_the_legend():
    verdicts = [[["idle sink"], ["idle sink", "saturated"]], [["healthy"], []]]
    sheet = draw(
        Figure("f", "F", (heat_map("", values=[], absent=[], verdicts=verdicts),), width=3.0)
    )
    picture = image(sheet.axes[0]).get_array()
    assert picture.shape == (2, 120, 4)
    assert (picture[0, 60] != picture[0, 119]).any()
    assert picture[1, 100, 3] == 0
    letters = [each for each in sheet.axes[0].collections if isinstance(each, PathCollection)]
    assert sum(len(np.asarray(each.get_offsets())) for each in letters) == 3
    assert {"A  saturated 1", "S  idle sink 2", "healthy 1", "not measured"} <= set(words(sheet))


def test_rows_that_belong_together_are_named():
    sheet = draw(Figure("f", "F", (heat_map(blocks=(("encoder", 0, 1), ("decoder", 1, 2))),)))
    assert {"encoder", "decoder"} <= set(words(sheet))


def test_numbers_of_a_large_map_are_thinned_to_what_fits():
    many = tuple(str(number) for number in range(96))
    cells = [[0.5] * 96 for _ in many]
    panel = HeatMap("T", Axis("head"), Axis("layer"), many, many, cells, "entropy_share")
    axes = draw(Figure("f", "F", (panel,), width=4.0, panel_height=3.0)).axes[0]
    assert 3 < len(axes.get_xticks()) < 30
    assert 3 < len(axes.get_yticks()) < 30
