"""Figure 2b, Algorithm 2: the distance over N, at the longest L."""

from dataclasses import dataclass

import polars as pl

from headgauge.paper.fig2a_length import MEASURES
from headgauge.paper.measured import CHOICE, Measured
from headgauge.paper.summary import summarise


@dataclass(frozen=True)
class Config:
    """The paper's N."""

    top_ns: tuple[int, ...] = (1, 5, 10, 20, 100)
    seed: int = 0


def run(measured: Measured, config: Config) -> pl.DataFrame:
    """FigureRows over N: every N that was measured in all of a choice's windows, so that the curve
    between the paper's N shows too."""
    chosen = measured.curves.filter(
        pl.col("length") == measured.length, pl.col("top_n") <= max(config.top_ns)
    )
    windows = pl.col("window").n_unique()
    everywhere = windows.over(*CHOICE, "top_n") == windows.over(*CHOICE)
    return summarise(chosen.filter(everywhere), MEASURES, config.seed)
