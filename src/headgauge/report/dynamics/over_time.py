"""A simulation's figures: γ and its gap, swarms, phase diagrams, rates, times of collapse.

A gap that is straight over t closes exponentially, one that is straight over log t polynomially;
one that bends in both, like LN-Scaling's, is between the two.
"""

import math
from dataclasses import replace

import polars as pl

from headgauge.registry.entry import BLACK, Look
from headgauge.registry.names import BASELINE, SCHEMES
from headgauge.report.dynamics.words import (
    SETUP,
    WEIGHTS,
    baseline_words,
    schemes_in,
    setting_words,
    settings_of,
    setup_words,
)
from headgauge.report.figure import At, Axis, Figure, HeatMap, Panel, Sentence, Series, Switch

_SWARM = {  # by column: the name on the axis
    "mean_cosine": "mean cosine",
    "radius": "radius r",
    "attention_norm": "‖A‖",
    "clusters": "clusters",
    "speed": "speed ‖θ′‖",
}
_MOVED = {"velocity": "velocity γ′", "attention_norm": "‖A‖", "radius": "radius r"}
_SLOPE = Look(BLACK, "dotted", width=0.7)
_LEAST = -70.0  # of log(1 − γ): below it the axis would only be longer
_BELOW = 1e-2  # how far below the slowest scheme's end a panel over log t reaches
_BEGIN = 1e-2  # of the horizon: where log t begins
_WIDE, _DEEPEST = 30.0, 1e-5  # from where on an axis is in even ratios, and how deep it is then
_MARGIN = 0.06
_SPARSE = 8  # points of a line; with more a marker at each would make it a bar
# One of each way to collapse: exponential, stretched, polynomial. Then whatever there is.
_TELLING = ("post_ln", "ln_scaling", "peri_ln", *SCHEMES)
_LINEAR = ("gamma", "mean_cosine")  # never in even ratios


def overview(tables: dict[str, pl.DataFrame], run: str) -> Figure:
    """A simulation in one picture: γ, its gap, particles, the phase diagram of three schemes."""
    told, panels = [], []
    if "curves" in tables:
        curves = tables["curves"]
        panels += [_line_panel(curves, "gamma", "common cosine γ of the reduced system", "γ")]
        gap = _gap_panel(_gaps(curves))
        panels.append(replace(gap, series=tuple(replace(s, label="") for s in gap.series)))
        told += [f"Tokens at equal angles: {setup_words(curves)}.", *baseline_words(curves)]
        told.append("Dotted: the slope of e⁻²ᵗ.")
    if "swarms" in tables:
        # Under random weights where they were run.
        weights = min(tables["swarms"]["weights"].unique(), key=["random", *WEIGHTS].index)
        swarms = tables["swarms"].filter(weights=weights)
        title = f"mean cosine, {WEIGHTS[weights]}"
        panels.append(_line_panel(swarms, "mean_cosine", title, "mean cosine"))
        told.append(f"Particles: {setup_words(swarms)}; bands: 5 to 95 % over seeds.")
    if "phase" in tables:
        phase = tables["phase"].filter(pl.col("dim") == pl.col("dim").max())
        shown = [name for name in dict.fromkeys(_TELLING) if name in schemes_in(phase)][:3]
        for name in shown:
            title = f"{SCHEMES[name].title}: pairs together"
            panels.append(_phase_map(phase.filter(scheme=name), title))
        told.append(f"Pairs together (cosine of .999 or more): {setup_words(phase.drop('beta'))}.")
    caption, title = tuple(map(Sentence, told)), "Attention dynamics on the sphere"
    size = {"width": 8.0, "panel_height": 1.65, "one_scale": True}
    return Figure("dynamics", title, tuple(panels), 3, (), caption, run, **size)


def gamma_figure(curves: pl.DataFrame, run: str) -> Figure:
    """The common cosine, its gap over t and over log t, and what moves it."""
    gaps = _gaps(curves)
    panels = [_line_panel(curves, "gamma", "common cosine", "γ")]
    panels += [_gap_panel(gaps), _gap_over_log(gaps)]
    panels += [_line_panel(curves, name, words, words) for name, words in _MOVED.items()]
    told = (
        f"Tokens at equal angles, Q = K = V = I, {setup_words(curves)}.",
        "A gap that is straight over t closes exponentially, over log t polynomially.",
        *baseline_words(curves),
    )
    title, caption = "Tokens at equal angles: their cosine γ(t)", tuple(map(Sentence, told))
    return Figure("gamma", title, tuple(panels), 3, (), caption, run, panel_height=1.6)


def swarms_figure(swarms: pl.DataFrame, run: str) -> Figure:
    """A row of panels for each measure, a column for each kind of weights."""
    switches, settings = settings_of(swarms, SETUP, "Weights")
    panels = []
    for name, words in _SWARM.items():
        for frame, at in settings:
            # Cosines are compared across the kinds of weights, which stand above them.
            title, compared = words, frame
            if name == "mean_cosine":
                compared = swarms
                title = WEIGHTS[frame["weights"][0]] if switches else words
            panels.append(_line_panel(frame, name, title, words, compared, at))
    told = [Sentence(f"{setting_words(frame, ': ')}.", at) for frame, at in settings]
    bands = Sentence("Bands: 5 to 95 % over seeds.")
    caption = (*told, bands, *map(Sentence, baseline_words(swarms)))
    columns, title = len(settings) if switches else 3, "Simulated particles, over time t"
    shape = tuple(panels), columns, switches
    return Figure("swarms", title, *shape, caption, run, panel_height=1.25)


def phase_figure(phase: pl.DataFrame, run: str) -> Figure:
    """Rows of panels are sizes, columns are schemes."""
    sizes, settings = settings_of(phase, ("tokens", "dim"), "Size")
    names = schemes_in(phase)
    options = tuple((name, SCHEMES[name].title) for name in names)
    panels = []
    for frame, at in settings:
        for name, title in options:
            panel = _phase_map(frame.filter(scheme=name), title, f"β; d = {frame['dim'][0]}")
            panels.append(replace(panel, at={"scheme": name, **at}))
    caption = (
        Sentence("The share of pairs with a cosine of .999 or more, from uniform starts."),
        Sentence(f"{setup_words(phase.drop('dim', 'beta'))}; white line: half of the pairs."),
    )
    title = "Phase diagram: share of pairs together, over time t and β"
    switches = (Switch("scheme", "Scheme", options, side_by_side=True), *sizes)
    shape = tuple(panels), max(len(names), 3), switches
    return Figure("phase", title, *shape, caption, run, panel_height=1.15, one_scale=True)


def _line_panel(
    frame: pl.DataFrame,
    measure: str,
    title: str,
    label: str,
    compared: pl.DataFrame | None = None,
    at: At | None = None,
    log: bool = False,
) -> Panel:
    """A measure over time, a line for each scheme; the axis is that of `compared`."""
    rows = frame.filter(pl.col(measure).is_finite()).sort("time")
    series = tuple(_line(rows.filter(scheme=name), measure) for name in schemes_in(rows))
    y = _range(frame if compared is None else compared, measure, label, log)
    low, high = rows.select(low=pl.min("time"), high=pl.max("time")).row(0)
    x = Axis("t", "t", low=low, high=high)
    return Panel(title, x, y, series, empty="not in this run", at=at or {})


def _line(own: pl.DataFrame, measure: str) -> Series:
    scheme = SCHEMES[own["scheme"][0]]
    sparse = own.height <= _SPARSE
    look = scheme.look if sparse else replace(scheme.look, marker="")
    x, y = own["time"].to_list(), own[measure].to_list()
    if measure != "mean_cosine":
        return Series(scheme.name, scheme.title, look, x, y)
    pairs = own["pair_low", "pair_high"].rows()
    facts = {
        "5 to 95 % of pairs": [f"{low:.3g} to {high:.3g}" for low, high in pairs],
        "farthest pair": own["least_cosine"].to_list(),
        "share of pairs together": own["together"].to_list(),
    }
    low, high = own["low"].to_list(), own["high"].to_list()
    return Series(scheme.name, scheme.title, look, x, y, low, high, facts=facts)


def _range(frame: pl.DataFrame, measure: str, label: str, log: bool) -> Axis:
    """An axis as long as what is regulated needs: the baseline may leave through its top.

    In even ratios where the numbers span so much that the small ones would be lost; it then ends a
    few powers of ten below the largest, and what comes to rest leaves through it.
    """
    regulated = frame.filter(pl.col("scheme") != BASELINE)
    shown = regulated if regulated.height else frame
    names = [measure, *(("low", "high") if measure == "mean_cosine" else ())]
    seen = pl.concat([shown[name].alias("") for name in names])
    seen = seen.filter(seen.is_finite())
    if seen.is_empty():
        return Axis(label)
    low, high = float(seen.min()), float(seen.max())  # pyright: ignore
    least = seen.filter(seen > 0).min()
    wide = least is not None and low >= 0 and high > _WIDE * least  # pyright: ignore
    if log or (wide and measure not in _LINEAR):
        deepest = 0.0 if log else high * _DEEPEST
        return Axis(label, log=True, low=max(least / 1.5, deepest), high=high * 1.5)  # pyright: ignore
    room = _MARGIN * (high - low or abs(high) or 1.0)
    return Axis(label, low=low - room, high=high + room)


def _gaps(curves: pl.DataFrame) -> pl.DataFrame:
    """1 − γ from its logarithm, also where γ has lost its digits."""
    seen = curves.filter(pl.col("log_gap").is_finite() & (pl.col("log_gap") > _LEAST))
    return seen.with_columns(gap=pl.col("log_gap").exp())


def _gap_panel(gaps: pl.DataFrame) -> Panel:
    """Over t: what is exponential is straight."""
    panel = _line_panel(gaps, "gap", "gap 1 − γ over t", "1 − γ", log=True)
    if not panel.series:
        return panel
    times = [0.0, float(gaps["time"].max())]  # pyright: ignore
    slope = [math.exp(-2 * time) / 10 for time in times]
    return _with_guide(panel, "slope of e⁻²ᵗ", times, slope)


def _gap_over_log(gaps: pl.DataFrame) -> Panel:
    """Over log t: what is polynomial is straight. Cut off below the slowest schemes."""
    last = gaps["time"].max()
    later = gaps.filter(pl.col("time") > 0, pl.col("time") >= _BEGIN * pl.col("time").max())
    panel = _line_panel(later, "gap", "gap 1 − γ over log t", "1 − γ", log=True)
    if not panel.series:
        return panel
    times = [float(later["time"].min()), float(last)]  # pyright: ignore
    slowest = float(later.filter(time=last)["gap"].max())  # pyright: ignore
    slope = [slowest / 5 * (times[1] / time) ** 2 for time in times]
    low = max(panel.y.low or 0.0, slowest * _BELOW)
    cut = replace(panel, x=replace(panel.x, log=True), y=replace(panel.y, low=low, high=2.0))
    return _with_guide(cut, "slope of t⁻²", times, slope)


def _with_guide(panel: Panel, label: str, x: list[float], y: list[float]) -> Panel:
    """A slope to hold the lines against."""
    return replace(panel, series=(*panel.series, Series(label, label, _SLOPE, x, y)))


def _phase_map(phase: pl.DataFrame, title: str, label: str = "β") -> HeatMap:
    """A cell for each time and β, the largest β on top."""
    times = phase["time"].unique().sort().to_list()
    betas = phase["beta"].unique().sort(descending=True).to_list()
    known = {(beta, time): p for beta, time, p in phase["beta", "time", "probability"].rows()}
    values = [[known.get((beta, time)) for time in times] for beta in betas]
    dark = phase.is_empty() or phase.select(pl.max("probability")).item() < 0.5
    names = tuple(f"{time:.3g}" for time in times), tuple(f"{beta:.3g}" for beta in betas)
    axes, unit = (Axis("t", "t"), Axis(label, "β")), "below one half everywhere" * dark
    return HeatMap(title, *axes, *names, values, "probability", unit=unit, contour=0.5)
