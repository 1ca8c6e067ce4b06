"""The sphere as a camera sees it."""

import math

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex

from headgauge.report.dynamics.ball import Ball, camera_at
from headgauge.report.dynamics.looks import SCHEME_LOOKS


def test_a_camera_has_three_directions_at_right_angles_and_is_not_mirrored():
    camera = camera_at(0.7, 0.3)
    assert camera @ camera.T == pytest.approx(np.eye(3))
    assert np.linalg.det(camera) == pytest.approx(1)


def test_it_looks_at_what_is_before_it_and_the_north_is_up():
    camera = camera_at(math.pi / 2, 0.0)
    assert camera @ [0, 1, 0] == pytest.approx([0, 0, 1])
    assert camera @ [0, 0, 1] == pytest.approx([0, 1, 0])
    assert (camera_at(0.0, 0.5) @ [0, 0, 1])[2] > 0


@pytest.fixture
def dots(axes):
    """What is drawn in the scheme's own colour: as many particles as are in front."""

    def found(points, camera):
        ball = Ball(axes, "ngpt")
        ball.move(np.array(points, dtype=float), 2.5, camera)
        by_colour = {}
        for line in axes.get_lines():
            if line.get_marker() == "o":
                by_colour[to_hex(line.get_color(), False).upper()] = line.get_xydata().tolist()
        return ball, by_colour

    return found


def test_the_far_side_is_drawn_pale(dots):
    here, there = [0.0, 0.6, 0.8], [0.0, -0.6, -0.8]
    _, by_colour = dots([[here, there]], np.eye(3))
    own = SCHEME_LOOKS["ngpt"].colour
    assert by_colour.pop(own) == [[0.0, 0.6]]
    assert list(by_colour.values()) == [[[0.0, -0.6]]]


def test_trails_are_broken_between_particles_and_on_the_far_side(axes, dots):
    first = [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    second = [[0.8, 0.0, 0.6], [0.6, 0.0, 0.8]]
    dots([first, second], np.eye(3))
    trails = next(line for line in axes.get_lines() if line.get_alpha() == 0.5)
    across = trails.get_xdata()
    assert [None if np.isnan(x) else x for x in across] == [None, 0.8, None, 0.0, 0.6, None]


def test_what_moves_is_drawn_upon_what_stands_still(axes, words, dots):
    canvas = FigureCanvasAgg(axes.get_figure())
    ball, _ = dots([[[0.0, 0.0, 1.0]]], np.eye(3))
    canvas.draw()
    still = np.asarray(canvas.buffer_rgba()).copy()
    ball.draw()
    moved = np.asarray(canvas.buffer_rgba())
    assert (still != moved).any()
    assert {"nGPT", "mean radius 2.5"} <= set(words(axes))
