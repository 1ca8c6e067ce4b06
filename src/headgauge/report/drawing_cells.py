"""A heat map of a described figure: cells, hatching, verdicts as stripes, colour bar."""

from collections import Counter, defaultdict
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import AsinhNorm, LogNorm, Normalize, TwoSlopeNorm, to_rgba
from matplotlib.patches import Patch
from matplotlib.patheffects import withStroke
from matplotlib.ticker import StrMethodFormatter

from headgauge.registry.entry import Entry
from headgauge.registry.measures import LAYERS, MEASURES
from headgauge.registry.names import ROLES, UNCHANGED, VERDICTS, mark
from headgauge.report.drawing_text import FAINT, INK, typeset
from headgauge.report.figure import HeatMap

Scale = tuple[Normalize, str]  # and which ends of the data lie outside, in matplotlib's words

_HATCHED: dict[str, dict[str, Any]] = {
    "not measured": {"facecolor": "#dddddd", "edgecolor": "#808080", "hatch": "////////"},
    "no such head": {"facecolor": "#ffffff", "edgecolor": "#cccccc", "hatch": "\\\\\\"},
}
_STRIPES = 60  # divisible by every number of verdicts a head can have
_TAILS = (2, 98)  # percentiles
_STEPS = (1, 2, 5, 10, 20, 25, 50, 100)
_LETTER_LEAST = 2.8  # points
_BENT = 30  # the end of bent colours, in parts that are about linear; as in colours.js


def draw_cells(axes: Axes, panel: HeatMap, scale: Scale, numbered: bool) -> None:
    """The cells; rows are `numbered` or not."""
    shape = len(panel.rows), len(panel.columns)
    extent = (-0.5, shape[1] - 0.5, shape[0] - 0.5, -0.5)
    how = {"aspect": "auto", "interpolation": "none", "extent": extent}
    if panel.verdicts is None:
        cells = _values(panel)
        cmap = colormaps[_measure(panel).colour_map]
        axes.imshow(np.ma.masked_invalid(cells), cmap=cmap, norm=scale[0], **how)
        if panel.contour is not None and np.nanmin(cells) < panel.contour < np.nanmax(cells):
            line = axes.contour(cells, levels=[panel.contour], colors="white", linewidths=1.0)
            line.set_path_effects([withStroke(linewidth=2.2, foreground=INK)])  # lost on yellow
    else:
        picture = np.zeros((shape[0], shape[1] * _STRIPES, 4))  # transparent where no verdict is
        for name, row, first, after in panel.stripes():
            picture[row, round(first * _STRIPES) : round(after * _STRIPES)] = to_rgba(
                mark(name).look.colour
            )
        axes.imshow(picture, **how)
    axes.autoscale(False)
    for kind, covered in _without(panel).items():
        _hatch(axes, covered, _HATCHED[kind])
    axes.set_xlabel(panel.x.label, labelpad=1)
    axes.set_ylabel(panel.y.label if numbered else "", labelpad=3)
    axes.tick_params(length=2, width=0.5, pad=1.5, labelleft=numbered)
    axes.set_yticks([0], labels=[max(panel.rows, key=len)])  # room for the longest
    for side in axes.spines.values():
        side.set(visible=True, linewidth=0.5)
    for name, first, after in panel.blocks if len(panel.blocks) > 1 else ():
        if first:
            axes.axhline(first - 0.5, color="white", linewidth=2.4)
            axes.axhline(first - 0.5, color=INK, linewidth=0.6)
        where = {"rotation": 90, "va": "center", "fontsize": 6.5, "clip_on": False}
        axes.text(shape[1] - 0.4, (first + after - 1) / 2, typeset(name), **where)


def finish_cells(axes: Axes, panel: HeatMap) -> None:
    """What needs the panel's final size: numbers that fit, lines and letters on cells that are
    large enough."""
    box = axes.get_window_extent()
    wide = float(box.width) / axes.figure.dpi / len(panel.columns)
    high = float(box.height) / axes.figure.dpi / len(panel.rows)
    places = _thinned(0, len(panel.columns), wide, 0.07 * max(map(len, panel.columns)) + 0.07)
    axes.set_xticks(places, labels=[panel.columns[place] for place in places])
    blocks = panel.blocks or (("", 0, len(panel.rows)),)
    places = [place for _, *ends in blocks for place in _thinned(ends[0], ends[1], high, 0.16)]
    axes.set_yticks(places, labels=[panel.rows[place] for place in places])
    if panel.verdicts is not None:
        if min(wide, high) > 0.06:  # on smaller cells the lines would drown the colours
            # White lines between the heads, so that a stripe is not taken for a head.
            rows, columns = len(panel.rows), len(panel.columns)
            how = {"colors": "white", "linewidths": 1.2 if min(wide, high) > 0.1 else 0.4}
            axes.hlines(np.arange(1, rows) - 0.5, -0.5, columns - 0.5, **how)
            axes.vlines(np.arange(1, columns) - 0.5, -0.5, rows - 0.5, **how)
        if min(wide, high) * 72 * 0.7 >= _LETTER_LEAST:
            _write_letters(axes, panel, wide * 72, high * 72)


def scale_of(maps: list[HeatMap]) -> Scale:
    """The colours of maps of one measure."""
    values = np.concatenate([_values(each).ravel() for each in maps])
    return colours(values, _measure(maps[0]))


def colours(values: np.ndarray, entry: Entry) -> Scale:
    """The measure's own ends where it has them, else the 2nd and 98th percentile of the data."""
    seen = values[np.isfinite(values)]
    tails = np.percentile(seen, _TAILS) if seen.size else (0.0, 1.0)
    low = float(tails[0]) if entry.low is None else entry.low
    high = float(tails[1]) if entry.high is None else entry.high
    if entry.centre is not None and entry.low is entry.high is None:
        # As far on one side of the middle as on the other, where nothing sets the ends.
        reach = max(entry.centre - low, high - entry.centre) or 1.0
        low, high = entry.centre - reach, entry.centre + reach
    if high <= low:
        high = low + (abs(low) or 1.0)
    beyond = bool((seen < low).any()), bool((seen > high).any())
    extend = {(0, 0): "neither", (1, 0): "min", (0, 1): "max", (1, 1): "both"}[beyond]
    if entry.centre == 0 and entry.logarithmic:
        return AsinhNorm(high / _BENT, low, high), extend
    if entry.centre is not None:
        return TwoSlopeNorm(entry.centre, low, high), extend
    return (LogNorm if entry.logarithmic else Normalize)(low, high), extend


def add_bar(
    room: Axes, axes: Axes, panel: HeatMap, scale: Scale, size: tuple[float, float]
) -> None:
    """A horizontal bar with its numbers at the foot of a room of so many inches; arrows where data
    lie outside, and a note that says so."""
    wide, high = size
    norm, extend = scale
    place = room.inset_axes((0.0, 0.26 / high, min(1.0, 3.5 / wide), 0.085 / high))
    how = {"orientation": "horizontal", "extend": extend, "extendfrac": 0.06}
    bar = room.figure.colorbar(axes.images[0], cax=place, **how)
    if isinstance(norm, LogNorm):
        bar.formatter = StrMethodFormatter("{x:g}")
        bar.minorticks_off()
    elif norm.vmin is not None and norm.vmax is not None:
        # Left alone, a short bar loses the number at its end, which may be a limit.
        ends = [norm.vmin, (norm.vmin + norm.vmax) / 2, norm.vmax]
        if isinstance(norm, AsinhNorm):
            ends = [norm.vmin, norm.vmin / 10, 0.0, norm.vmax / 10, norm.vmax]
            bar.minorticks_off()
        bar.set_ticks(ends, labels=[f"{end:.3g}" for end in ends])
    bar.outline.set_linewidth(0.5)  # pyright: ignore
    place.tick_params(labelsize=6.5, length=2, width=0.5, pad=1.5, colors=INK)
    entry = _measure(panel)
    what = entry.unit if entry.unit not in panel.unit else ""
    line = "" if panel.contour is None else f"white line: {panel.contour:g}"
    # Of differences, which stand beside one another, the caption says it once.
    beyond = "" if panel.difference else _beyond(extend, entry)
    note = "; ".join(filter(None, (what, line, beyond)))
    where = {"transform": room.transAxes, "va": "bottom", "in_layout": False}
    room.text(0.0, 0.0, note, fontsize=6, color=FAINT, **where)


def _beyond(extend: str, entry: Entry) -> str:
    below, above = extend in ("min", "both"), extend in ("max", "both")
    ends = ["2nd"] * (below and entry.low is None) + ["98th"] * (above and entry.high is None)
    if ends:
        return f"arrow: past the {' or '.join(ends)} percentile"
    outside = [("below", entry.low)] * below + [("above", entry.high)] * above
    return f"arrow: {' or '.join(f'{side} {end:g}' for side, end in outside)}" if outside else ""


def cell_entries(panel: HeatMap) -> list[tuple[str, str, Any]]:
    """The legend: each verdict or role there is, with letter and count; last, what hatching
    means."""
    counted = Counter(name for name, *_ in panel.stripes())
    changes = UNCHANGED in counted  # of such maps there are two beside one another: no counts
    found: list[tuple[str, str, Any]] = []
    for name in dict.fromkeys([*VERDICTS, *ROLES, *counted]):
        if name in counted:
            colour, letter = mark(name).look.colour, mark(name).letter
            box = Patch(facecolor=colour, edgecolor="#999999", linewidth=0.4)
            count = "" if changes else f" {counted[name]}"
            found.append((name, f"{letter}{'  ' * bool(letter)}{name}{count}", box))
    hatched = [kind for kind, covered in _without(panel).items() if covered.any()]
    return found + [(kind, kind, Patch(**_HATCHED[kind], linewidth=0.0)) for kind in hatched]


def _measure(panel: HeatMap) -> Entry:
    known = (MEASURES | LAYERS).get(panel.measure) or Entry(panel.measure)
    if panel.difference:  # has no ends of its own, and zero is its middle
        return Entry(known.title, centre=0.0)
    return known


def _values(panel: HeatMap) -> np.ndarray:
    """NaN where there is none."""
    return np.array(panel.values, dtype=float)


def _without(panel: HeatMap) -> dict[str, np.ndarray]:
    """The cells that have nothing to show, by why."""
    absent = np.zeros((len(panel.rows), len(panel.columns)), dtype=bool)
    for place in panel.absent:
        absent[place] = True
    if panel.verdicts is None:
        empty = ~np.isfinite(_values(panel))
    else:
        empty = np.array([[not cell for cell in row] for row in panel.verdicts])
    return {"not measured": empty & ~absent, "no such head": absent}


def _hatch(axes: Axes, covered: np.ndarray, look: dict[str, Any]) -> None:
    """Cover cells that have no number, a run of them at a time."""
    for row, line in enumerate(covered):
        edges = np.flatnonzero(np.diff(np.concatenate(([0], line.astype(int), [0]))))
        runs = [(first - 0.5, after - first) for first, after in edges.reshape(-1, 2)]
        if runs:
            axes.broken_barh(runs, (row - 0.5, 1.0), **look, linewidth=0.0)


def _thinned(first: int, after: int, inches: float, needed: float) -> range:
    """As many of the places as there is room to number."""
    step = next((step for step in _STEPS if step * inches >= needed), after - first)
    return range(first, after, step)


def _write_letters(axes: Axes, panel: HeatMap, wide: float, high: float) -> None:
    """In cells of so many points. All letters of one kind and size are drawn at once: thousands of
    texts would be slow."""
    places: dict[tuple[str, float], list[tuple[float, float]]] = defaultdict(list)
    for name, row, first, after in panel.stripes():
        size = round(min(high * 0.7, wide * (after - first) * 0.95, 9.0), 2)
        places[name, size].append(((first + after) / 2 - 0.5, row))
    for (name, size), at in places.items():
        entry = mark(name)
        if entry.letter:
            # Without edges they are not moved to whole pixels, where a thin one would be lost.
            how = {"marker": rf"$\mathdefault{{{entry.letter}}}$", "edgecolors": "none"}
            axes.scatter(*zip(*at, strict=True), s=(0.75 * size) ** 2, c=entry.look.ink, **how)
