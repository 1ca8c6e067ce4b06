"""Figures to files: the same data gives the same bytes, and no half-written file is ever seen."""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from matplotlib import style
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from headgauge.errors import InputError

DPI = 150


def house_style() -> AbstractContextManager[None]:
    """matplotlib's own defaults for the length of a `with`, whatever the user has set.

    The salt makes the ids in SVG files repeatable. Figures are built and saved inside.
    """
    return style.context(["default", {"svg.hashsalt": "headgauge", "hatch.linewidth": 0.6}])


def save_figure(figure: Figure, folder: Path, name: str) -> list[Path]:
    """FOLDER/NAME.png and FOLDER/NAME.svg, each put in place only when it is whole.

    Agg first: the SVG canvas sets the figure to 72 dots per inch and leaves it so.
    """
    png, svg = folder / f"{name}.png", folder / f"{name}.svg"
    figure.set_dpi(DPI)
    _write(png, lambda part: FigureCanvasAgg(figure).print_png(part, metadata={"Software": None}))
    _write(svg, lambda part: FigureCanvasSVG(figure).print_svg(part, metadata={"Date": None}))
    return [png, svg]


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
