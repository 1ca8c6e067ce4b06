"""A panel of a described figure: its series, its marks and its axes."""

import textwrap
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Circle
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullLocator
from matplotlib.transforms import ScaledTranslation

from headgauge.registry.entry import BLACK, GREY, PALE, Look
from headgauge.report.drawing_text import label_points, printable, typeset
from headgauge.report.figure import Axis, Mark, Panel, Series, Values

_LINES: dict[str, Any] = {"longdash": (0, (7, 2)), "dashdotdot": (0, (5, 1, 1, 1, 1, 1))}
_MARKERS = {  # matplotlib's sign, and how much larger than others it is drawn
    "": ("", 1.0),
    "dot": (".", 0.8),
    "circle": ("o", 1.0),
    "square": ("s", 1.0),
    "diamond": ("D", 1.0),
    "triangle": ("^", 1.0),
    "down": ("v", 1.0),
    "plus": ("P", 1.0),
    "cross": ("X", 1.2),
    "star": ("*", 2.0),
    "hexagon": ("h", 1.0),
    "right": ("$→$", 1.6),
}
_MANY = 8  # points of a line; with more a marker at each would make it a bar
_BOX = {"minimum": "whislo", "q25": "q1", "median": "med", "q75": "q3", "maximum": "whishi"}
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def line_of(look: Look) -> dict[str, Any]:
    """What `Axes.plot` takes for a look."""
    marker, larger = _MARKERS[look.marker]
    return {
        "color": look.colour,
        "linestyle": _LINES.get(look.line, look.line),
        "marker": marker,
        "linewidth": 1.1 * look.width,
        "markersize": 3.5 * look.size * larger,
        "markeredgewidth": 0.2 if look.marker == "right" else 0.8,
        "alpha": look.opacity,
    }


def has_data(panel: Panel) -> bool:
    numbers = any(each is not None for series in panel.series for each in series.y)
    return numbers or any(mark.kind == "words" for mark in panel.marks)


def draw_panel(axes: Axes, panel: Panel) -> None:
    if not has_data(panel):
        axes.set(xticks=[], yticks=[])
        where = {"transform": axes.transAxes, "ha": "center", "va": "center", "color": GREY}
        axes.text(0.5, 0.5, textwrap.fill(panel.empty, 28), parse_math=False, **where)
        for side in axes.spines.values():
            side.set_linestyle(":")
        return
    for mark in panel.marks:
        _draw_mark(axes, mark)
    for place, series in enumerate(reversed(panel.series)):  # the first lies on top
        if series.look.marker == "right":
            _draw_arrows(axes, series)
        else:
            _draw_series(axes, series, panel, 2 + 0.01 * place)
    for which, axis in (("x", panel.x), ("y", panel.y)):
        _set_axis(axes, which, axis, panel.equal)
    if panel.equal:
        axes.set_aspect("equal", adjustable="datalim")
        axes.set_autoscale_on(True)  # else matplotlib complains that it moves the limits


def write_names(axes: Axes, panel: Panel) -> None:
    """Beside points, in a panel that has its size."""
    places: list[tuple[Any, Any, str | None]] = [
        place
        for series in panel.series
        for place in zip(series.x, series.y, series.names or [None] * len(series.x), strict=True)
        if None not in place[:2]
    ]
    names = [(x, y, name) for x, y, name in places if name]
    if names:
        label_points(axes, names, [(x, y) for x, y, _ in places])


def _numbers(values: Values | None, count: int) -> np.ndarray:
    """NaN where there is none."""
    return np.array([None] * count if values is None else values, dtype=float)


def _draw_series(axes: Axes, series: Series, panel: Panel, order: float) -> None:
    look, count = series.look, len(series.x)
    x, y = (_numbers(each, count) for each in (series.x, series.y))
    if panel.y.log and panel.y.floor is not None:
        y = np.maximum(y, panel.y.floor)
    _fill(axes, series, panel, x, y)
    _draw_spread(axes, series, panel.y, x, order)
    _draw_boxes(axes, series, panel.x.log)
    known = np.isfinite(x) & np.isfinite(y)
    hollow, apart = (
        np.array(each or [False] * count, dtype=bool) for each in (series.hollow, series.apart)
    )
    on = known & ~apart
    many = on.sum() > _MANY and look.line != "none"
    strokes: list[tuple[np.ndarray, dict[str, Any]]] = [(on, {"markevery": 0.1 if many else None})]
    if hollow.any():
        strokes = [
            (on, {"marker": ""}),
            (on & ~hollow, {"linestyle": "", "markerfacecolor": look.colour}),
            (on & hollow, {"linestyle": "", "markerfacecolor": "white"}),
        ]
    pale = {"linestyle": "", "alpha": 0.35, "markerfacecolor": "white"}
    for part, more in [*strokes, (known & apart, pale)]:
        axes.plot(x[part], y[part], **line_of(look) | more, zorder=order)


def _draw_arrows(axes: Axes, series: Series) -> None:
    """An arrow begins at its point."""
    x, y = (_numbers(each, len(series.x)) for each in (series.x, series.y))
    beside = ScaledTranslation(4 / 72, 0.0, axes.figure.dpi_scale_trans)
    axes.plot(x, y, **line_of(series.look), transform=axes.transData + beside, clip_on=False)
    axes.update_datalim(np.column_stack([x, y]))  # a moved line has no say in it


def _draw_spread(axes: Axes, series: Series, axis: Axis, x: np.ndarray, order: float) -> None:
    """A band; a bar at each point where there are only markers."""
    low, high = (_numbers(each, len(x)) for each in (series.low, series.high))
    known = np.isfinite(low) & np.isfinite(high)
    if not known.any():
        return
    x, low, high = x[known], low[known], high[known]
    if axis.log:
        low = np.maximum(low, axis.low or axis.floor or high.min() * 1e-3)
    look = series.look
    if look.line == "none" and look.marker:
        axes.vlines(x, low, high, color=look.colour, linewidth=0.8, zorder=order - 0.5)
    else:
        how = {"color": look.colour, "alpha": 0.22 * look.opacity, "linewidth": 0}
        axes.fill_between(x, low, high, **how)


def _fill(axes: Axes, series: Series, panel: Panel, x: np.ndarray, y: np.ndarray) -> None:
    """The area up to another line, where both are."""
    other = next((each for each in panel.series if each.name == series.filled_to), None)
    above: dict[Any, Any] = {} if other is None else dict(zip(other.x, other.y, strict=True))
    ends = _numbers([above.get(place) for place in series.x], len(x))
    both = np.isfinite(y) & np.isfinite(ends)
    if both.any():
        how = {"color": series.look.colour, "alpha": 0.35, "linewidth": 0}
        axes.fill_between(x[both], y[both], ends[both], **how)


def _draw_boxes(axes: Axes, series: Series, log: bool) -> None:
    """Quartiles, with whiskers to the extremes."""
    columns = [(series.boxes or {}).get(name, ()) for name in _BOX]
    known = [row for row in zip(series.x, *columns, strict=False) if None not in row]
    if not known:
        return
    places = np.array([row[0] for row in known], dtype=float)
    thin = {"linewidth": 0.6, "color": BLACK}
    axes.bxp(
        [dict(zip(_BOX.values(), row[1:], strict=True)) for row in known],
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
    style = line_of(mark.look)["linestyle"]
    line = {"color": mark.look.colour, "linestyle": style, "linewidth": 0.9 * mark.look.width}
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
            x, y, radius = mark.values
            how = {"facecolor": PALE if mark.label else "none", "edgecolor": mark.look.colour}
            axes.add_patch(Circle((x, y), radius, **how, linestyle=style, linewidth=0.8, zorder=0))
        case "words":
            x, y = mark.values
            axes.update_datalim([(x, y)])
            axes.text(x, y, typeset(mark.label), fontsize=6, color=mark.look.colour)


def _set_axis(axes: Axes, which: str, axis: Axis, equal: bool) -> None:
    """Scale, limits, numbers and name."""
    own = axes.xaxis if which == "x" else axes.yaxis
    if axis.log:
        axes.set(**{f"{which}scale": "log"})
    elif axis.linear is not None:
        scaled = axes.set_xscale if which == "x" else axes.set_yscale
        scaled("asinh", linear_width=axis.linear)
    low, high = own.get_view_interval()
    low, high = low if axis.low is None else axis.low, high if axis.high is None else axis.high
    axes.set(**{f"{which}lim": (low, high)})
    if axis.ticks is not None:
        own.set_major_locator(FixedLocator([place for place, _ in axis.ticks]))
        own.set_ticklabels([printable(label) for _, label in axis.ticks], parse_math=False)
        own.set_minor_locator(NullLocator())
    elif axis.log:
        decades = np.log10(high / low)
        subs = (1.0, 2.0, 5.0) if decades < 2.6 else (1.0, 3.0) if decades < 4 else (1.0,)
        own.set_major_locator(LogLocator(subs=subs, numticks=9))
        own.set_major_formatter(FuncFormatter(_short))
        own.set_minor_locator(NullLocator())
    else:
        own.set_major_locator(MaxNLocator(4 if equal else 5, steps=[1, 2, 2.5, 5, 10]))
        own.set_major_formatter(FuncFormatter(_short if equal else _thousands))
    own.labelpad = 2
    own.set_label_text(typeset(axis.label))


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
    if abs(value) >= 10_000:
        return f"{value / 1000:g}k"
    return f"{value:g}".replace("-", "−")
