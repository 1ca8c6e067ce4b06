"""Tokens as particles, drawn: a simulation, a model's layers beside it, and a moving picture."""

from pathlib import Path

import polars as pl
from matplotlib import rc_context

from headgauge.report.dynamics.depth import depth_page
from headgauge.report.dynamics.selecting import every_table
from headgauge.report.dynamics.sheets import sheets
from headgauge.report.dynamics.sphere import sphere_gif
from headgauge.report.figure_files import house_style, save_figure
from headgauge.report.paper.looks import TYPE

_FORMATS = ("png", "svg", "pdf")


def dynamics_figures(tables: dict[str, pl.DataFrame], caption: str, folder: Path) -> list[Path]:
    """dynamics (the overview), gamma, swarms, phase, rates, collapse in FOLDER/figures.

    Each as PNG, SVG and PDF, of the tables that have rows. `caption` names the run.
    """
    paths = []
    with house_style(), rc_context(TYPE):
        for name, figure in sheets(every_table(tables), caption):
            paths += save_figure(figure, folder / "figures", name, _FORMATS)
    return paths


def sphere_animation(sphere: pl.DataFrame, caption: str, folder: Path) -> Path:
    """FOLDER/figures/sphere.gif: the particles of every scheme on the 2-sphere, over time."""
    return sphere_gif(sphere, caption, folder / "figures" / "sphere.gif")


def depth_figure(
    depth: pl.DataFrame, predicted: pl.DataFrame, caption: str, folder: Path
) -> list[Path]:
    """FOLDER/figures/depth.*: a model's tokens by layer, beside what the schemes predict."""
    with house_style(), rc_context(TYPE):
        figure = depth_page(depth, predicted, caption)
        return save_figure(figure, folder / "figures", "depth", _FORMATS)


__all__ = ["depth_figure", "dynamics_figures", "sphere_animation"]
