"""Words beside points."""

import itertools

import pytest
from headgauge.report.paper.labels import around, label_points
from matplotlib.text import Text
from matplotlib.transforms import Bbox


def boxes(axes):
    axes.get_figure().draw_without_rendering()
    return [Text.get_window_extent(text) for text in axes.texts]


@pytest.fixture
def close():
    return [(0.5 + 0.02 * step, 0.5 + 0.01 * (step % 3)) for step in range(6)]


def test_no_word_lies_on_another_or_on_a_point_or_beyond_the_frame(axes, close):
    label_points(axes, [(x, y, f"word {x:.2f}") for x, y in close], close)
    found = boxes(axes)
    assert len(found) >= 4
    assert not any(one.overlaps(other) for one, other in itertools.combinations(found, 2))
    points = [around(axes, point, 1.5) for point in close]
    assert not any(one.overlaps(other) for one, other in itertools.product(found, points))
    frame = axes.get_window_extent()
    assert all(frame.x0 < box.x0 and box.x1 < frame.x1 for box in found)


def test_a_word_without_room_is_left_out(axes):
    everything = Bbox(axes.get_window_extent().get_points())
    label_points(axes, [(0.5, 0.5, "word")], [(0.5, 0.5)], [everything])
    assert not axes.texts


def test_a_word_that_had_to_go_further_is_led_back_and_is_no_mathematics(axes):
    ring = around(axes, (0.5, 0.5), 6.0)
    label_points(axes, [(0.5, 0.5, "$a_{"), (0.1, 0.1, "near")], [(0.5, 0.5)], [ring])
    far, near = axes.texts
    assert far.arrow_patch is not None
    assert near.arrow_patch is None
    axes.get_figure().draw_without_rendering()


def test_a_word_at_the_edge_goes_to_the_side_within_the_frame(axes):
    label_points(axes, [(0.99, 0.5, "a long word")], [(0.99, 0.5)])
    (box,) = boxes(axes)
    assert box.x1 < axes.get_window_extent().x1
