"""What hangs on the choice of vectors, their length and the keys, beside the paper's numbers."""

from typing import Any

import polars as pl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from headgauge.report.paper.looks import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PALE,
    PAPER_BAND,
    PAPER_SHARE,
    PURPLE,
    SKY,
    Look,
    band_handle,
)
from headgauge.report.paper.page import nothing
from headgauge.report.paper.selecting import CHOICE

_PRINTED = Look("expectation as printed", BLUE, "", "^")
_CORRECTED = Look("eq. 24", GREEN, "", "v")
_PAPER = Look(f"the paper's {PAPER_SHARE:g}", BLACK, (0, (6, 2)))
_AT_16 = Look("N = 16", GREEN, "", "o")
_RANGE = Look("means from N = 16 on", GREEN, "-")
_VECTORS = {"value": (BLUE, "s"), "hidden": (ORANGE, "D"), "embedding": (PURPLE, "^")}
_VECTORS |= {"final": (GREEN, "o")}
_STRANGER = (SKY, "P")


def in_order(choices: pl.DataFrame) -> pl.DataFrame:
    """The closest on top, then by how many of the paper's numbers they meet."""
    by = ["closest", "agrees", *CHOICE]
    return choices.sort(by, descending=[True, True, False, False, False])


def draw_shares(axes: Axes, choices: pl.DataFrame, length: int | None) -> None:
    """Critical N over L, a line for each choice; `length` is the L of the corrected one."""
    if choices.is_empty():
        nothing(axes, "no choices in this run")
        return
    drawn = [2 * PAPER_SHARE]
    for place, row in enumerate(in_order(choices).iter_rows(named=True)):
        corrected = row["critical_n_corrected"]
        shares = [
            (_PRINTED, row["critical_share"], -0.12),
            (_CORRECTED, corrected / length if corrected is not None and length else None, 0.12),
        ]
        for look, share, aside in shares:
            if share is not None:
                drawn.append(share)
                axes.plot([share], [place + aside], **look.how(markersize=4.5))
        missing = [look.label for look, share, _ in shares if share is None]
        if missing:
            told = "none found" if len(missing) == 2 else f"none for {missing[0]}"
            where = {"transform": axes.get_yaxis_transform(), "ha": "right", "va": "center"}
            axes.text(0.99, place, told, color=GREY, fontsize=6, zorder=3, **where)
    axes.axvline(PAPER_SHARE, **_PAPER.how(linewidth=0.9, zorder=0))
    most = max(drawn)
    axes.set_xticks(
        [tick for tick in MaxNLocator(5, steps=[1, 2, 5, 10]).tick_values(0, most) if tick <= 1]
    )
    axes.set_xlim(0, 1.5 * most)  # the right third is for words
    axes.set_xlabel("critical N / L", labelpad=2)
    _choice_axis(axes, choices)


def draw_plateaus(axes: Axes, choices: pl.DataFrame) -> None:
    """Separability at N = 16 and its range beyond, and the share of heads within the band."""
    if choices.is_empty():
        nothing(axes, "no choices in this run")
        return
    axes.axvspan(*PAPER_BAND, color=PALE, linewidth=0, zorder=0)
    for place, row in enumerate(in_order(choices).iter_rows(named=True)):
        ends = row["plateau_low"], row["plateau_high"]
        if None not in ends:
            axes.plot(ends, [place, place], **_RANGE.how(linewidth=2.4))
        if row["separability_at_16"] is not None:
            axes.plot([row["separability_at_16"]], [place], **_AT_16.how())
        inside = row["heads_in_band"]
        told = "–" if inside is None else f"{100 * inside:.0f} %"
        where = {"transform": axes.get_yaxis_transform(), "ha": "right", "va": "center"}
        axes.text(1.16, place, told, **where)
    axes.text(1.16, 1.015, "in the band", transform=axes.transAxes, ha="right", va="bottom")
    axes.set_xlim(0, 1)
    axes.set_xlabel(r"$N_s/N$", labelpad=2)
    _choice_axis(axes, choices)
    axes.tick_params(labelleft=False)


def _choice_axis(axes: Axes, choices: pl.DataFrame) -> None:
    rows = in_order(choices)
    labels = [", ".join(row) + " ★" * near for *row, near in rows.select(*CHOICE, "closest").rows()]
    axes.set_yticks(range(rows.height), labels=labels)
    axes.tick_params(axis="y", length=0)
    for label, near in zip(axes.get_yticklabels(), rows["closest"], strict=True):
        label.set_parse_math(False)
        label.set_fontweight("bold" if near else "normal")
    for place in range(rows.height):
        axes.axhline(place, color=PALE, linewidth=0.5, zorder=-1)
    axes.set_ylim(rows.height - 0.5, -0.5)


def share_handles() -> list[Artist]:
    return [_PRINTED.handle(), _CORRECTED.handle(), _PAPER.handle()]


def plateau_handles() -> list[Artist]:
    low, high = PAPER_BAND
    return [_AT_16.handle(), _RANGE.handle(linewidth=2.4), band_handle(f"{low:.2f} to {high:.2f}")]


def draw_choice_map(axes: Axes, choices: pl.DataFrame) -> None:
    """All choices as points, critical N / L across and N_s/N upwards, on the paper's numbers.

    Those without a critical N stand beside each other at the right end of the axis.
    """
    seen = choices.drop_nulls("separability_at_16")
    if seen.is_empty():
        nothing(axes, "no choices in this run")
        return
    axes.axhspan(*PAPER_BAND, color=PALE, linewidth=0, zorder=0)
    axes.axvline(PAPER_SHARE, **_PAPER.how(linewidth=0.9, zorder=0))
    known = seen["critical_share"].drop_nulls().to_list()
    most = max([*known, 2 * PAPER_SHARE])
    none = seen.filter(pl.col("critical_share").is_null())
    for row in seen.drop_nulls("critical_share").iter_rows(named=True):
        _draw_choice(axes, row, row["critical_share"])
    for place, row in enumerate(none.iter_rows(named=True)):
        _draw_choice(axes, row, most * (1.22 + 0.05 * place))
    axes.set_ylim(0, 1.04)
    axes.set_xlim(0, most * (1.1 + (0.17 + 0.05 * none.height) * (none.height > 0)))
    ticks = [
        float(tick)
        for tick in MaxNLocator(4, steps=[1, 2, 5, 10]).tick_values(0, most)
        if 0 <= tick <= most
    ]
    labels = [f"{tick:g}" for tick in ticks]
    if none.height:
        middle = most * (1.22 + 0.025 * (none.height - 1))
        ticks, labels = [*ticks, middle], [*labels, "none"]
    axes.set_xticks(ticks, labels=labels)
    axes.set_xlabel("critical N / L", labelpad=2)
    axes.set_ylabel(r"$N_s/N$ from N = 16 on", labelpad=2)


def _draw_choice(axes: Axes, row: dict[str, Any], at: float) -> None:
    """A point at N = 16, a line over the range beyond, a ring around the closest."""
    colour, marker = _VECTORS.get(row["vectors"], _STRANGER)
    if row["plateau_low"] is not None and row["plateau_high"] is not None:
        axes.plot([at, at], [row["plateau_low"], row["plateau_high"]], color=colour)
    how = {"color": colour, "marker": marker, "markersize": 6 if row["keys"] == "all" else 4}
    how |= {"markerfacecolor": colour if row["scale"] == "unit" else "white", "zorder": 3}
    axes.plot([at], [row["separability_at_16"]], **how)
    if row["closest"]:
        ring = {"color": BLACK, "marker": "o", "markersize": 10, "markerfacecolor": "none"}
        axes.plot([at], [row["separability_at_16"]], **ring)


def choice_map_handles(choices: pl.DataFrame) -> list[Artist]:
    """A sign for each kind of vectors, then what filling, size and ring say."""
    there = choices["vectors"].unique(maintain_order=True)
    handles: list[Artist] = []
    for name in there:
        colour, marker = _VECTORS.get(name, _STRANGER)
        handles.append(Look(name, colour, "", marker).handle())
    if "raw" in choices["scale"]:
        handles.append(Look("hollow: raw", BLACK, "", "o").handle(markerfacecolor="white"))
    if choices["keys"].n_unique() > 1:
        handles.append(Look("small: visible", BLACK, "", "o").handle(markersize=2.5))
    ring = {"markersize": 7, "markerfacecolor": "none"}
    handles.append(Look("closest", BLACK, "", "o").handle(**ring))
    return [*handles, Look(f"paper: {PAPER_SHARE:g}", BLACK, _PAPER.line).handle()]
