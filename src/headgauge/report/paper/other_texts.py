"""The main line of every other text in the panels of the overview: how much depends on the text."""

import polars as pl
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from headgauge.report.paper.looks import GREY, Look
from headgauge.report.paper.selecting import (
    at_one_n,
    line,
    longest,
    of_choice,
    printable,
)

_LINES = ((0, (4, 1)), (0, (1, 1)), (0, (4, 1, 1, 1)), (0, (8, 2)))
_MOST = 30  # signs of a text's name in the legend
_TESTED = {"expected": "printed"}
_STEP = {"logits": "scaled", "direction": "random"}

Tables = dict[str, pl.DataFrame]


def text_looks(others: dict[str, Tables]) -> dict[str, Look]:
    """Grey, and a line of its own for each."""
    return {
        text: Look(f"in every panel: the same on {_short(text)}", GREY, _LINES[place % len(_LINES)])
        for place, text in enumerate(others)
    }


def _short(text: str) -> str:
    name = printable(text)
    return name if len(name) <= _MOST else f"{name[: _MOST - 1]}…"


def text_handles(others: dict[str, Tables]) -> list[Artist]:
    return [look.handle() for look in text_looks(others).values()]


def draw_others(panels: list[Axes], others: dict[str, Tables], choice: tuple[str, ...]) -> None:
    """Into Figures 2a, 2b, 2c, 3 and 4: distance, critical N, mean N_s/N, and g at the middle ε.

    A panel in which nothing is drawn stays so.
    """
    looks = text_looks(others)
    for text, paper in others.items():
        how = looks[text].how(linewidth=0.9, zorder=2.5)
        for axes, (across, up) in zip(panels, _lines(paper, choice), strict=False):
            if axes.has_data():
                axes.plot(across, up, scalex=False, **how)


def _lines(paper: Tables, choice: tuple[str, ...]) -> list[tuple[pl.Series, pl.Series]]:
    over_l = line(at_one_n(of_choice(paper["fig2a"], choice)), "distance", "length")
    over_n = line(longest(of_choice(paper["fig2b"], choice)), "distance", "top_n")
    tested = of_choice(paper["fig2c"], choice).filter(**_TESTED).drop_nulls("critical_n")
    tested = tested.filter(pl.col("level") == pl.col("level").min()).sort("length")
    shares = line(longest(of_choice(paper["fig3"], choice)), "separability", "top_n")
    steps = paper["fig4"].filter(**_STEP).drop_nulls("epsilon")
    middle = steps["epsilon"].unique().sort()
    steps = steps.filter(epsilon=middle[len(middle) // 2]) if len(middle) else steps
    steps = steps.sort("temperature")
    return [
        (over_l["length"], over_l["mean"]),
        (over_n["top_n"], over_n["mean"]),
        (tested["length"], tested["critical_n"]),
        (pl.Series(range(shares.height)), shares["mean"]),
        (steps["temperature"], steps["maximum"]),
    ]
