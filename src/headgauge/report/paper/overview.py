"""All of a reproduction in one picture, for the first screen of a page."""

from collections.abc import Mapping

import polars as pl
from matplotlib.figure import Figure

from headgauge.report.paper.choice_map import draw_choice_key, draw_choice_map
from headgauge.report.paper.critical import critical_handles, critical_words, draw_critical
from headgauge.report.paper.distance import distance_handles, draw_distance
from headgauge.report.paper.other_texts import draw_others, text_handles
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
    sensitivity_handles,
    sensitivity_words,
)
from headgauge.report.paper.separability import draw_separability, separability_handles

WIDTH = 8.0  # at 150 dots per inch 1200 pixels


def overview(texts: dict[str, dict[str, pl.DataFrame]], captions: Mapping[str, str]) -> Figure:
    """Figures 2a, 2b, 2c, 3 and 4 and the choices on the first text, with less in each than its own
    figure has; of every other text the main line."""
    first, *rest = texts
    paper, others = texts[first], {text: texts[text] for text in rest}
    choice = shown_choice(paper)
    over_l = at_one_n(of_choice(paper["fig2a"], choice))
    over_n = longest(of_choice(paper["fig2b"], choice))
    critical = of_choice(paper["fig2c"], choice)
    critical = critical.filter(pl.col("level") == pl.col("level").min())
    shares = longest(of_choice(paper["fig3"], choice))
    scaled = paper["fig4"].filter(pl.col("logits") == "scaled")
    small = small_print(
        captions[first],
        *(f"grey: {captions[text]}" for text in rest),
        f"figures 2 and 3: {choice_words(choice)}",
        sample_words(over_n),
        interval_words(over_n),
        critical_words(critical),
        f"figure 4: {sensitivity_words(scaled)}",
    )
    kinds = paper["choices"]["vectors"].n_unique()
    below = [LEGEND_LINE * (5 + len(others)), LEGEND_LINE * max(6.5, kinds + 4.5)]
    figure, panels = open_page((WIDTH, 1.65), (2, 3), below, small, gap=0.55)
    titles = [
        f"Fig. 2a: distance over L, N = {span(over_l['top_n'])}",
        f"Fig. 2b: distance over N, L = {span(over_n['length'])}",
        f"Fig. 2c: critical N, level {span(critical['level'])}",
        f"Fig. 3: separable share, L = {span(shares['length'])}",
        "Fig. 4: sensitivity, random step",
        "all choices of vectors and keys",
    ]
    for axes, text in zip(panels, titles, strict=True):
        title(axes, "", text)
    draw_distance(panels[0], over_l, "length")
    draw_distance(panels[1], over_n, "top_n")
    draw_critical(panels[2], critical)
    draw_separability(panels[3], shares)
    draw_sensitivity(panels[4], scaled, "random")
    draw_choice_map(panels[5], paper["choices"])
    draw_others(panels, others, choice)
    handles = [*distance_handles(), *text_handles(others)]
    legend_below(panels[0], handles, heading="Fig. 2a, 2b")
    heading = "Fig. 2c: the expectation"
    legend_below(panels[2], critical_handles(critical), 2, heading=heading, shift=-1.7)
    legend_below(panels[3], separability_handles(shares))
    legend_below(panels[4], sensitivity_handles(scaled, short=True), 2)
    draw_choice_key(panels[5], paper["choices"])
    return figure
