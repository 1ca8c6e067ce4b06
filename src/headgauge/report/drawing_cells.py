"""A heat map of a described figure: cells, hatching, verdicts as stripes, colour bar."""

from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PathCollection, PolyCollection
from matplotlib.colors import LogNorm, Normalize, TwoSlopeNorm, to_rgba
from matplotlib.patches import Patch
from matplotlib.patheffects import withStroke
from matplotlib.textpath import TextPath
from matplotlib.ticker import StrMethodFormatter
from matplotlib.transforms import Affine2D, IdentityTransform

from headgauge.registry.entry import Entry
from headgauge.registry.measures import LAYERS, MEASURES
from headgauge.registry.names import VERDICTS, verdict
from headgauge.report.drawing_text import FAINT, INK, typeset
from headgauge.report.figure import HeatMap

UNSEEN = {"facecolor": "#dddddd", "edgecolor": "#808080", "hatch": "////////", "linewidth": 0.0}
ABSENT = {"facecolor": "#ffffff", "edgecolor": "#cccccc", "hatch": "\\\\\\", "linewidth": 0.0}
_STRIPES = 60  # divisible by every number of verdicts a head can have
_TAILS = (2, 98)  # percentiles
_STEPS = (1, 2, 5, 10, 20, 25, 50, 100)
_LETTER_LEAST = 2.8  # points


def draw_cells(axes: Axes, panel: HeatMap, together: list[HeatMap], numbered: bool) -> None:
    """The cells. `together` are the maps that share the colours; rows are `numbered` or not."""
    shape = len(panel.rows), len(panel.columns)
    extent = (-0.5, shape[1] - 0.5, shape[0] - 0.5, -0.5)
    how = {"aspect": "auto", "interpolation": "none", "extent": extent}
    if panel.verdicts is None:
        cells = _values(panel)
        norm, _ = colours(
            np.concatenate([_values(each).ravel() for each in together]), measure(panel)
        )
        cmap = colormaps[measure(panel).colour_map]
        axes.imshow(np.ma.masked_invalid(cells), cmap=cmap, norm=norm, **how)
        if panel.contour is not None and np.nanmin(cells) < panel.contour < np.nanmax(cells):
            line = axes.contour(cells, levels=[panel.contour], colors="white", linewidths=1.0)
            line.set_path_effects([withStroke(linewidth=2.2, foreground=INK)])  # lost on yellow
    else:
        axes.imshow(_stripes(panel.verdicts, shape), **how)
    for kind, covered in _without(panel).items():
        _hatch(axes, covered, _HATCHED[kind])
    axes.set_xlabel(panel.x.label, labelpad=1)
    axes.set_ylabel(panel.y.label if numbered else "", labelpad=3)
    axes.tick_params(length=2, width=0.5, pad=1.5, labelleft=numbered)
    for side in axes.spines.values():
        side.set(visible=True, linewidth=0.5)
    for name, first, after in panel.blocks if len(panel.blocks) > 1 else ():
        if first:
            axes.axhline(first - 0.5, color="white", linewidth=2.4)
            axes.axhline(first - 0.5, color=INK, linewidth=0.6)
        where = {"rotation": 90, "va": "center", "fontsize": 6.5, "clip_on": False}
        axes.text(shape[1] - 0.4, (first + after - 1) / 2, **typeset(name), **where)


def finish_cells(axes: Axes, panel: HeatMap) -> None:
    """What needs the panel's final size: numbers that fit, lines and letters on cells that are
    large enough."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    box = axes.get_window_extent()
    wide = float(box.width) / figure.dpi / len(panel.columns)
    high = float(box.height) / figure.dpi / len(panel.rows)
    across = 0.07 * max(map(len, panel.columns)) + 0.07
    places = _thinned(len(panel.columns), wide, across)
    axes.set_xticks(places, labels=[panel.columns[place] for place in places])
    blocks = panel.blocks or (("", 0, len(panel.rows)),)
    places = [
        first + place for _, first, after in blocks for place in _thinned(after - first, high, 0.16)
    ]
    axes.set_yticks(places, labels=[panel.rows[place] for place in places])
    if panel.verdicts is not None:
        if min(wide, high) > 0.06:  # on smaller cells the lines would drown the colours
            _rule(axes, len(panel.rows), len(panel.columns), 1.2 if min(wide, high) > 0.1 else 0.4)
        _letters(axes, panel.verdicts, (wide, high))


def measure(panel: HeatMap) -> Entry:
    return (MEASURES | LAYERS).get(panel.measure) or Entry(panel.measure)


def colours(values: np.ndarray, entry: Entry) -> tuple[Normalize, str]:
    """The measure's own ends where it has them, else the 2nd and 98th percentile of the data; and
    which ends of the data lie outside, in matplotlib's words."""
    seen = values[np.isfinite(values)]
    tails = np.percentile(seen, _TAILS) if seen.size else (0.0, 1.0)
    low = float(tails[0]) if entry.low is None else entry.low
    high = float(tails[1]) if entry.high is None else entry.high
    if high <= low:
        high = low + (abs(low) or 1.0)
    beyond = bool((seen < low).any()), bool((seen > high).any())
    extend = {(0, 0): "neither", (1, 0): "min", (0, 1): "max", (1, 1): "both"}[beyond]
    if entry.centre is not None:
        return TwoSlopeNorm(entry.centre, low, high), extend
    return (LogNorm if entry.logarithmic else Normalize)(low, high), extend


def add_bar(
    room: Axes, axes: Axes, panel: HeatMap, together: list[HeatMap], size: tuple[float, float]
) -> None:
    """A horizontal bar with its numbers at the foot of a room of so many inches; arrows where data
    lie outside, and a note that says so."""
    wide, high = size
    entry = measure(panel)
    norm, extend = colours(np.concatenate([_values(each).ravel() for each in together]), entry)
    figure = axes.get_figure(root=True)
    assert figure is not None
    place = room.inset_axes((0.0, 0.26 / high, min(1.0, 3.5 / wide), 0.085 / high))
    bar = figure.colorbar(
        axes.images[0], cax=place, orientation="horizontal", extend=extend, extendfrac=0.06
    )
    if isinstance(norm, LogNorm):
        bar.formatter = StrMethodFormatter("{x:g}")
        bar.minorticks_off()
    elif norm.vmin is not None and norm.vmax is not None:
        # Left alone, a short bar loses the number at its end, which may be a limit.
        ends = (norm.vmin, (norm.vmin + norm.vmax) / 2, norm.vmax)
        bar.set_ticks(ends, labels=[f"{end:.3g}" for end in ends])
    bar.outline.set_linewidth(0.5)  # pyright: ignore
    place.tick_params(labelsize=6.5, length=2, width=0.5, pad=1.5, colors=INK)
    what = entry.unit if entry.unit not in panel.unit else ""
    line = "" if panel.contour is None else f"white line: {panel.contour:g}"
    note = "; ".join(filter(None, (what, line, _beyond(extend, entry))))
    where = {"transform": room.transAxes, "va": "bottom", "in_layout": False}
    room.text(0.0, 0.0, note, fontsize=6, color=FAINT, **where)


def _beyond(extend: str, entry: Entry) -> str:
    below, above = extend in ("min", "both"), extend in ("max", "both")
    ends = ["2nd"] * (below and entry.low is None) + ["98th"] * (above and entry.high is None)
    if ends:
        return f"arrow: past the {' or '.join(ends)} percentile"
    outside = [("below", entry.low)] * below + [("above", entry.high)] * above
    told = " or ".join(f"{side} {end:g}" for side, end in outside)
    return f"arrow: {told}" if told else ""


def cell_entries(panel: HeatMap) -> list[tuple[str, str, Any]]:
    """The legend: each verdict there is, with its letter and count; last, what hatching means."""
    counted = [name for row in panel.verdicts or () for cell in row for name in cell]
    order = [*VERDICTS, *dict.fromkeys(name for name in counted if name not in VERDICTS)]
    found: list[tuple[str, str, Any]] = []
    for name in order:
        if name in counted:
            look: dict[str, Any] = {"facecolor": verdict(name).look.colour, "edgecolor": "#999999"}
            letter = f"{verdict(name).letter}  " if verdict(name).letter else ""
            found.append(
                (name, f"{letter}{name} {counted.count(name)}", Patch(linewidth=0.4, **look))
            )
    hatched = [kind for kind, covered in _without(panel).items() if covered.any()]
    return found + [(kind, kind, Patch(**_HATCHED[kind])) for kind in hatched]


_HATCHED: dict[str, dict[str, Any]] = {"not seen": UNSEEN, "no such head": ABSENT}


def _values(panel: HeatMap) -> np.ndarray:
    held = [[np.nan if each is None else each for each in row] for row in panel.values]
    return np.array(held, dtype=float).reshape(-1, len(panel.columns))


def _without(panel: HeatMap) -> dict[str, np.ndarray]:
    """The cells that have nothing to show, by why."""
    absent = np.zeros((len(panel.rows), len(panel.columns)), dtype=bool)
    for place in panel.absent:
        absent[place] = True
    if panel.verdicts is None:
        empty = ~np.isfinite(_values(panel))
    else:
        empty = np.array([[not cell for cell in row] for row in panel.verdicts])
    return {"not seen": empty & ~absent, "no such head": absent}


def _stripes(verdicts: Any, shape: tuple[int, int]) -> np.ndarray:
    """The picture: `_STRIPES` columns a head, transparent where no verdict is."""
    picture = np.zeros((*shape, _STRIPES, 4))
    for row, line in enumerate(verdicts):
        for column, names in enumerate(line):
            edges = np.linspace(0, _STRIPES, len(names) + 1).round().astype(int)
            for name, first, after in zip(names, edges[:-1], edges[1:], strict=True):
                picture[row, column, first:after] = to_rgba(verdict(name).look.colour)
    return picture.reshape(shape[0], shape[1] * _STRIPES, 4)


def _hatch(axes: Axes, covered: np.ndarray, look: dict[str, Any]) -> None:
    """Cover cells that have no number, a run of them at a time."""
    boxes = []
    for row, line in enumerate(covered):
        edges = np.flatnonzero(np.diff(np.concatenate(([0], line.astype(int), [0]))))
        for first, after in edges.reshape(-1, 2):
            left, right, top, bottom = first - 0.5, after - 0.5, row - 0.5, row + 0.5
            boxes.append([(left, top), (right, top), (right, bottom), (left, bottom)])
    if boxes:
        axes.add_collection(PolyCollection(boxes, **look), autolim=False)


def _thinned(count: int, inches: float, needed: float) -> list[int]:
    step = next((step for step in _STEPS if step * inches >= needed), count)
    return list(range(0, count, step))


def _rule(axes: Axes, rows: int, columns: int, width: float) -> None:
    """White lines between the heads, so that a stripe is not taken for a head."""
    across = [[(-0.5, edge - 0.5), (columns - 0.5, edge - 0.5)] for edge in range(1, rows)]
    down = [[(edge - 0.5, -0.5), (edge - 0.5, rows - 0.5)] for edge in range(1, columns)]
    lines = LineCollection(across + down, colors="white", linewidths=width)
    axes.add_collection(lines, autolim=False)


def _letters(axes: Axes, verdicts: Any, cell: tuple[float, float]) -> None:
    """All letters of one kind and size are one collection: thousands of texts would be slow."""
    if min(cell) * 72 * 0.7 < _LETTER_LEAST:
        return
    places: dict[tuple[str, float], list[tuple[float, float]]] = {}
    for row, line in enumerate(verdicts):
        for column, names in enumerate(line):
            for turn, name in enumerate(names):
                share = 1 / len(names)
                size = round(min(cell[1] * 72 * 0.7, cell[0] * share * 72 * 0.95, 9.0), 2)
                middle = column - 0.5 + (turn + 0.5) * share
                places.setdefault((name, size), []).append((middle, row))
    for (name, size), offsets in places.items():
        if not verdict(name).letter:
            continue
        outline = TextPath((0, 0), verdict(name).letter, size=size)
        middle = outline.get_extents()
        centred = Affine2D().translate(-(middle.x0 + middle.x1) / 2, -(middle.y0 + middle.y1) / 2)
        letters = PathCollection(
            [outline.transformed(centred)],
            sizes=[1],  # the outline is in points already
            offsets=offsets,
            offset_transform=axes.transData,
            facecolors=verdict(name).look.ink,
            edgecolors="none",
        )
        letters.set_transform(IdentityTransform())
        axes.add_collection(letters, autolim=False)
