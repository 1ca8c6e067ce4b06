"""Panels with a row for each scheme and an axis in even ratios, numbers as one says them."""

import math

from matplotlib.axes import Axes

from headgauge.report.dynamics.looks import SCHEME_LOOKS
from headgauge.report.paper.looks import GREY

ROW = 0.2  # inches
_FEWEST = 3
_DIGITS = ((1,), (1, 2, 5), (1, 1.5, 2, 3, 4, 6, 8), tuple(tenth / 10 for tenth in range(10, 100)))


def rows_axis(axes: Axes, schemes: list[str]) -> None:
    """From the top, each with its name and a line to follow."""
    axes.set_ylim(len(schemes) - 0.5, -0.5)
    axes.set_yticks(range(len(schemes)), labels=[SCHEME_LOOKS[name].label for name in schemes])
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", color=GREY, linewidth=0.3, alpha=0.5)
    axes.set_axisbelow(True)


def plain_ratios(axes: Axes) -> None:
    """Across in even ratios, with 0.5, 1, 2 and no powers of ten; after all is drawn."""
    axes.set_xscale("log")
    low, high = axes.get_xlim()
    ticks: list[float] = []
    for digits in _DIGITS:  # a short axis needs more of them
        powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        every = (digit * 10.0**power for power in powers for digit in digits)
        ticks = [tick for tick in every if low <= tick <= high]
        if len(ticks) >= _FEWEST:
            break
    axes.set_xticks(ticks, labels=[f"{tick:g}" for tick in ticks])
    axes.set_xticks([], minor=True)
