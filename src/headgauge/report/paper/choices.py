"""What depends on the choice of vectors, their length and the keys, beside the paper's numbers."""

import polars as pl
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from headgauge.report.paper.looks import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    PALE,
    PAPER_BAND,
    PAPER_SHARE,
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
_SHARE_TICKS = (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)


def in_order(choices: pl.DataFrame) -> pl.DataFrame:
    """The closest on top, then by how many of the paper's numbers they meet and how far they are
    from them."""
    by = ["closest", "agrees", "off", *CHOICE]
    return choices.sort(by, descending=[True, True, False, False, False, False])


def draw_shares(axes: Axes, choices: pl.DataFrame, length: int | None) -> None:
    """Critical N over L, a line for each choice; `length` is the L of the corrected one."""
    if choices.is_empty():
        nothing(axes, "no choices in this run")
        return
    corrected = pl.lit(None, pl.Float64) if length is None else pl.col("critical_n_corrected")
    rows = in_order(choices).with_columns(corrected=corrected / (length or 1))
    found = rows.select("critical_share", "corrected").unpivot()["value"].drop_nulls()
    nowhere = share_axis(axes, found, found.len() < 2 * rows.height)
    for look, column, aside in (
        (_PRINTED, "critical_share", -0.2),
        (_CORRECTED, "corrected", 0.2),
    ):
        for place, share in enumerate(rows[column]):
            none = {"markerfacecolor": "white", "markersize": 3, "alpha": 0.6}
            how = {"markersize": 4.5} if share is not None else none
            axes.plot([share or nowhere], [place + aside], **look.how(**how))
    axes.axvline(PAPER_SHARE, **_PAPER.how(linewidth=0.9, zorder=0))
    _choice_axis(axes, choices)


def share_axis(axes: Axes, shares: pl.Series, with_none: bool) -> float:
    """N/L in even ratios from the smallest to the largest, "none" behind it; where that is."""
    known = [*shares, PAPER_SHARE]
    low, high = min(known) / 1.6, max(*known, 2 * PAPER_SHARE) * 1.5
    nowhere = high * (high / low) ** 0.07
    axes.set_xscale("log")
    axes.set_xlim(low, high * (high / low) ** 0.14 if with_none else high)
    ticks = [tick for tick in _SHARE_TICKS if low <= tick <= high / 1.4]
    labels = [f"{tick:g}" for tick in ticks]
    if with_none:
        axes.axvline(high, color=GREY, linewidth=0.4, zorder=0)
        ticks, labels = [*ticks, nowhere], [*labels, "none"]
    axes.set_xticks(ticks, labels=labels)
    axes.set_xticks([], minor=True)
    axes.set_xlabel("critical N / L", labelpad=2)
    return nowhere


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
    named = enumerate(rows.select(*CHOICE, "closest", "measured").rows(), start=1)
    labels = [
        f"{', '.join(row)}{' ★' * near}{' ●' * judged}  {number}"
        for number, (*row, near, judged) in named
    ]
    axes.set_yticks(range(rows.height), labels=labels)
    axes.tick_params(axis="y", length=0)
    for label, judged in zip(axes.get_yticklabels(), rows["measured"], strict=True):
        label.set_parse_math(False)
        label.set_fontweight("bold" if judged else "normal")
    for place in range(rows.height):
        axes.axhline(place, color=PALE, linewidth=0.5, zorder=-1)
    axes.set_ylim(rows.height - 0.5, -0.5)


def share_handles() -> list[Artist]:
    none = {"markerfacecolor": "white", "markersize": 3}
    hollow = Look("hollow: none was found", GREY, "", "^").handle(**none)
    return [_PRINTED.handle(), _CORRECTED.handle(), hollow, _PAPER.handle()]


def plateau_handles() -> list[Artist]:
    low, high = PAPER_BAND
    return [_AT_16.handle(), _RANGE.handle(linewidth=2.4), band_handle(f"{low:.2f} to {high:.2f}")]
