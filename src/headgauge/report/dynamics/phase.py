"""The phase diagram: the share of pairs that are one, over time and β."""

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.lines import Line2D
from matplotlib.patheffects import AbstractPathEffect, withStroke

from headgauge.report.paper.looks import BLACK, Look
from headgauge.report.paper.page import nothing, under_panel

HALF = Look("half of the pairs", "white", "-")
COLOUR_MAP = "cividis"  # alike for every kind of colour vision, and even in grey
# White alone is lost on yellow.
_EDGE: list[AbstractPathEffect] = [withStroke(linewidth=2.2, foreground=BLACK)]
BAR_ROOM = 0.44  # inches: the colour bar with its numbers and its name
_BAR = 0.09
_WIDTH = 2.4


def draw_phase(axes: Axes, frame: pl.DataFrame) -> QuadMesh | None:
    """One scheme at one dimension; None where it was not run."""
    if frame.is_empty():
        nothing(axes, "not in this run")
        return None
    grid = frame.pivot(on="time", index="beta", values="probability").sort("beta")
    betas = grid["beta"].to_numpy()
    columns = sorted(grid.columns[1:], key=float)
    times = np.array([float(name) for name in columns])
    shares = np.ma.masked_invalid(grid.select(columns).to_numpy().astype(float))
    how = {"cmap": COLOUR_MAP, "vmin": 0, "vmax": 1, "shading": "nearest", "rasterized": True}
    mesh = axes.pcolormesh(times, betas, shares, **how)
    if shares.min() < 0.5 < shares.max() and min(shares.shape) > 1:
        line = axes.contour(times, betas, shares, levels=[0.5], colors=HALF.colour, linewidths=1.0)
        line.set_path_effects(_EDGE)
    elif shares.max() < 0.5:  # a panel all dark would look broken
        words = {"transform": axes.transAxes, "ha": "center", "va": "center", "color": HALF.colour}
        axes.text(0.5, 0.5, "nowhere half\nof the pairs", **words)
    for numbers, scale in ((times, axes.set_xscale), (betas, axes.set_yscale)):
        if _in_even_ratios(numbers):
            scale("log")
    axes.set_xlabel("t", labelpad=2)
    axes.set_ylabel("β", labelpad=2)
    return mesh


def colour_bar(axes: Axes, mesh: QuadMesh) -> None:
    """Under a panel's axis, where a legend would be, and wider than the panel may be."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    _, room = under_panel(axes, _BAR)
    room.set_axis_on()
    box = room.get_position()
    wide = _WIDTH / figure.get_size_inches()[0]
    room.set_position((box.x0, box.y0, wide, box.height))
    bar = figure.colorbar(mesh, cax=room, orientation="horizontal")
    bar.outline.set_linewidth(0.5)  # pyright: ignore
    bar.set_label("share of pairs with a cosine of .999 or more", labelpad=1)


def half_handle() -> Line2D:
    return HALF.handle(linewidth=1.0, path_effects=_EDGE)


def _in_even_ratios(numbers: np.ndarray) -> bool:
    """Whether the numbers were chosen so; a first 0 could not be drawn."""
    if len(numbers) < 3 or numbers[0] <= 0:
        return False
    ratios = numbers[1:] / numbers[:-1]
    return bool(ratios.min() > 1.05 and ratios.max() < 1.02 * ratios.min())
