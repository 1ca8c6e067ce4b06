"""Figures 2b, 2c and 3 again, with other normalisers on the same logits: one line for each rule."""

import polars as pl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter

from headgauge.report.paper.critical import draw_none, paper_line
from headgauge.report.paper.distance import distance_axis, draw_line, n_axis
from headgauge.report.paper.looks import (
    PALE,
    PAPER_LINE,
    PAPER_SHARE,
    Look,
    band_handle,
    rule_looks,
)
from headgauge.report.paper.page import nothing
from headgauge.report.paper.selecting import CHOICE, MODEL, line, longest, of_choice
from headgauge.report.paper.separability import paper_band, share_axis
from headgauge.report.words import RULE_NOTES

_TABLES = ("fig2b", "fig2c", "fig3")
_WIDTH = 1.3  # the lines stand beside each other, all within this ratio of L


def rule_choice(paper: dict[str, pl.DataFrame], choice: tuple[str, ...]) -> tuple[str, ...]:
    """The choice the other figures show where rules were put on it, else the first with rules."""
    others = [paper[name].filter(pl.col("rule") != MODEL).select(CHOICE) for name in _TABLES]
    there = pl.concat(others).unique(maintain_order=True).rows()
    return choice if choice in there or not there else there[0]


def looks_of(paper: dict[str, pl.DataFrame], choice: tuple[str, ...]) -> dict[str, Look]:
    """A look for every rule in any of the panels, so that it is the same in all of them."""
    rules = [of_choice(paper[name], choice, None)["rule"] for name in _TABLES]
    rules.append(paper["vanishing"]["rule"])
    return rule_looks(pl.concat(rules).unique(maintain_order=True).to_list())


def draw_rule_distances(axes: Axes, frame: pl.DataFrame, looks: dict[str, Look]) -> None:
    """Figure 2b: the distance over N."""
    seen = line(frame, "distance", "top_n")
    if seen.is_empty():
        nothing(axes, "no distances in this run")
        return
    for rule, look in looks.items():
        rows = seen.filter(pl.col("rule") == rule)
        draw_line(axes, rows, "top_n", look.how(markersize=3))
    n_axis(axes, seen["top_n"])
    axes.set_ylim(bottom=0)
    distance_axis(axes)


def draw_rule_criticals(axes: Axes, frame: pl.DataFrame, looks: dict[str, Look]) -> None:
    """Figure 2c: the critical N, printed expectation, the strictest level.

    Over L, or a line of text for each rule where most were measured at one L only.
    """
    frame = strictest(frame)
    if frame.is_empty():
        nothing(axes, "no tests in this run")
    elif at_one_length(frame):
        _list_criticals(axes, longest(frame), looks)
    else:
        for place, (rule, look) in enumerate(looks.items()):
            shift = _WIDTH ** ((place + 0.5) / len(looks) - 0.5)
            rows = frame.filter(pl.col("rule") == rule).sort("length")
            found = rows.drop_nulls("critical_n")
            axes.plot(found["length"] * shift, found["critical_n"], **look.how(markersize=3))
            draw_none(axes, rows, look, shift)
        paper_line(axes, frame)


def at_one_length(frame: pl.DataFrame) -> bool:
    """Whether more than half of the rules were measured at a single L."""
    lengths = strictest(frame).group_by("rule").agg(pl.col("length").n_unique())["length"]
    return 2 * int((lengths == 1).sum()) > lengths.len()


def _list_criticals(axes: Axes, frame: pl.DataFrame, looks: dict[str, Look]) -> None:
    rows = [
        (look, row)
        for rule, look in looks.items()
        for row in frame.filter(pl.col("rule") == rule).iter_rows(named=True)
    ]
    paper = PAPER_SHARE * frame["length"][0]
    places = [paper] + [
        place
        for _, row in rows
        for place in (row["critical_n"] or row["tried"], row["low"], row["high"])
        if place is not None
    ]
    low, high = min(places) / 1.6, max(places) * 1.6
    for place, (look, row) in enumerate(rows):
        at, none = row["critical_n"] or row["tried"], row["critical_n"] is None
        marker = {"marker": "$→$", "markersize": 6, "markeredgewidth": 0.2} if none else {}
        axes.plot([at], [place], **look.how(linestyle="", zorder=3) | marker)
        if row["low"] is not None and row["high"] is not None:
            axes.plot([row["low"], row["high"]], [place, place], color=look.colour, linewidth=0.8)
        # One column of words above the lines, off the dots and the bars wherever these are.
        words = f"{look.label}: {f'none up to {at}' if none else at}"
        how = {"va": "bottom", "fontsize": 6, "transform": axes.get_yaxis_transform()}
        paint = {"facecolor": "white", "edgecolor": "none", "pad": 0.3}
        axes.text(0.03, place - 0.15, words, parse_math=False, bbox=paint, **how)
        axes.axhline(place, color=PALE, linewidth=0.5, zorder=-1)
    axes.axvline(paper, **PAPER_LINE.how(linewidth=0.9, zorder=0))
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_yticks([])
    axes.set_ylim(len(rows) - 0.5, -0.8)
    axes.set_xlabel("critical N", labelpad=2)


def strictest(frame: pl.DataFrame) -> pl.DataFrame:
    printed = frame.filter(pl.col("expected") == "printed")
    return printed.filter(pl.col("level") == pl.col("level").min())


def draw_rule_separability(axes: Axes, frame: pl.DataFrame, looks: dict[str, Look]) -> None:
    """Figure 3: the mean share over N."""
    seen = line(frame, "separability", "top_n")
    if seen.is_empty():
        nothing(axes, "no separability in this run")
        return
    places = {n: place for place, n in enumerate(seen["top_n"].unique().sort())}
    paper_band(axes)
    for rule, look in looks.items():
        rows = seen.filter(pl.col("rule") == rule)
        at = [places[n] for n in rows["top_n"]]
        axes.plot(at, rows["mean"], **look.how(markersize=3))
    share_axis(axes, places)


def rule_handles(looks: dict[str, Look]) -> list[Artist]:
    paper = [PAPER_LINE.handle(), band_handle("the paper's plateau")]
    return [*(look.handle(markersize=3) for look in looks.values()), *paper]


def rule_words(looks: dict[str, Look]) -> str:
    if set(looks) <= {MODEL}:
        return "no other rule was put on the logits in this run"
    told = f"{len(looks) - (MODEL in looks)} other rules put on the same logits, no retraining"
    return "; ".join([told, *(RULE_NOTES[rule] for rule in looks if rule in RULE_NOTES)])
