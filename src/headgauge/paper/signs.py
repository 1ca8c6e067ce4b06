"""Guideline 2: which measures of a head go with its separability?

Rank correlations over the heads of a model, of the chosen vectors' N_s/N at N = 16 with what a scan
measures of a head anyway.
"""

import math
from typing import Any

import polars as pl
from scipy import stats

from headgauge.paper import limits
from headgauge.paper.measured import Measured
from headgauge.runs.paper_schema import SignRow
from headgauge.runs.schema import HEAD, frame_schema

SIGNS = ("entropy_share", "effective_n", "sink_weight", "jacobian_norm")


def run(measured: Measured, choice: dict[str, str]) -> pl.DataFrame:
    """SignRows at the longest L."""
    wanted = choice | {"rule": "model", "top_n": limits.SETTLED, "length": measured.length}
    share = measured.curves.filter(**wanted)
    share = share.group_by(HEAD).agg(pl.col("separability").sort().mean())
    heads = measured.heads.filter(length=measured.length)
    heads = heads.group_by(HEAD).agg(pl.col(SIGNS).sort().mean())
    both = heads.join(share, on=HEAD).sort(HEAD)
    rows = [{"sign": sign} | _correlation(both, sign) for sign in SIGNS]
    return pl.DataFrame(rows, schema=frame_schema(SignRow))


def _correlation(table: pl.DataFrame, sign: str) -> dict[str, float | None]:
    there = table.drop_nulls([sign, "separability"])
    heads = len(there)
    flat = heads < 4 or there[sign].n_unique() < 2 or there["separability"].n_unique() < 2
    if flat:
        return {"correlation": None, "low": None, "high": None, "heads": heads}
    found: Any = stats.spearmanr(there[sign].to_numpy(), there["separability"].to_numpy())
    value = min(1.0, max(-1.0, float(found.statistic)))
    # Fieller's variance for ranks: 1.06/(n − 3).
    middle = math.atanh(max(-1 + 1e-12, min(1 - 1e-12, value)))
    half = 1.96 * math.sqrt(1.06 / (heads - 3))
    low, high = math.tanh(middle - half), math.tanh(middle + half)
    return {"correlation": value, "low": low, "high": high, "heads": heads}
