"""The figures of a reproduction, fit for a paper: SVG and PDF, and a PNG of the overview."""

from collections.abc import Mapping
from pathlib import Path

import polars as pl
from matplotlib import rc_context

from headgauge.report.figure_files import house_style, save_figure
from headgauge.report.paper.looks import TYPE
from headgauge.report.paper.overview import overview
from headgauge.report.paper.selecting import every_table, of_text
from headgauge.report.paper.sheets import sheets
from headgauge.runs import text_folder

_FORMATS = ("svg", "pdf")


def paper_figures(
    paper: dict[str, pl.DataFrame], captions: Mapping[str, str], folder: Path
) -> list[Path]:
    """FOLDER/figures/paper, the overview of all texts, as PNG too, and the figures of each text as
    SVG and PDF in FOLDER/figures/TEXT.

    `captions` has a line for each text: the model, the text, what the figures stand on. They show
    the choice of vectors and keys that the verdicts are about; a panel without data says so.
    """
    tables = every_table(paper)
    texts = {text: of_text(tables, text) for text in captions}
    place = folder / "figures"
    with house_style(), rc_context(TYPE):
        paths = save_figure(overview(texts, captions), place, "paper", ("png", *_FORMATS))
        for text, mine in texts.items():
            for name, figure in sheets(mine, captions[text]):
                paths += save_figure(figure, place / text_folder(text), name, _FORMATS)
    return paths


__all__ = ["paper_figures"]
