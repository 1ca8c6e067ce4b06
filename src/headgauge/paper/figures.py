"""Every figure of one text, from what was measured on it."""

from dataclasses import replace

import polars as pl

from headgauge.paper import (
    assumptions,
    coverage,
    fig1_geometry,
    fig2a_length,
    fig2b_top_n,
    fig2c_critical,
    fig3_separability,
    fig4_sensitivity,
    gains,
    signs,
    vanishing,
)
from headgauge.paper.choice_table import choice_table
from headgauge.paper.measured import Measured
from headgauge.paper.settings import ReproduceSettings


def figures(measured: Measured, settings: ReproduceSettings, text: str) -> dict[str, pl.DataFrame]:
    """The frames of `results.paper_schema` by name, but for the verdicts."""
    critical = fig2c_critical.run(measured, settings.fig2c)
    found = {
        "vanishing": vanishing.run(measured, settings.lemma_1),
        "fig1": fig1_geometry.run(measured, settings.fig1),
        "fig2a": fig2a_length.run(measured, replace(settings.fig2a, lengths=settings.lengths)),
        "fig2b": fig2b_top_n.run(measured, settings.fig2b),
        "fig2c": critical,
        "fig2c_growth": fig2c_critical.growth(measured, settings.fig2c),
        "fig2c_tests": fig2c_critical.tests(measured),
        "fig3": fig3_separability.run(measured, settings.fig3),
        "fig4": fig4_sensitivity.run(measured, settings.fig4),
        "coverage": coverage.run(measured, settings.discussion),
        "vectors": assumptions.run(measured, settings.assumption),
        "signs": signs.run(measured, vars(settings.chosen)),
        "gains": gains.run(measured, settings.chosen, settings.guideline),
        "choices": choice_table(measured, critical, settings.chosen),
    }
    return {name: frame.with_columns(text=pl.lit(text)) for name, frame in found.items()}
