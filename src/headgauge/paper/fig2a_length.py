"""Figure 2a, Algorithm 1: the distance over the length of the sequence, at one N.

Each L is a pass of its own over the beginning of the same windows. Per head the mean over query
rows of the true distance, the printed bound and the expectation; here also the corrected
expectation, which lies between eq. 24 and the upper side of its sandwich.
"""

from dataclasses import dataclass

import polars as pl

from headgauge.paper.measured import Measured
from headgauge.paper.summary import summarise

MEASURES = (
    "distance",
    "bound_printed",
    "bound_centroid",
    "bound_lower",
    "bound_upper",
    "expected_printed",
    "expected_appendix",
    "expected_upper",
)


@dataclass(frozen=True)
class Config:
    """N, and the lengths; those at which no row sees more than N keys are left out."""

    top_n: int = 5
    lengths: tuple[int, ...] = (32, 64, 128, 256, 512, 1024)
    seed: int = 0


def run(measured: Measured, config: Config) -> pl.DataFrame:
    """FigureRows over L."""
    chosen = measured.curves.filter(
        pl.col("top_n") == config.top_n, pl.col("length").is_in(config.lengths)
    )
    return summarise(chosen, MEASURES, config.seed)
