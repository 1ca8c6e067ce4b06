"""The figures of a reproduction, fit for a paper: SVG and PDF, and a PNG of the overview."""

from pathlib import Path

import polars as pl
from matplotlib import rc_context

from headgauge.report.figure_files import house_style, save_figure
from headgauge.report.paper.looks import TYPE
from headgauge.report.paper.selecting import every_table
from headgauge.report.paper.sheets import sheets

_FORMATS = ("svg", "pdf")
_OVERVIEW = "paper"


def paper_figures(paper: dict[str, pl.DataFrame], caption: str, folder: Path) -> list[Path]:
    """fig1 … fig4, choices, rules as SVG and PDF in FOLDER/figures; the overview first, as PNG too.

    `caption` names the model and the text. The figures show the choice of vectors and keys that is
    closest to the paper; a panel without data says so.
    """
    paths = []
    with house_style(), rc_context(TYPE):
        for name, figure in sheets(every_table(paper), caption):
            formats = ("png", *_FORMATS) if name == _OVERVIEW else _FORMATS
            paths += save_figure(figure, folder / "figures", name, formats)
    return paths


__all__ = ["paper_figures"]
