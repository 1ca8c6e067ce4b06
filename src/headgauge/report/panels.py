"""The parts of a panel: cells, hatching, ticks, colour bar, title."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import LogNorm, Normalize, TwoSlopeNorm
from matplotlib.image import AxesImage
from matplotlib.ticker import StrMethodFormatter

from headgauge.report.head_grid import HeadGrid
from headgauge.report.sheet import FAINT, INK, Page, map_corner, panel_corner, wrapped
from headgauge.report.words import Measure

UNSEEN = {"facecolor": "#dddddd", "edgecolor": "#808080", "hatch": "////////", "linewidth": 0.0}
ABSENT = {"facecolor": "#ffffff", "edgecolor": "#cccccc", "hatch": "\\\\\\", "linewidth": 0.0}
_TAILS = (2, 98)  # percentiles
_NARROW = 2.0  # inches
_STEPS = (1, 2, 5, 10, 20, 25, 50, 100)


@dataclass(frozen=True)
class Colours:
    """Values to colours, which ends of the data lie outside, and what a reader must know of it."""

    norm: Normalize
    extend: str  # in matplotlib's words: neither, min, max or both
    note: str


def colours(values: Float[np.ndarray, "*shape"], measure: Measure) -> Colours:
    """The measure's own ends where it has them, else the 2nd and 98th percentile of the data."""
    seen = values[np.isfinite(values)]
    tails = np.percentile(seen, _TAILS) if seen.size else (0.0, 1.0)
    low = float(tails[0]) if measure.low is None else measure.low
    high = float(tails[1]) if measure.high is None else measure.high
    if high <= low:
        high = low + (abs(low) or 1.0)
    below, above = bool((seen < low).any()), bool((seen > high).any())
    extend = {(0, 0): "neither", (1, 0): "min", (0, 1): "max", (1, 1): "both"}[below, above]
    note = _tails_note(below, above, measure)
    if measure.centre is not None:
        return Colours(TwoSlopeNorm(measure.centre, low, high), extend, note)
    return Colours((LogNorm if measure.logarithmic else Normalize)(low, high), extend, note)


def _tails_note(below: bool, above: bool, measure: Measure) -> str:
    ends = ["2nd" * (below and measure.low is None), "98th" * (above and measure.high is None)]
    ends = [end for end in ends if end]
    if ends:
        return f"arrow: past the {' or '.join(ends)} percentile"
    outside = [("below", measure.low)] * below + [("above", measure.high)] * above
    told = " or ".join(f"{side} {end:g}" for side, end in outside)
    return f"arrow: {told}" if told else ""


def draw_cells(
    axes: Axes,
    grid: HeadGrid,
    values: Float[np.ndarray, "rows heads"],
    measure: Measure,
    scale: Colours,
) -> AxesImage:
    """The heat map itself: a cell for each head, hatched where the value is null."""
    image = axes.imshow(
        np.ma.masked_invalid(values),
        cmap=colormaps[measure.colour_map],
        norm=scale.norm,
        aspect="auto",
        interpolation="none",  # a pixel for each cell in the SVG, and sharp edges
    )
    hatch(axes, grid.exists & ~np.isfinite(values), UNSEEN)
    hatch(axes, ~grid.exists, ABSENT)
    return image


def hatch(axes: Axes, covered: Bool[np.ndarray, "rows heads"], look: dict[str, Any]) -> None:
    """Cover cells that have no number, a run of them at a time."""
    boxes = []
    for row, line in enumerate(covered):
        edges = np.flatnonzero(np.diff(np.concatenate(([0], line.astype(int), [0]))))
        for first, after in edges.reshape(-1, 2):
            left, right, top, bottom = first - 0.5, after - 0.5, row - 0.5, row + 0.5
            boxes.append([(left, top), (right, top), (right, bottom), (left, bottom)])
    if boxes:
        axes.add_collection(PolyCollection(boxes, **look), autolim=False)


def label_axes(axes: Axes, grid: HeadGrid, page: Page, place: int) -> None:
    """Numbers thinned to what fits; layers are numbered in the first column of panels only.

    Written at their places on the page: matplotlib's own ticks take most of a figure's time.
    """
    axes.xaxis.set_visible(False)
    axes.yaxis.set_visible(False)
    for side in axes.spines.values():
        side.set_linewidth(0.5)
    for _, first, _ in grid.blocks[1:]:
        axes.axhline(first - 0.5, color="white", linewidth=2.4)
        axes.axhline(first - 0.5, color=INK, linewidth=0.6)
    _number_heads(axes, grid, page, place)
    if place % page.sheet.columns == 0:
        _number_layers(axes, grid, page, place)
    if len(grid.blocks) > 1 and place % page.sheet.columns == page.sheet.columns - 1:
        _name_blocks(axes, grid)


def _number_heads(axes: Axes, grid: HeadGrid, page: Page, place: int) -> None:
    wide, high = page.sheet.cell
    left, top = map_corner(page, place)
    bottom = top - page.sheet.map[1]
    numbers = [str(head) for head in grid.column_of]
    ticks = _ticks(len(numbers), wide, 0.07 * max(map(len, numbers)) + 0.07)
    for tick in ticks:
        middle = left + (tick + 0.5) * wide
        page.write(middle, bottom - 0.045, numbers[tick], 7, ha="center", va="top", color=INK)
    edge = grid.shape[0] - 0.5
    _tick_marks(axes, [[(tick, edge), (tick, edge + 0.03 / high)] for tick in ticks])
    middle = left + page.sheet.map[0] / 2
    page.write(middle, bottom - 0.16, "head", 7.5, ha="center", va="top", color=INK)


def _number_layers(axes: Axes, grid: HeadGrid, page: Page, place: int) -> None:
    wide, high = page.sheet.cell
    left, top = map_corner(page, place)
    ticks = [
        first + tick
        for _, first, after in grid.blocks
        for tick in _ticks(after - first, high, 0.16)
    ]
    for tick in ticks:
        middle = top - (tick + 0.5) * high
        how = {"ha": "right", "va": "center_baseline", "color": INK}
        page.write(left - 0.055, middle, grid.labels[tick], 7, **how)
    _tick_marks(axes, [[(-0.5, tick), (-0.5 - 0.03 / wide, tick)] for tick in ticks])
    middle = top - page.sheet.map[1] / 2
    how = {"ha": "left", "va": "center", "rotation": 90, "color": INK}
    page.write(0.1, middle, "layer", 7.5, **how)


def _tick_marks(axes: Axes, lines: list[list[tuple[int | float, int | float]]]) -> None:
    marks = LineCollection(lines, colors=INK, linewidths=0.5, clip_on=False)
    axes.add_collection(marks, autolim=False)


def _name_blocks(axes: Axes, grid: HeadGrid) -> None:
    right = grid.shape[1] - 0.5
    for name, first, after in grid.blocks:
        axes.annotate(
            name,
            (right, (first + after - 1) / 2),
            xytext=(4, 0),
            textcoords="offset points",
            rotation=90,
            va="center",
            fontsize=6.5,
            color=INK,
            annotation_clip=False,
            parse_math=False,
        )


def panel_title(page: Page, place: int, title: str, unit: str) -> None:
    """A line in bold and what the number is, above the heat map."""
    left, bottom = panel_corner(page, place)
    top = bottom + page.sheet.panel[1]
    page.write(left, top - 0.02, title, 8, weight="bold", va="top", color=INK)
    for line, text in enumerate(wrapped(unit, page.sheet.panel[0], 7)):
        page.write(left, top - 0.155 - 0.115 * line, text, 7, va="top", color=FAINT)


def colour_bar(
    page: Page, image: AxesImage, scale: Colours, left: float, bottom: float, width: float
) -> None:
    """A horizontal bar with its numbers; arrows where data lie outside, and a note that says so."""
    axes = page.axes(left, bottom + 0.3, width, 0.08)
    bar = page.figure.colorbar(
        image, cax=axes, orientation="horizontal", extend=scale.extend, extendfrac=0.06
    )
    if isinstance(scale.norm, LogNorm):
        bar.formatter = StrMethodFormatter("{x:g}")
        bar.minorticks_off()
    elif width < _NARROW and scale.norm.vmin is not None and scale.norm.vmax is not None:
        # Left alone, a short bar loses the number at its end, which may be a limit.
        ends = (scale.norm.vmin, (scale.norm.vmin + scale.norm.vmax) / 2, scale.norm.vmax)
        bar.set_ticks(ends, labels=[f"{end:.3g}" for end in ends])
    bar.outline.set_linewidth(0.5)  # pyright: ignore
    axes.tick_params(labelsize=6.5, length=2, width=0.5, pad=1.5, colors=INK)
    if scale.note:
        page.write(left, bottom + 0.03, scale.note, 6, color=FAINT, va="bottom")


def _ticks(count: int, inches: float, needed: float) -> list[int]:
    step = next((step for step in _STEPS if step * inches >= needed), count)
    return list(range(0, count, step))
