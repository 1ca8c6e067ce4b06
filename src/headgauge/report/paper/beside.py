"""The figures beside the paper's own: vanishing weights, all choices, other rules."""

import math

import polars as pl
from matplotlib.figure import Figure

from headgauge.report.paper.choices import (
    draw_plateaus,
    draw_shares,
    plateau_handles,
    share_handles,
)
from headgauge.report.paper.looks import PAGE
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
    choice_words,
    interval_words,
    longest,
    of_choice,
    sample_words,
    span,
)
from headgauge.report.paper.vanishing import (
    bound_handles,
    draw_bounds,
    draw_rule_weights,
    draw_weights,
    vanishing_handles,
    vanishing_words,
)

Tables = dict[str, pl.DataFrame]


def vanishing_figure(paper: Tables, choice: tuple[str, ...], caption: str) -> Figure:
    """The weights over L, the bounds on the largest, and both again under other rules."""
    frame = paper["vanishing"]
    looks = looks_of(paper, rule_choice(paper, choice))
    looks = {rule: look for rule, look in looks.items() if rule in frame["rule"]}
    small = small_print(caption, vanishing_words(frame), interval_words(frame), rule_words(looks))
    rules = [look.handle(markersize=3.5) for look in looks.values()]
    below = [4 * LEGEND_LINE, LEGEND_LINE * math.ceil(len(rules) / 4)]
    figure, panels = open_page((PAGE, 1.75), (2, 2), below, small, left=0.55, gap=0.6)
    title(panels[0], "a", "weights")
    draw_weights(panels[0], frame)
    title(panels[1], "b", "the largest weight and Corollary 1's bounds")
    draw_bounds(panels[1], frame)
    title(panels[2], "c", "largest weight, by rule")
    draw_rule_weights(panels[2], frame, looks, "largest_weight")
    title(panels[3], "d", "largest off the first key, of the rest, by rule")
    draw_rule_weights(panels[3], frame, looks, "largest_off_sink")
    legend_below(panels[0], vanishing_handles())
    legend_below(panels[1], bound_handles(frame))
    legend_below(panels[2], rules, 4)
    return figure


def choices_figure(paper: Tables, caption: str) -> Figure:
    """Critical share and plateau of every choice, the closest to the paper on this text on top."""
    choices = paper["choices"]
    critical = paper["fig2c"]["length"].max()
    length = critical if isinstance(critical, int) else None
    small = small_print(
        caption,
        "● the choice that the verdicts are about",
        "★ closest to the paper on this text, the others by how many of its numbers they meet",
        f"critical N at level 0.01, L = {length or '–'}",
        "in the band: the share of heads whose mean from N = 16 on is there",
        f"{span(choices['rows'].round(0), ' to ')} query rows a head",
    )
    height = max(0.17 * choices.height, 0.8)
    figure, panels = open_page((PAGE, height), (1, 2), [4 * LEGEND_LINE], small, left=1.8, gap=0.2)
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
