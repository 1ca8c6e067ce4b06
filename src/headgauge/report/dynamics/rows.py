"""A simulation's figures with a row for each scheme: rates beside theory, times of collapse."""

import math

import polars as pl

from headgauge.registry.entry import BLACK, BLUE, GREY, RED, Look
from headgauge.registry.names import SCHEMES
from headgauge.report.dynamics.words import WEIGHTS, schemes_in
from headgauge.report.figure import Axis, Figure, Mark, Panel, Sentence, Series

_MEASURED = {  # by column: in the legend, and its sign; the smallest lies on top
    "particles": ("measured on simulated particles", Look(RED, "none", "dot", size=2.0)),
    "reduced": ("measured on the equiangular reduction", Look(BLUE, "none", "cross", size=1.2)),
    "theory": ("theory", Look(BLACK, "none", "circle", size=2.2)),
}
_QUANTITIES = {"initial velocity": "γ′ at t = 0, tokens at right angles", "final rate": "slope"}
# Where the columns beside the markers begin, in widths of what the markers take.
_COLUMNS = {"law": 1.1, "against": 1.7, "theory": 2.1, "reduced": 2.4, "particles": 2.7}
_WIDTH = 3.0
_ROW = 0.2  # inches


def rates_figure(rates: pl.DataFrame, run: str) -> Figure:
    """Velocities at the start and slopes in the end: three markers on one another, and numbers."""
    panels = tuple(_rates_panel(rates.filter(quantity=name), name) for name in _QUANTITIES)
    caption = (Sentence("Final rate: the slope of log(1 − γ) over what stands under “against”."),)
    high = _ROW * (1 + max(len(schemes_in(rates)), 3))
    title = "Initial velocity and final rate of γ: theory beside measured"
    return Figure("rates", title, panels, 1, (), caption, run, panel_height=high)


def _rates_panel(rows: pl.DataFrame, quantity: str) -> Panel:
    schemes = schemes_in(rows)
    label = _QUANTITIES[quantity]
    known = [value for name in _MEASURED for value in rows[name].drop_nulls()]
    if not known:
        return Panel(quantity, Axis(label), Axis(""), empty=f"no {quantity} in this run")
    by_scheme = {row["scheme"]: row for row in rows.iter_rows(named=True)}
    told = [by_scheme[scheme] for scheme in schemes]
    series, marks = [], []
    for name, (words, look) in _MEASURED.items():
        x, hollow = [row[name] for row in told], [name == "theory"] * len(told)
        series.append(Series(name, words, look, x, list(range(len(told))), hollow=hollow))
    low, high = min(known), max(known)
    room = 0.08 * (high - low or abs(high) or 1.0)
    low, wide = low - room, high - low + 2 * room
    for name, at in _COLUMNS.items():
        for place, words in enumerate([name, *(_words(row[name]) for row in told)], -1):
            marks.append(Mark("words", (low + at * wide, place), words, Look(BLACK)))
    x = Axis(label, low=low, high=low + _WIDTH * wide, ticks=_ticks(low + room, high))
    return Panel(quantity, x, _scheme_axis(schemes, -1.5), tuple(series), tuple(marks))


def _words(value: str | float | None) -> str:
    words = "–" if value is None else value if isinstance(value, str) else f"{value:.4g}"
    return words.replace("-", "−")


def _ticks(low: float, high: float) -> tuple[tuple[float, str], ...]:
    """Under the markers alone, not under the columns beside them."""
    ends = dict.fromkeys(float(f"{end:.3g}") for end in (low, (low + high) / 2, high))
    return tuple((end, f"{end:g}".replace("-", "−")) for end in ends)


def _scheme_axis(schemes: list[str], top: float = -0.5, named: bool = True) -> Axis:
    """From the top, each with its name unless a panel to the left has it."""
    ticks = tuple((place, SCHEMES[name].title * named) for place, name in enumerate(schemes))
    return Axis("", low=len(schemes) - 0.5, high=top, ticks=ticks)


def collapse_figure(collapse: pl.DataFrame, run: str) -> Figure:
    """When the farthest pair of a swarm meets: a panel for each kind of weights."""
    schemes = schemes_in(collapse)
    times = [time for name in ("time", "low", "high") for time in collapse[name].drop_nulls()]
    end = 1.2 * max((time for time in times if math.isfinite(time)), default=1.0)
    x = Axis("t of collapse", "t", low=0.0, high=end, ticks=None if times else ())
    panels = []
    for weights, words in WEIGHTS.items():
        rows = collapse.filter(weights=weights).to_dicts()
        if rows:
            drawn = [part for row in rows for part in _collapse_row(row, schemes, end)]
            series = tuple(part for part in drawn if isinstance(part, Series))
            marks = tuple(part for part in drawn if isinstance(part, Mark))
            y = _scheme_axis(schemes, named=not panels)
            panels.append(Panel(words, x, y, series, marks))
    seeds = collapse["seeds"].max()
    caption = (
        Sentence("Collapse: even the farthest pair has a cosine of .999 or more."),
        Sentence(
            f"Marker: the median over up to {seeds} seeds; bar: from the earliest to the latest; "
            "an arrow: not every seed collapsed in the time simulated."
        ),
    )
    high = _ROW * max(len(schemes), 3)
    columns, title = len(panels), "When all tokens are together"
    return Figure(
        "collapse", title, tuple(panels), columns, caption=caption, run=run, panel_height=high
    )


def _collapse_row(row: dict, schemes: list[str], end: float) -> list[Series | Mark]:
    """The median upon a bar, whose end is open where some seeds never collapsed."""
    look, place = SCHEMES[row["scheme"]].look, schemes.index(row["scheme"])
    if row["time"] is None:
        words = f"{round(row['collapsed'] * row['seeds'])} of {row['seeds']} seeds collapsed"
        return [Mark("words", (0.03 * end, place), words, Look(GREY))]

    def series(x: list[float], look: Look) -> Series:
        return Series(row["scheme"], "", look, x, [place] * len(x))

    known = [row[name] for name in ("low", "time", "high") if row[name] is not None]
    line, marker = Look(look.colour), Look(look.colour, "none", look.marker)
    drawn: list[Series | Mark] = [series(known, line), series([row["time"]], marker)]
    if row["high"] is None:
        arrow = Look(look.colour, "none", "right")
        drawn += [series([row["time"], 0.98 * end], line), series([0.98 * end], arrow)]
    return drawn
