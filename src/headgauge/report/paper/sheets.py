"""The figures of a reproduction as a paper has them: which panels, which legends, which words."""

import math
from collections.abc import Iterator

import polars as pl
from matplotlib.figure import Figure

from headgauge.report.paper.choices import (
    draw_plateaus,
    draw_shares,
    plateau_handles,
    share_handles,
)
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
from headgauge.report.paper.overview import overview
from headgauge.report.paper.page import (
    LEGEND_LINE,
    legend_below,
    open_page,
    small_print,
    title,
)
from headgauge.report.paper.rules import (
    at_one_length,
    draw_rule_criticals,
    draw_rule_distances,
    draw_rule_separability,
    looks_of,
    rule_choice,
    rule_handles,
    rule_words,
    strictest,
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
    """Each figure with its name, the overview first."""
    choice = shown_choice(paper)
    yield "paper", overview(paper, choice, caption)
    yield "fig1", figure_1(paper, caption)
    yield "fig2", figure_2(paper, choice, caption)
    yield "fig3", figure_3(paper, choice, caption)
    yield "fig4", figure_4(paper, caption)
    yield "choices", choices_figure(paper, caption)
    yield "rules", rules_figure(paper, choice, caption)


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


def choices_figure(paper: Tables, caption: str) -> Figure:
    """Critical share and plateau of every choice, the closest to the paper on top."""
    choices = paper["choices"]
    critical = paper["fig2c"]["length"].max()
    length = critical if isinstance(critical, int) else None
    small = small_print(
        caption,
        f"★ closest to the paper; critical N at level 0.01, L = {length or '–'}",
        "the others by how many of its numbers they meet",
        "in the band: the share of heads whose mean from N = 16 on is there",
        f"{span(choices['rows'].round(0), ' to ')} query rows a head",
    )
    height = max(0.17 * choices.height, 0.8)
    figure, panels = open_page((PAGE, height), (1, 2), [4 * LEGEND_LINE], small, left=1.65, gap=0.2)
    for axes in panels:  # room for a last column of numbers
        box = axes.get_position()
        axes.set_position((box.x0, box.y0, box.width * 0.85, box.height))
    title(panels[0], "a", "critical N")
    draw_shares(panels[0], choices, length)
    title(panels[1], "b", "separability from N = 16 on")
    draw_plateaus(panels[1], choices)
    legend_below(panels[0], share_handles())
    legend_below(panels[1], plateau_handles())
    return figure


def rules_figure(paper: Tables, choice: tuple[str, ...], caption: str) -> Figure:
    """Figures 2b, 2c and 3, one line per rule."""
    choice = rule_choice(paper, choice)
    looks = looks_of(paper, choice)
    tables = [of_choice(paper[name], choice, None) for name in ("fig2b", "fig2c", "fig3")]
    over_n, critical, shares = longest(tables[0]), tables[1], longest(tables[2])
    handles = rule_handles(looks)
    small = small_print(
        caption,
        choice_words(choice),
        rule_words(looks),
        sample_words(
            pl.concat(
                [frame.select("heads", "windows", "rows", "length") for frame in (over_n, shares)]
            )
        ),
        interval_words(over_n),
        f"critical N: printed expectation, level {span(strictest(critical)['level'])}; "
        "bars: 95 % bootstrap over heads; an arrow: none up to where it begins",
    )
    under = LEGEND_LINE * math.ceil(len(handles) / 4)
    figure, panels = open_page((PAGE, 1.75), (1, 3), [under], small, left=0.5, gap=0.5)
    title(panels[0], "a", f"L = {span(over_n['length'])}")
    draw_rule_distances(panels[0], over_n, looks)
    single = f", L = {span(longest(critical)['length'])}" if at_one_length(critical) else ""
    title(panels[1], "b", f"critical N{single}")
    draw_rule_criticals(panels[1], critical, looks)
    title(panels[2], "c", f"L = {span(shares['length'])}")
    draw_rule_separability(panels[2], shares, looks)
    legend_below(panels[0], handles, 4)
    return figure
