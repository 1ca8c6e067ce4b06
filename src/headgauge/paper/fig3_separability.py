"""Figure 3, Algorithm 4: the share N_s/N of the selected tokens that stay in the ball, over N.

Box plots over heads, with Theorem 2's bounds as printed (the upper one is false) and the corrected
lower one, which counts what is certain: ξ_i ≤ r. A corrected upper bound for the paper's own radius
needs the unselected vectors to be independent and uniform, which no model's are: `theory` has it,
the figure does not.
"""

from dataclasses import dataclass

import polars as pl

from headgauge.paper.measured import Measured
from headgauge.paper.summary import summarise

MEASURES = (
    "separability",
    "separability_printed_lower",
    "separability_printed_upper",
    "separability_lower",
)


@dataclass(frozen=True)
class Config:
    """Powers of 2 up to the last N of Figure 2b; the paper names none for this figure."""

    top_ns: tuple[int, ...] = (1, 2, 4, 8, 16, 32, 64, 100)
    seed: int = 0


def run(measured: Measured, config: Config) -> pl.DataFrame:
    """FigureRows over N at the longest L."""
    chosen = measured.curves.filter(
        pl.col("length") == measured.length, pl.col("top_n").is_in(config.top_ns)
    )
    return summarise(chosen, MEASURES, config.seed)
