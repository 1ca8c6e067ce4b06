"""The measures of `curves` over N: a line for each head, coloured by its layer."""

import polars as pl
from matplotlib import colormaps
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from headgauge.report.head_figures import usual_choice
from headgauge.report.paper.looks import PAGE
from headgauge.report.paper.page import (
    LEGEND_LINE,
    legend_below,
    nothing,
    open_page,
    over_n,
    small_print,
    title,
)
from headgauge.report.paper.selecting import choice_words, longest, span
from headgauge.report.words import CURVE_MEASURES
from headgauge.runs.schema import HEAD

_SHADES = (0.0, 0.8)  # of the colour map: its end is too light for a line
_NAMED = 5  # layers in the legend


def curve_lines(curves: pl.DataFrame, caption: str) -> Figure:
    """Separability, distance and radius at the longest length, means over windows."""
    choice, chosen = usual_choice(longest(curves))
    lines = chosen.group_by(*HEAD, "top_n").agg(pl.col(*CURVE_MEASURES).mean()).sort("top_n")
    layers = lines["layer"].unique().sort().to_list()
    low, high = _SHADES
    shade = {
        layer: colormaps["viridis"](low + (high - low) * place / max(1, len(layers) - 1))
        for place, layer in enumerate(layers)
    }
    heads = lines.select(HEAD).n_unique()
    told = f"shown at L = {span(chosen['length'])}; {heads} heads, a line each, means over windows"
    small = small_print(caption, choice_words(choice), told)
    figure, panels = open_page((PAGE, 1.9), (1, 3), [LEGEND_LINE], small, gap=0.5)
    for axes, letter, (name, measure) in zip(panels, "abc", CURVE_MEASURES.items(), strict=True):
        title(axes, letter, measure.title)
        seen = lines.filter(pl.col(name).is_not_null())
        if seen.is_empty():
            nothing(axes, "not seen in this run")
            continue
        for head in seen.partition_by(HEAD, maintain_order=True):
            how = {"color": shade[head["layer"][0]], "linewidth": 0.7, "alpha": 0.7}
            axes.plot(head["top_n"], head[name], marker="." if len(head) < 2 else "", **how)
        over_n(axes)
        if measure.low == 0 and measure.high == 1:
            axes.set_ylim(0, 1.02)
        else:
            axes.set_ylim(bottom=0)
    step = max(1, -(-len(layers) // _NAMED))
    named = list(dict.fromkeys([*layers[::step], layers[-1]]))
    handles = [Line2D([], [], color=shade[layer], label=f"layer {layer}") for layer in named]
    legend_below(panels[0], handles, len(handles))
    return figure
