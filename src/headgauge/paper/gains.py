"""Guidelines 2 and 3: what a colder softmax or a length-aware rule changes on the same logits.

N_s/N is compared window by window, head by head, and the interval is that of the differences: the
two curves rise and fall together from window to window, and their own bands would hide a change.
The Jacobian norms are Algorithm 5's limits ε → 0 on the rows drawn for it.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from headgauge.paper import limits
from headgauge.paper.choices import COLD, GUIDELINE_RULES, LENGTH_AWARE, Choice
from headgauge.paper.measured import Measured
from headgauge.paper.summary import bootstrap
from headgauge.runs.paper_schema import GainRow
from headgauge.runs.schema import HEAD, frame_schema

SEPARABILITY, JACOBIAN = "separability", "jacobian"
PAIRS = ((COLD[1], COLD[0]), (LENGTH_AWARE, "model"))


@dataclass(frozen=True)
class Config:
    """The N of the comparison: where the paper says that N_s/N has settled."""

    top_n: int = limits.SETTLED
    seed: int = 0


def run(measured: Measured, choice: Choice, config: Config) -> pl.DataFrame:
    """GainRows at the longest L."""
    found = [_separability(measured, choice, *pair, config) for pair in PAIRS]
    rows = [row for row in (*found, _jacobian(measured, *PAIRS[0])) if row is not None]
    return pl.DataFrame(rows, schema=frame_schema(GainRow))


def _separability(
    measured: Measured, choice: Choice, rule: str, against: str, config: Config
) -> dict[str, Any] | None:
    """The mean difference over heads and windows, and its bootstrap interval over windows."""
    at = measured.curves.filter(length=measured.length, top_n=config.top_n, **vars(choice))
    at = at.drop_nulls("separability").sort("window", *HEAD)
    pair = at.filter(rule=rule).join(at.filter(rule=against), on=["window", *HEAD])
    if pair.is_empty():
        return None
    change = pair["separability"] - pair["separability_right"]
    windows = [
        math.fsum(each["change"]) / len(each)
        for each in pair.with_columns(change=change).partition_by("window", maintain_order=True)
    ]
    low, high = bootstrap(np.array(windows), config.seed)
    return {
        "measure": SEPARABILITY, "rule": rule, "against": against, "top_n": config.top_n,
        "change": math.fsum(windows) / len(windows), "low": low, "high": high,
        "heads": pair.select(HEAD).n_unique(), "windows": len(windows),
        "rows": math.fsum(pair["rows"]) / len(pair),
    }  # fmt: skip


def _jacobian(measured: Measured, rule: str, against: str) -> dict[str, Any] | None:
    """The ratio of the mean norms over heads, on the logarithm. Its interval takes the two means as
    independent; they are of the same rows, so that it is rather too wide."""
    exact = measured.sensitivity.filter(
        pl.col("window") == pl.col("window").min(), logits="scaled", direction="exact"
    )
    temperatures = [GUIDELINE_RULES[name][1]["temperature"] for name in (rule, against)]
    tables = [exact.filter(temperature=t).sort(HEAD) for t in temperatures]
    if any(each.is_empty() for each in tables):
        return None
    means = [math.fsum(each["sensitivity"]) / len(each) for each in tables]
    if min(means) <= 0:
        return None
    variances = [
        math.fsum(spread**2 / rows for spread, rows in each.select("spread", "rows").rows())
        / (len(each) * mean) ** 2
        for each, mean in zip(tables, means, strict=True)
    ]
    ratio, half = means[0] / means[1], 1.96 * math.sqrt(sum(variances))
    return {
        "measure": JACOBIAN, "rule": rule, "against": against, "top_n": None, "change": ratio,
        "low": ratio * math.exp(-half), "high": ratio * math.exp(half), "heads": len(tables[0]),
        "windows": 1, "rows": math.fsum(tables[0]["rows"]) / len(tables[0]),
    }  # fmt: skip
