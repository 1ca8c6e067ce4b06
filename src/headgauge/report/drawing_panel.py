"""A panel of a described figure: its series, its marks and its axes."""

import textwrap
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis as MatplotlibAxis
from matplotlib.patches import Circle
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullLocator
from matplotlib.transforms import ScaledTranslation

from headgauge.registry.entry import BLACK, GREY, PALE, Look
from headgauge.report.drawing_text import label_points, printable, typeset
from headgauge.report.figure import Axis, Mark, Panel, Series, Values

_LINES: dict[str, Any] = {
    "solid": "-",
    "dashed": "--",
    "dotted": ":",
    "dashdot": "-.",
    "longdash": (0, (7, 2)),
    "dashdotdot": (0, (5, 1, 1, 1, 1, 1)),
    "none": "",
}
_MARKERS = {
    "": "",
    "dot": ".",
    "circle": "o",
    "square": "s",
    "diamond": "D",
    "triangle": "^",
    "down": "v",
    "plus": "P",
    "cross": "X",
    "star": "*",
    "hexagon": "h",
    "up": "$↑$",
    "right": "$→$",
}
_ARROWS = ("up", "right")
_BIGGER = {"*": 2.0, "$↑$": 1.6, "$→$": 1.6, "X": 1.2, ".": 0.8}
_MANY = 8  # points of a line; with more a marker at each would make it a bar
_BOXES = ("minimum", "q25", "median", "q75", "maximum")
_THOUSANDS_FROM = 10_000
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def line_of(look: Look) -> dict[str, Any]:
    """What `Axes.plot` takes for a look."""
    marker = _MARKERS[look.marker]
    return {
        "color": look.colour,
        "linestyle": _LINES[look.line],
        "marker": marker,
        "linewidth": 1.1 * look.width,
        "markersize": 3.5 * look.size * _BIGGER.get(marker, 1.0),
        "markeredgewidth": 0.2 if marker.startswith("$") else 0.8,
        "alpha": look.opacity,
    }


def has_data(panel: Panel) -> bool:
    numbers = any(each is not None for series in panel.series for each in series.y)
    return numbers or any(mark.kind == "words" for mark in panel.marks)


def draw_panel(axes: Axes, panel: Panel) -> None:
    if not has_data(panel):
        _say_empty(axes, panel.empty)
        return
    for mark in panel.marks:
        _draw_mark(axes, mark)
    arrows = [series for series in panel.series if series.look.marker in _ARROWS]
    for place, series in enumerate(reversed(panel.series)):  # the first lies on top
        if series in arrows:
            _draw_arrows(axes, series, arrows.index(series) - (len(arrows) - 1) / 2)
        else:
            _draw_series(axes, series, panel, 2 + 0.01 * place)
    for which, axis, own in (("x", panel.x, axes.xaxis), ("y", panel.y, axes.yaxis)):
        _scale(axes, which, axis)
        _set_ticks(own, axis, panel.equal)
    for axis, name in ((panel.x, axes.set_xlabel), (panel.y, axes.set_ylabel)):
        text = typeset(axis.label)
        name(text["s"], labelpad=2, parse_math=text["parse_math"])


def make_equal(axes: Axes) -> None:
    """One scale for both axes, in a panel that has its size."""
    box = axes.get_window_extent()
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    scale = max((right - left) / box.width, (top - bottom) / box.height) / 2
    across, up = (left + right) / 2, (bottom + top) / 2
    axes.set_xlim(across - scale * box.width, across + scale * box.width)
    axes.set_ylim(up - scale * box.height, up + scale * box.height)


def write_names(axes: Axes, panel: Panel) -> None:
    """Beside points, in a panel that has its size."""
    places: list[tuple[Any, Any, str | None]] = [
        (x, y, name)
        for series in panel.series
        for x, y, name in zip(
            series.x, series.y, series.names or [None] * len(series.x), strict=True
        )
        if x is not None and y is not None
    ]
    names = [(x, y, name) for x, y, name in places if name]
    if names:
        label_points(axes, names, [(x, y) for x, y, _ in places])


def _say_empty(axes: Axes, why: str) -> None:
    """A panel that has no data says so."""
    axes.set(xticks=[], yticks=[])
    where = {"transform": axes.transAxes, "ha": "center", "va": "center", "color": GREY}
    axes.text(0.5, 0.5, textwrap.fill(why, 28), parse_math=False, **where)
    for side in axes.spines.values():
        side.set_linestyle(":")


def _numbers(values: Values | None, count: int) -> np.ndarray:
    held = [None] * count if values is None else values
    return np.array([np.nan if each is None else each for each in held], dtype=float)


def _draw_series(axes: Axes, series: Series, panel: Panel, order: float) -> None:
    count = len(series.x)
    x, y, low, high = (
        _numbers(each, count) for each in (series.x, series.y, series.low, series.high)
    )
    floor = panel.y.floor if panel.y.log else None
    y = y if floor is None else np.maximum(y, floor)
    if series.filled_to is not None:
        _fill(axes, series, panel)
    _draw_spread(axes, series.look, (x, low, high), panel.y, order)
    if series.boxes is not None:
        _draw_boxes(axes, series, panel.x.log)
    kept = np.isfinite(x) & np.isfinite(y)
    apart = np.array(series.apart or [False] * count, dtype=bool)
    hollow = np.array(series.hollow or [False] * count, dtype=bool)

    def plot(on: np.ndarray, **more: Any) -> None:
        axes.plot(x[on], y[on], **line_of(series.look) | more, zorder=order)

    on = kept & ~apart
    if not hollow.any():
        many = on.sum() > _MANY and series.look.line != "none"
        plot(on, markevery=0.1 if many else None)
    else:
        plot(on, marker="")
        for chosen, face in ((on & ~hollow, series.look.colour), (on & hollow, "white")):
            plot(chosen, linestyle="", markerfacecolor=face)
    plot(kept & apart, linestyle="", alpha=0.35, markerfacecolor="white")


def _draw_arrows(axes: Axes, series: Series, turn: float) -> None:
    """An arrow begins at its point; those of several series stand beside each other."""
    x, y = (_numbers(each, len(series.x)) for each in (series.x, series.y))
    figure = axes.get_figure(root=True)
    assert figure is not None
    shift = (3.6 * turn, 4.0) if series.look.marker == "up" else (4.0, 0.0)
    beside = ScaledTranslation(shift[0] / 72, shift[1] / 72, figure.dpi_scale_trans)
    axes.plot(x, y, **line_of(series.look), transform=axes.transData + beside, clip_on=False)
    axes.update_datalim(np.column_stack([x, y]))  # a moved line has no say in it


def _draw_spread(
    axes: Axes, look: Look, ends: tuple[np.ndarray, ...], axis: Axis, order: float
) -> None:
    """A band; a bar at each point where there are only markers."""
    x, low, high = ends
    known = np.isfinite(low) & np.isfinite(high)
    if not known.any():
        return
    if axis.log:
        low = np.maximum(low, axis.low or axis.floor or np.nanmin(high[known]) * 1e-3)
    if look.line == "none" and look.marker:
        thin = {"color": look.colour, "linewidth": 0.8, "zorder": order - 0.5}
        axes.vlines(x[known], low[known], high[known], **thin)
    else:
        how = {"color": look.colour, "alpha": 0.22 * look.opacity, "linewidth": 0}
        axes.fill_between(x[known], low[known], high[known], **how)


def _fill(axes: Axes, series: Series, panel: Panel) -> None:
    """The area between two lines, where both are."""
    other = next((each for each in panel.series if each.name == series.filled_to), None)
    above = {} if other is None else dict(zip(other.x, other.y, strict=True))
    both = [
        (x, y, above[x])
        for x, y in zip(series.x, series.y, strict=True)
        if y is not None and above.get(x) is not None
    ]
    if both:
        x, low, high = zip(*both, strict=True)
        axes.fill_between(x, low, high, color=series.look.colour, alpha=0.35, linewidth=0)


def _draw_boxes(axes: Axes, series: Series, log: bool) -> None:
    """Quartiles, with whiskers to the extremes."""
    assert series.boxes is not None
    rows = zip(series.x, *(series.boxes[name] for name in _BOXES), strict=True)
    known = [row for row in rows if None not in row]
    if not known:
        return
    places = np.array([row[0] for row in known], dtype=float)
    thin = {"linewidth": 0.6, "color": BLACK}
    axes.bxp(
        [
            {"whislo": low, "q1": q25, "med": median, "q3": q75, "whishi": high, "fliers": []}
            for _, low, q25, median, q75, high in known
        ],
        positions=places,
        widths=places * 0.36 if log else 0.5,
        showfliers=False,
        patch_artist=True,
        boxprops={"facecolor": "white", "edgecolor": BLACK, "linewidth": 0.6},
        medianprops=thin | {"linewidth": 1.2},
        whiskerprops=thin,
        capprops=thin,
        manage_ticks=False,
    )


def _draw_mark(axes: Axes, mark: Mark) -> None:
    look = mark.look
    line = {"color": look.colour, "linestyle": _LINES[look.line], "linewidth": 0.9 * look.width}
    match mark.kind:
        case "x":
            axes.axvline(mark.values[0], **line, zorder=0)
        case "y":
            axes.axhline(mark.values[0], **line, zorder=0)
            if mark.label and not mark.in_legend:
                where = {"transform": axes.get_yaxis_transform(), "ha": "right", "va": "bottom"}
                axes.text(0.99, mark.values[0], mark.label, fontsize=6, color=GREY, **where)
        case "x band" | "y band":
            span = axes.axvspan if mark.kind == "x band" else axes.axhspan
            span(*mark.values, facecolor=PALE, edgecolor=GREY, linewidth=0.3, zorder=0)
        case "circle":
            *centre, radius = mark.values
            filled = {"facecolor": PALE if mark.label else "none", "edgecolor": look.colour}
            how = filled | {"linestyle": line["linestyle"], "linewidth": 0.8, "zorder": 0}
            axes.add_patch(Circle((centre[0], centre[1]), radius, **how))
        case "words":
            x, y = mark.values
            axes.text(x, y, **typeset(mark.label), fontsize=6, color=look.colour)


def _scale(axes: Axes, which: str, axis: Axis) -> None:
    if axis.log:
        axes.set(**{f"{which}scale": "log"})
    low, high = axes.get_xlim() if which == "x" else axes.get_ylim()
    ends = low if axis.low is None else axis.low, high if axis.high is None else axis.high
    axes.set(**{f"{which}lim": ends})


def _set_ticks(own: MatplotlibAxis, axis: Axis, equal: bool) -> None:
    if axis.ticks is not None:
        own.set_major_locator(FixedLocator([place for place, _ in axis.ticks]))
        own.set_ticklabels([printable(label) for _, label in axis.ticks], parse_math=False)
        own.set_minor_locator(NullLocator())
    elif axis.log:
        low, high = own.get_view_interval()
        decades = np.log10(high / low)
        subs = (1.0, 2.0, 5.0) if decades < 2.6 else (1.0, 3.0) if decades < 4 else (1.0,)
        own.set_major_locator(LogLocator(subs=subs, numticks=9))
        own.set_major_formatter(FuncFormatter(_short))
        own.set_minor_locator(NullLocator())
    else:
        own.set_major_locator(MaxNLocator(4 if equal else 5, steps=[1, 2, 2.5, 5, 10]))
        own.set_major_formatter(FuncFormatter(_short if equal else _thousands))


def _short(value: float, _: int) -> str:
    """Powers of ten only where zeros would have to be counted, and never in a corner."""
    if value and not 1e-4 <= abs(value) < 1e5:
        power = int(np.floor(np.log10(abs(value)) + 1e-9))
        times = value / 10.0**power
        head = "" if abs(times - 1) < 1e-9 else f"{times:.3g}·"
        return f"{head}10{str(power).translate(_SUPERSCRIPT)}".replace("-", "−")
    return f"{value:.3g}".replace("-", "−") if abs(value) < 1000 else f"{value:.0f}"


def _thousands(value: float, _: int) -> str:
    """Long numbers in thousands: vectors of their own length make them."""
    if abs(value) >= _THOUSANDS_FROM:
        return f"{value / 1000:g}k"
    return f"{value:g}".replace("-", "−")
