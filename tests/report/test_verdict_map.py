"""Each verdict of a head has its stripe and its letter."""

import numpy as np
from matplotlib.collections import PathCollection
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from headgauge.report.head_grid import head_grid
from headgauge.report.verdict_map import (
    STRIPES,
    draw_verdicts,
    legend_entries,
    legend_lines,
    stripes,
    told,
)
from headgauge.report.words import mark


def test_a_cell_is_divided_among_its_verdicts(frames):
    heads, _, verdicts = frames
    grid = head_grid(heads)
    picture = stripes(grid, told(grid, verdicts))
    cell = picture[2, 3 * STRIPES : 4 * STRIPES]
    half = STRIPES // 2
    assert (cell[:half] == to_rgba(mark("saturated").colour)).all()
    assert (cell[half:] == to_rgba(mark("sink").colour)).all()
    assert (picture[0, STRIPES : 2 * STRIPES] == to_rgba(mark("sink").colour)).all()
    assert (picture[1] == to_rgba(mark("healthy").colour)).all()


def test_letters_are_at_the_middle_of_their_stripes(frames):
    heads, _, verdicts = frames
    grid = head_grid(heads)
    axes = Figure().add_subplot()
    assert draw_verdicts(axes, grid, told(grid, verdicts), (0.2, 0.2))
    places = [
        tuple(place)
        for collection in axes.collections
        if isinstance(collection, PathCollection)
        for place in np.asarray(collection.get_offsets()).tolist()
    ]
    assert sorted(places) == [(1.0, 0.0), (2.75, 2.0), (3.25, 2.0)]


def test_letters_too_small_to_read_are_left_out(frames):
    heads, _, verdicts = frames
    grid = head_grid(heads)
    assert not draw_verdicts(Figure().add_subplot(), grid, told(grid, verdicts), (0.04, 0.04))


def test_a_head_without_a_verdict_is_hatched(frames):
    heads, _, verdicts = frames
    grid = head_grid(heads)
    found = told(grid, verdicts)
    del found[1, 1]
    axes = Figure().add_subplot()
    draw_verdicts(axes, grid, found, (0.2, 0.2))
    hatched = [each for each in axes.collections if each.get_hatch()]
    assert [path.get_extents().bounds for path in hatched[0].get_paths()] == [(0.5, 0.5, 1.0, 1.0)]


def test_the_legend_counts_and_wraps(frames):
    heads, _, verdicts = frames
    entries = legend_entries(told(head_grid(heads), verdicts), ["not seen"])
    assert [text for _, text in entries] == ["saturated 1", "sink 2", "healthy 10", "not seen"]
    assert len(legend_lines(entries, 10.0)) == 1
    assert len(legend_lines(entries, 1.2)) == 4
