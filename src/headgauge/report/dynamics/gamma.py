"""The common cosine γ of tokens at equal angles: how fast it moves, and how fast the gap closes.

A gap that is straight over t closes exponentially, one that is straight over log t polynomially;
one that bends in both, like LN-Scaling's, is between the two.
"""

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator

from headgauge.report.dynamics.looks import scheme_handles
from headgauge.report.dynamics.over_time import draw_over_time
from headgauge.report.paper.looks import BLACK, Look
from headgauge.report.paper.page import nothing

EXPONENTIAL = Look(r"slope of $e^{-2t}$", BLACK, (0, (1, 2)))
POLYNOMIAL = Look(r"slope of $t^{-2}$", BLACK, (0, (1, 2)))
_LEAST = -70.0  # of log(1 − γ): below it the axis would only be longer
_BELOW = 1e-2  # how far below the slowest scheme's end a panel over log t reaches
_BEGIN = 1e-2  # of the horizon: where log t begins
_TOP = 2.0


def draw_gamma(axes: Axes, curves: pl.DataFrame) -> None:
    draw_over_time(axes, curves, "gamma")
    axes.set_ylabel("γ", labelpad=2)


def draw_gap(axes: Axes, curves: pl.DataFrame) -> None:
    """1 − γ over t, its axis in even ratios: what is exponential is straight."""
    gaps = _gaps(curves)
    if gaps.is_empty():
        nothing(axes, "no gap in this run")
        return
    _even_ratios(axes)
    draw_over_time(axes, gaps, "gap")
    times = np.linspace(*axes.get_xlim(), 2)
    _guide(axes, times, np.exp(-2 * times) / 10, EXPONENTIAL, axes.get_ylim())


def draw_gap_over_log(axes: Axes, curves: pl.DataFrame) -> None:
    """1 − γ over log t: what is polynomial is straight. Cut off below the slowest schemes."""
    gaps = _gaps(curves).filter(pl.col("time") > 0)
    last = gaps["time"].max()
    gaps = gaps.filter(pl.col("time") >= _BEGIN * pl.lit(last))
    if gaps.is_empty():
        nothing(axes, "no gap in this run")
        return
    _even_ratios(axes)
    axes.set_xscale("log")
    draw_over_time(axes, gaps, "gap")
    axes.set_xlabel("t, in even ratios", labelpad=2)
    slowest = gaps.filter(time=last)["gap"].max()
    limits = max(axes.get_ylim()[0], slowest * _BELOW), _TOP  # pyright: ignore
    times = np.geomspace(*axes.get_xlim(), 2)
    _guide(axes, times, slowest / 5 * (last / times) ** 2, POLYNOMIAL, limits)  # pyright: ignore


def gamma_handles(curves: pl.DataFrame, *guides: Look) -> list[Line2D]:
    return [*scheme_handles(curves), *(guide.handle(linewidth=0.8) for guide in guides)]


def _gaps(curves: pl.DataFrame) -> pl.DataFrame:
    seen = curves.filter(pl.col("log_gap").is_finite() & (pl.col("log_gap") > _LEAST))
    return seen.with_columns(gap=pl.col("log_gap").exp())


def _even_ratios(axes: Axes) -> None:
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(numticks=7))
    axes.set_yticks([], minor=True)
    axes.set_ylabel("1 − γ", labelpad=2)


def _guide(
    axes: Axes, times: np.ndarray, gaps: np.ndarray, look: Look, limits: tuple[float, float]
) -> None:
    """A slope to hold the lines against; it does not move the axis."""
    axes.plot(times, gaps, **look.how(linewidth=0.8))
    axes.set_ylim(*limits)
