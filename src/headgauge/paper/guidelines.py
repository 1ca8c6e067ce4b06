"""Guidelines 2 and 3: what goes with a head's separability, and what another rule changes.

Both are about the chosen vectors' N_s/N at N = 16, where the paper says that it has settled.
"""

import math
from typing import Any

import numpy as np
import polars as pl
from scipy import stats

from headgauge.paper.bands import bootstrap, mean
from headgauge.paper.choices import COLD_RULES, GUIDELINE_RULES, LENGTH_AWARE
from headgauge.registry.published import SETTLED
from headgauge.runs.paper_schema import GainRow, SignRow
from headgauge.runs.schema import HEAD, frame_schema

SIGNS = ("entropy_share", "effective_n", "sink_weight", "jacobian_norm")
PAIRS = ((COLD_RULES[1], COLD_RULES[0]), (LENGTH_AWARE, "model"))


def signs(curves: pl.DataFrame, heads: pl.DataFrame) -> pl.DataFrame:
    """SignRows at the longest L: rank correlations over the heads of a model, of N_s/N with what a
    scan measures of a head anyway. `curves` are those of one choice and L."""
    share = curves.filter(rule="model", top_n=SETTLED)
    share = share.group_by(HEAD).agg(pl.col("separability").sort().mean())
    heads = heads.filter(pl.col("length") == curves["length"].max())
    heads = heads.group_by(HEAD).agg(pl.col(SIGNS).sort().mean())
    both = heads.join(share, on=HEAD).sort(HEAD)
    rows = [{"sign": sign} | _correlation(both, sign) for sign in SIGNS]
    return pl.DataFrame(rows, schema=frame_schema(SignRow))


def _correlation(table: pl.DataFrame, sign: str) -> dict[str, float | None]:
    there = table.drop_nulls([sign, "separability"])
    heads = len(there)
    if heads < 4 or there[sign].n_unique() < 2 or there["separability"].n_unique() < 2:
        return {"heads": heads}
    found: Any = stats.spearmanr(there[sign].to_numpy(), there["separability"].to_numpy())
    value = min(1.0, max(-1.0, float(found.statistic)))
    # Fieller's variance for ranks: 1.06/(n − 3).
    middle = math.atanh(max(-1 + 1e-12, min(1 - 1e-12, value)))
    half = 1.96 * math.sqrt(1.06 / (heads - 3))
    low, high = math.tanh(middle - half), math.tanh(middle + half)
    return {"correlation": value, "low": low, "high": high, "heads": heads}


def gains(curves: pl.DataFrame, sensitivity: pl.DataFrame) -> pl.DataFrame:
    """GainRows at the longest L: what a colder softmax or a length-aware rule changes on the same
    logits. `curves` are those of one choice and L."""
    at = curves.filter(top_n=SETTLED).drop_nulls("separability").sort("window", *HEAD)
    rows = [_separability(at, *pair) for pair in PAIRS] + [_jacobian(sensitivity, *PAIRS[0])]
    return pl.DataFrame([row for row in rows if row], schema=frame_schema(GainRow))


def _separability(at: pl.DataFrame, rule: str, against: str) -> dict[str, Any]:
    """The mean difference of N_s/N over heads and windows, and its bootstrap interval over windows.

    It is taken window by window, head by head: the two curves rise and fall together from window to
    window, and their own bands would hide a change.
    """
    pair = at.filter(rule=rule).join(at.filter(rule=against), on=["window", *HEAD])
    if pair.is_empty():
        return {}
    pair = pair.with_columns(change=pl.col("separability") - pl.col("separability_right"))
    windows = [mean(each["change"]) for each in pair.partition_by("window", maintain_order=True)]
    low, high = bootstrap(np.array(windows))
    return {
        "measure": "separability", "rule": rule, "against": against, "top_n": SETTLED,
        "change": mean(windows), "low": low, "high": high,
        "heads": pair.select(HEAD).n_unique(), "windows": len(windows), "rows": mean(pair["rows"]),
    }  # fmt: skip


def _jacobian(sensitivity: pl.DataFrame, rule: str, against: str) -> dict[str, Any]:
    """The ratio of the mean norms over heads (Algorithm 5's limits ε → 0 on the rows drawn for it),
    on the logarithm. Its interval takes the two means as independent; they are of the same rows, so
    that it is rather too wide."""
    exact = sensitivity.filter(
        pl.col("window") == pl.col("window").min(), logits="scaled", direction="exact"
    )
    temperatures = [GUIDELINE_RULES[name][1]["temperature"] for name in (rule, against)]
    tables = [exact.filter(temperature=t).sort(HEAD) for t in temperatures]
    means = [mean(each["sensitivity"]) if len(each) else 0.0 for each in tables]
    if min(means) <= 0:
        return {}
    variances = [
        math.fsum(spread**2 / rows for spread, rows in each.select("spread", "rows").rows())
        / (len(each) * value) ** 2
        for each, value in zip(tables, means, strict=True)
    ]
    ratio, half = means[0] / means[1], 1.96 * math.sqrt(sum(variances))
    return {
        "measure": "jacobian", "rule": rule, "against": against, "change": ratio,
        "low": ratio * math.exp(-half), "high": ratio * math.exp(half), "heads": len(tables[0]),
        "windows": 1, "rows": mean(tables[0]["rows"]),
    }  # fmt: skip
