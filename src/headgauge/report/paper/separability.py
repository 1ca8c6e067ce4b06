"""Figure 3: which share of the selected tokens can be told apart, over N."""

import polars as pl
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from headgauge.report.paper.looks import (
    BLACK,
    GREY,
    PALE,
    PAPER_BAND,
    SEPARABILITY_LOOKS,
    band_handle,
)
from headgauge.report.paper.page import nothing
from headgauge.report.paper.selecting import line

_SPREAD = ["minimum", "q25", "median", "q75", "maximum"]


def draw_separability(axes: Axes, frame: pl.DataFrame) -> None:
    """Boxes over heads, their mean and the bounds; N stands in even steps, whatever it is."""
    if line(frame, "separability", "top_n").is_empty():
        nothing(axes, "no separability in this run")
        return
    places = {n: place for place, n in enumerate(frame["top_n"].unique().sort())}
    paper_band(axes)
    _boxes(axes, line(frame, "separability", "top_n").drop_nulls(_SPREAD), places)
    for measure, look in SEPARABILITY_LOOKS.items():
        rows = line(frame, measure, "top_n")
        at = [places[n] for n in rows["top_n"]]
        axes.plot(at, rows["mean"], **look.how(markersize=3))
        known = rows.drop_nulls(["low", "high"])
        at = [places[n] for n in known["top_n"]]
        band = {"color": look.colour, "alpha": 0.22, "linewidth": 0}
        axes.fill_between(at, known["low"], known["high"], **band)
    share_axis(axes, places)


def share_axis(axes: Axes, places: dict[int, int]) -> None:
    axes.set_xticks(list(places.values()), labels=[str(n) for n in places])
    axes.set_xlabel("N", labelpad=2)
    axes.set_ylabel(r"$N_s/N$", labelpad=2)
    axes.set_ylim(0, 1.04)


def paper_band(axes: Axes) -> None:
    """The paper's .70 to .85."""
    axes.axhspan(*PAPER_BAND, color=PALE, linewidth=0, zorder=0)
    for edge in PAPER_BAND:
        axes.axhline(edge, color=GREY, linewidth=0.4, zorder=0)


def separability_handles(frame: pl.DataFrame) -> list[Artist]:
    """The mean first, then the bounds that are there."""
    there = set(frame.drop_nulls("mean")["measure"])
    looks = [look for name, look in reversed(SEPARABILITY_LOOKS.items()) if name in there]
    low, high = PAPER_BAND
    band = band_handle(f"the paper's plateau, {low:.2f} to {high:.2f}")
    return [*(look.handle(markersize=3) for look in looks), band]


def _boxes(axes: Axes, rows: pl.DataFrame, places: dict[int, int]) -> None:
    boxes = [
        {"whislo": low, "q1": q25, "med": median, "q3": q75, "whishi": high, "fliers": []}
        for low, q25, median, q75, high in rows.select(_SPREAD).iter_rows()
    ]
    if boxes:
        thin = {"linewidth": 0.6, "color": BLACK}
        axes.bxp(
            boxes,
            positions=[places[n] for n in rows["top_n"]],
            widths=0.5,
            showfliers=False,
            patch_artist=True,
            boxprops={"facecolor": "white", "edgecolor": BLACK, "linewidth": 0.6},
            medianprops=thin | {"linewidth": 1.2},
            whiskerprops=thin,
            capprops=thin,
            manage_ticks=False,
        )
