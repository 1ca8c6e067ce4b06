"""Figures to files: the same data gives the same bytes, and no half-written file is ever seen."""

import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from matplotlib import style
from matplotlib.backend_bases import FigureCanvasBase
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from headgauge.atomic import one_line, whole_file
from headgauge.errors import InputError

DPI = 150
# The type of a paper's figure.
TYPE: dict[Any, Any] = {
    "font.size": 7.0,
    "axes.labelsize": 7.5,
    "axes.titlesize": 7.5,
    "axes.titlelocation": "left",
    "axes.linewidth": 0.6,
    "axes.edgecolor": "#222222",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "legend.fontsize": 7.0,
    "legend.frameon": False,
    "legend.borderpad": 0.0,
    "legend.labelspacing": 0.3,
    "legend.handlelength": 2.6,
    "legend.columnspacing": 1.2,
}
# By format: what draws it, and what it would say of the time and the program.
_CANVASES: dict[str, tuple[type[FigureCanvasBase], str]] = {
    "png": (FigureCanvasAgg, "Software"),
    "svg": (FigureCanvasSVG, "Date"),
    "pdf": (FigureCanvasPdf, "CreationDate"),
}


def house_style() -> AbstractContextManager[None]:
    """matplotlib's own defaults for the length of a `with`, whatever the user has set.

    The salt makes the ids in SVG files repeatable; publishers want TrueType in a PDF, and the
    default is Type 3. Figures are built and saved inside.
    """
    ours = {"svg.hashsalt": "headgauge", "hatch.linewidth": 0.6, "pdf.fonttype": 42}
    return style.context(["default", ours])


def save_figure(
    figure: Figure,
    folder: Path,
    name: str,
    formats: Sequence[str] = ("png", "svg"),
    dpi: int = DPI,
    beside: str = "",
) -> list[Path]:
    """FOLDER/NAME.png and the like, each put in place only when it is whole; words `beside` it are
    in NAME.txt.

    The SVG and PDF canvases set the figure to 72 dots per inch and leave it so.
    """
    if not re.fullmatch(r"\w[\w.-]*", name):
        raise InputError(f"{name!r} is no name for a figure: letters, digits, '-' and '_' are")
    with one_line(folder):
        folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}.{kind}" for kind in formats]
    for kind, path in zip(formats, paths, strict=True):
        canvas, unsaid = _CANVASES[kind]
        figure.set_dpi(dpi)
        with house_style(), whole_file(path) as part:
            getattr(canvas(figure), f"print_{kind}")(part, metadata={unsaid: None})
    return paths + save_words(folder / f"{name}.txt", beside)


def save_words(path: Path, words: str) -> list[Path]:
    """A figure's caption as text; without words none is left of an earlier drawing."""
    if not words:
        with one_line(path):
            path.unlink(missing_ok=True)
        return []
    with whole_file(path) as part:
        part.write_text(f"{words}\n", encoding="utf-8")
    return [path]
