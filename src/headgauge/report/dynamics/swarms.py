"""Simulated particles over time: how alike they are, how far out, how fast."""

import polars as pl
from matplotlib.axes import Axes

from headgauge.report.dynamics.over_time import draw_over_time, ratios_if_wide
from headgauge.report.dynamics.selecting import WEIGHTS, kinds_of, of_kind, setup_words

MEASURES = {  # by column: the name on the axis
    "mean_cosine": "mean cosine",
    "radius": "radius r",
    "attention_norm": "‖A‖",
    "clusters": "clusters",
    "speed": "speed ‖θ′‖",
}


def draw_swarm(axes: Axes, swarms: pl.DataFrame, measure: str) -> None:
    """A measure of one kind of weights; the mean cosine with its band over seeds."""
    band = ("low", "high") if measure == "mean_cosine" else None
    draw_over_time(axes, swarms, measure, band)
    axes.set_ylabel(MEASURES[measure], labelpad=3)
    if measure != "mean_cosine":
        ratios_if_wide(axes, swarms, measure)


def swarm_words(swarms: pl.DataFrame) -> str:
    """What each kind of weights was run with, and what was run besides and is not drawn."""
    kinds = [(kind, of_kind(swarms, kind)) for kind in kinds_of(swarms)]
    told = [f"{WEIGHTS[kind]}: {setup_words(rows)}" for kind, rows in kinds]
    if sum(rows.height for _, rows in kinds) < swarms.height:
        told.append("runs with other settings are in the table alone")
    return "; ".join(told)


def band_words(swarms: pl.DataFrame) -> str:
    return "" if swarms.is_empty() else "bands: 5 to 95 % over seeds"
