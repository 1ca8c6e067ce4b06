"""Figures to files: the same data gives the same bytes, and no half-written file is ever seen."""

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

from matplotlib import style
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from headgauge.errors import InputError

DPI = 150


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
) -> list[Path]:
    """FOLDER/NAME.png and the like, each put in place only when it is whole.

    The SVG and PDF canvases set the figure to 72 dots per inch and leave it so.
    """
    paths = []
    for kind in formats:
        path = folder / f"{name}.{kind}"
        figure.set_dpi(dpi)
        _write(path, partial(_DRAW[kind], figure))
        paths.append(path)
    return paths


def _png(figure: Figure, part: Path) -> None:
    FigureCanvasAgg(figure).print_png(part, metadata={"Software": None})


def _svg(figure: Figure, part: Path) -> None:
    FigureCanvasSVG(figure).print_svg(part, metadata={"Date": None})


def _pdf(figure: Figure, part: Path) -> None:
    FigureCanvasPdf(figure).print_pdf(part, metadata={"CreationDate": None})


_DRAW = {"png": _png, "svg": _svg, "pdf": _pdf}


def _write(path: Path, draw: Callable[[Path], None]) -> None:
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            draw(part)
            os.replace(part, path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(
            f"cannot write {path}: {reason}; make room or choose another folder"
        ) from error
