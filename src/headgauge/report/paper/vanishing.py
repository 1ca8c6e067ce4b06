"""Lemma 1 and Corollary 1: how the weights of real heads shrink with L, and what bounds them."""

import math

import polars as pl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter

from headgauge.report.paper.distance import draw_line, log_length_axis
from headgauge.report.paper.looks import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    RED,
    SKY,
    Look,
)
from headgauge.report.paper.page import nothing
from headgauge.report.paper.selecting import MODEL, line, longest, span

LARGEST = Look("largest weight", GREEN, "-", "o")
WEIGHTS = {
    "top_mass": Look("mass of the 16 heaviest keys", ORANGE, "-.", "s"),
    "largest_weight": LARGEST,
    "largest_off_sink": Look("largest off the first key, of the rest", BLUE, "--", "^"),
}
BOUNDS = {
    "bound_printed": Look(
        r"Corollary 1 as printed, $e^{2\|q\|\max\|k\|/\sqrt{d}}/n$", RED, "--", "s"
    ),
    "bound_mean": Look(r"from the mean logit (Jensen), $e^{\max - mean}/n$", PURPLE, "-.", "v"),
    "bound_range": Look(r"from the range of the logits, sharp", SKY, ":", "D"),
}
_GUIDE = Look("1/L: the weight of every key if all were alike", BLACK, (0, (6, 2)))
_FAR = 1e4  # a bound on a weight beyond it is not drawn
_TRIVIAL = Look("1: a bound above it says nothing", GREY, (0, (2, 2)))


def draw_weights(axes: Axes, frame: pl.DataFrame) -> None:
    """Largest weight, mass of the heaviest keys, largest weight off the sink, beside 1/L."""
    own = frame.filter(pl.col("rule") == MODEL)
    if _draw(axes, own, WEIGHTS):
        _guide(axes, own)
        axes.set_ylabel("weight, mean over heads", labelpad=2)


def draw_bounds(axes: Axes, frame: pl.DataFrame) -> None:
    """The largest weight and the bounds on it: how much they promise."""
    own = frame.filter(pl.col("rule") == MODEL)
    if own.filter(pl.col("measure").is_in(list(BOUNDS)))["mean"].drop_nulls().is_empty():
        nothing(axes, "no bound holds for this model's weights")
        return
    _draw(axes, own, {"largest_weight": LARGEST} | BOUNDS)
    axes.axhline(1.0, **_TRIVIAL.how(linewidth=0.8, zorder=0))
    _cut(axes, own)
    axes.yaxis.set_major_locator(LogLocator(numticks=7))
    axes.set_ylabel("largest weight and its bounds", labelpad=2)


def draw_rule_weights(
    axes: Axes, frame: pl.DataFrame, looks: dict[str, Look], measure: str
) -> None:
    """A measure of the weights under each rule; at a single L a point for each."""
    seen = line(frame, measure, "length")
    if seen.is_empty():
        nothing(axes, "no weights in this run")
        return
    for rule, look in looks.items():
        rows = seen.filter(pl.col("rule") == rule)
        draw_line(axes, rows, "length", look.how(markersize=3.5))
    _scales(axes, seen)
    _guide(axes, seen)
    axes.set_ylabel("weight, mean over heads", labelpad=2)


def vanishing_handles() -> list[Artist]:
    return [*(look.handle() for look in WEIGHTS.values()), _GUIDE.handle()]


def bound_handles(frame: pl.DataFrame) -> list[Artist]:
    there = set(frame.drop_nulls("mean")["measure"])
    looks = [look for name, look in BOUNDS.items() if name in there]
    return [*(look.handle() for look in looks), _TRIVIAL.handle()]


def vanishing_words(frame: pl.DataFrame) -> str:
    """What is averaged over what, for the small print."""
    own = frame.filter(pl.col("rule") == MODEL)
    if own.is_empty():
        return "nothing was measured"
    at = longest(own)
    windows = own["windows"].max()
    return (
        f"means over {span(own['heads'], ' to ')} heads and {windows} window{'s' * (windows != 1)} "
        f"of {span(at['rows'].round(0), ' to ')} query rows in the last quarter of the window; "
        "of a bound the geometric mean"
    )


def _draw(axes: Axes, frame: pl.DataFrame, looks: dict[str, Look]) -> bool:
    drawn = [(look, line(frame, name, "length")) for name, look in looks.items()]
    drawn = [(look, rows) for look, rows in drawn if rows.height]
    if not drawn:
        nothing(axes, "no weights in this run")
        return False
    for look, rows in drawn:
        draw_line(axes, rows, "length", look.how())
    _scales(axes, frame)
    return True


def _cut(axes: Axes, frame: pl.DataFrame) -> None:
    """Bounds many decades above 1 are told, not drawn: they would hide all the rest."""
    told = []
    for name, look in BOUNDS.items():
        values = line(frame, name, "length")["mean"]
        if values.len() and float(values.min()) > _FAR:  # pyright: ignore
            low, high = (math.log10(float(end)) for end in (values.min(), values.max()))  # pyright: ignore
            powers = dict.fromkeys(f"$10^{{{end:.0f}}}$" for end in (low, high))
            told.append(f"{look.label.split(',')[0]}: {' to '.join(powers)}")
    if told:
        axes.set_ylim(top=_FAR)
        where = {"transform": axes.transAxes, "ha": "right", "va": "top", "fontsize": 6.5}
        axes.text(
            0.99, 0.98, "\n".join([f"{each}, above the axis" for each in told]), color=GREY, **where
        )


def _scales(axes: Axes, frame: pl.DataFrame) -> None:
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.yaxis.set_minor_locator(NullLocator())
    log_length_axis(axes, frame["length"])


def _guide(axes: Axes, frame: pl.DataFrame) -> None:
    """1/L from the shortest to the longest window."""
    ends = [frame["length"].min(), frame["length"].max()]
    axes.plot(ends, [1 / end for end in ends], **_GUIDE.how(linewidth=0.9, zorder=0))  # pyright: ignore
