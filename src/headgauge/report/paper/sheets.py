"""Figures 1 to 4 as a paper has them: which panels, which legends, which words."""

import math
from collections.abc import Callable, Iterator
from functools import partial

import polars as pl
from matplotlib.figure import Figure

from headgauge.report.paper.beside import choices_figure, rules_figure, vanishing_figure
from headgauge.report.paper.critical import critical_handles, critical_words, draw_critical
from headgauge.report.paper.distance import distance_handles, draw_distance
from headgauge.report.paper.geometry import (
    draw_circle_edge,
    draw_head,
    draw_vectors,
    draw_weighted,
    geometry_handles,
    geometry_words,
    head_title,
    shown_heads,
)
from headgauge.report.paper.looks import COLUMN, PAGE
from headgauge.report.paper.page import (
    LEGEND_LINE,
    legend_below,
    open_page,
    small_print,
    title,
)
from headgauge.report.paper.selecting import (
    at_one_n,
    choice_words,
    interval_words,
    longest,
    of_choice,
    sample_words,
    shown_choice,
    span,
)
from headgauge.report.paper.sensitivity import (
    draw_sensitivity,
    of_logits,
    panels_of,
    sensitivity_handles,
    sensitivity_limits,
    sensitivity_words,
)
from headgauge.report.paper.separability import draw_separability, separability_handles

Tables = dict[str, pl.DataFrame]
_COLUMNS = (1, 2, 3, 2, 3, 3)  # for one panel, two, …


def sheets(paper: Tables, caption: str) -> Iterator[tuple[str, Figure]]:
    """Each figure of one text with its name."""
    for name, make in sheet_makers(paper, caption).items():
        yield name, make()


def sheet_makers(paper: Tables, caption: str) -> dict[str, Callable[[], Figure]]:
    """By name what draws each figure of one text."""
    choice = shown_choice(paper)
    return {
        "vanishing": partial(vanishing_figure, paper, choice, caption),
        "fig1": partial(figure_1, paper, caption),
        "fig2": partial(figure_2, paper, choice, caption),
        "fig3": partial(figure_3, paper, choice, caption),
        "fig4": partial(figure_4, paper, caption),
        "choices": partial(choices_figure, paper, caption),
        "rules": partial(rules_figure, paper, choice, caption),
    }


def figure_1(paper: Tables, caption: str) -> Figure:
    """The picture of the paper in three steps, and the last of them in heads of the model."""
    points = paper["fig1"]
    circle, heads = points.filter(pl.col("panel") == "circle"), shown_heads(points)
    handles = geometry_handles(points)
    rows = 1 + (len(heads) > 0)
    below = [0.0] * (rows - 1) + [LEGEND_LINE * math.ceil(len(handles) / 3)]
    small = small_print(caption, geometry_words(points))
    figure, panels = open_page((PAGE, 1.75), (rows, 3), below, small, left=0.6, gap=0.5)
    n = span(circle["top_n"])
    title(panels[0], "a", f"vectors on a circle, N = {n}")
    draw_vectors(panels[0], circle)
    title(panels[1], "b", "times their weights")
    draw_weighted(panels[1], circle)
    inside = circle.filter("selected", "inside").height
    title(panels[2], "c", f"edge of the ball: {inside} of {n} inside")
    draw_circle_edge(panels[2], circle)
    for axes, letter, head in zip(panels[3:], "def", heads, strict=False):
        title(axes, letter, head_title(head), 7.0)  # the longest must fit
        draw_head(axes, head)
    for axes in panels[3 + len(heads) :]:
        axes.remove()
    if heads:
        panels[3].set_ylabel("direction of largest spread", labelpad=2)
    legend_below(panels[3 if heads else 0], handles, 3)
    return figure


def figure_2(paper: Tables, choice: tuple[str, ...], caption: str) -> Figure:
    """Distance over L, over N, and the critical N, side by side."""
    over_l = at_one_n(of_choice(paper["fig2a"], choice))
    over_n = longest(of_choice(paper["fig2b"], choice))
    critical = of_choice(paper["fig2c"], choice)
    small = small_print(
        caption,
        choice_words(choice),
        f"(a) {sample_words(over_l)}",
        f"(b) {sample_words(over_n)}",
        interval_words(pl.concat([over_l, over_n])),
        f"(c) {critical_words(critical)}",
    )
    at_c = critical_handles(critical)
    under = LEGEND_LINE * (1 + max(math.ceil(len(at_c) / 2), 4))
    figure, panels = open_page((PAGE, 1.75), (1, 3), [under], small, gap=0.5)
    title(panels[0], "a", f"N = {span(over_l['top_n'])}")
    draw_distance(panels[0], over_l, "length")
    title(panels[1], "b", f"L = {span(over_n['length'])}")
    draw_distance(panels[1], over_n, "top_n")
    title(panels[2], "c", "critical N")
    draw_critical(panels[2], critical)
    legend_below(panels[0], distance_handles(), heading="(a), (b)")
    heading = "(c) the first N where a test takes the distance for the expectation"
    legend_below(panels[2], at_c, 2, heading=heading, shift=-1.45)
    return figure


def figure_3(paper: Tables, choice: tuple[str, ...], caption: str) -> Figure:
    """Separability over N at the longest L."""
    rows = longest(of_choice(paper["fig3"], choice))
    small = small_print(
        caption,
        choice_words(choice),
        f"L = {span(rows['length'])}",
        sample_words(rows),
        "the N are ours: the paper prints none",
        "boxes: quartiles over heads, whiskers to the extremes",
        interval_words(rows),
    )
    handles = separability_handles(rows)
    under = LEGEND_LINE * len(handles)
    figure, (axes,) = open_page((COLUMN, 2.2), (1, 1), [under], small)
    title(axes, "", f"L = {span(rows['length'])}")
    draw_separability(axes, rows)
    legend_below(axes, handles)
    return figure


def figure_4(paper: Tables, caption: str) -> Figure:
    """A panel for each kind of step on each kind of logits that there is, the model's own first."""
    frame = paper["fig4"]
    there = panels_of(frame) or [("scaled", "random")]
    columns = _COLUMNS[min(len(there), len(_COLUMNS)) - 1]
    rows = math.ceil(len(there) / columns)
    handles = sensitivity_handles(frame)
    wide = PAGE if columns > 1 else COLUMN
    legend_columns = 3 if wide == PAGE else 1
    under = [0.0] * (rows - 1) + [LEGEND_LINE * math.ceil(len(handles) / legend_columns)]
    small = small_print(caption, sensitivity_words(frame))
    figure, panels = open_page((wide, 1.9), (rows, columns), under, small)
    limits = sensitivity_limits(frame)  # one for all: panels compare
    letters = "abcdefghi" if len(there) > 1 else [""]
    for axes, letter, (logits, direction) in zip(panels, letters, there, strict=False):
        title(axes, letter, f"{_step_words(direction)}, {logits} logits")
        draw_sensitivity(axes, of_logits(frame, logits), direction, limits)
    for place, axes in enumerate(panels):
        if place % columns:
            axes.set_ylabel("")
        if place >= len(there):
            axes.remove()
    legend_below(panels[columns * (rows - 1)], handles, legend_columns)
    return figure


def _step_words(direction: str) -> str:
    return direction if "keys" in direction else f"{direction} direction"
