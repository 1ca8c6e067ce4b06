"""A simulation in one picture, for the first screen of a page."""

import polars as pl
from matplotlib.figure import Figure

from headgauge.report.dynamics.gamma import EXPONENTIAL, draw_gamma, draw_gap, gamma_handles
from headgauge.report.dynamics.looks import SCHEME_LOOKS, schemes_in
from headgauge.report.dynamics.phase import BAR_ROOM, colour_bar, draw_phase, half_handle
from headgauge.report.dynamics.selecting import (
    WEIGHTS,
    baseline_words,
    kinds_of,
    of_kind,
    one_setup,
    setup_words,
)
from headgauge.report.dynamics.swarms import band_words, draw_swarm
from headgauge.report.paper.overview import WIDTH
from headgauge.report.paper.page import (
    LEGEND_LINE,
    legend_below,
    nothing,
    open_page,
    small_print,
    title,
)

# One of each way to collapse: exponential, stretched, polynomial. Then whatever there is.
_TELLING = ("post_ln", "ln_scaling", "peri_ln", *SCHEME_LOOKS)
_COLUMNS = 8  # of the legend


def overview(tables: dict[str, pl.DataFrame], caption: str) -> Figure:
    """γ, its gap, particles under random weights, and the phase diagram of three schemes."""
    curves, swarms = one_setup(tables["curves"]), _telling_swarms(tables["swarms"])
    phase = tables["phase"].filter(pl.col("dim") == pl.col("dim").max())
    phase = phase.filter(pl.col("tokens") == pl.col("tokens").first())
    small = small_print(
        caption,
        f"(a), (b) tokens at equal angles: {setup_words(curves)}" * (curves.height > 0),
        f"(c) particles: {setup_words(swarms)}; {band_words(swarms)}" * (swarms.height > 0),
        f"(d) to (f) {setup_words(phase.drop('beta'))}" * (phase.height > 0),
        baseline_words(curves),
    )
    below = [LEGEND_LINE, BAR_ROOM]
    figure, panels = open_page((WIDTH, 1.65), (2, 3), below, small, gap=0.55)
    title(panels[0], "a", "common cosine γ of the reduced system")
    draw_gamma(panels[0], curves)
    title(panels[1], "b", "how its gap closes")
    draw_gap(panels[1], curves)
    kind = WEIGHTS[swarms["weights"][0]] if swarms.height else "particles"
    title(panels[2], "c", f"mean cosine, {kind}")
    draw_swarm(panels[2], swarms, "mean_cosine")
    shown = [scheme for scheme in dict.fromkeys(_TELLING) if scheme in schemes_in(phase)][:3]
    meshes = []
    for place, axes in enumerate(panels[3:]):
        if place >= len(shown):
            nothing(axes, "no phase diagram in this run")
            continue
        words = f"{SCHEME_LOOKS[shown[place]].label}: pairs that are one"
        title(axes, "def"[place], words)
        meshes.append(draw_phase(axes, phase.filter(scheme=shown[place])))
    both = [frame.select("scheme", "time") for frame in (curves, swarms)]
    guides = [EXPONENTIAL] if curves.height else []
    first = panels[0] if curves.height else panels[2]
    legend_below(first, gamma_handles(pl.concat(both), *guides), _COLUMNS)
    if meshes:
        colour_bar(panels[3], meshes[0])
        legend_below(panels[3], [half_handle()], shift=2.8)
    return figure


def _telling_swarms(swarms: pl.DataFrame) -> pl.DataFrame:
    """Under random weights where they were run."""
    kinds = kinds_of(swarms)
    if not kinds:
        return swarms
    return of_kind(swarms, "random" if "random" in kinds else kinds[0])
