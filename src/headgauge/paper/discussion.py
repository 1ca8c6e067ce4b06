"""Discussion and Guidelines 2 and 3: what several heads cover, what other rules change.

Do three heads cover what one misses? Heads select different tokens, so what they cover "together"
needs one set that all are asked for: the N tokens with the largest mean weight over the heads of a
layer. Each head separates some of them with its own weights; the union over sets of H heads stands
beside what independent heads would cover.

What goes with a head's separability, and what does another rule change? Both are about the chosen
vectors' N_s/N at N = 16, where the paper says that it has settled.
"""

import math
from typing import Any

import numpy as np
import polars as pl
import torch
from scipy import stats
from torch import Tensor

from headgauge import models
from headgauge.measure.requests import Probe, Together, Vectors, spread_rows
from headgauge.paper.bands import bootstrap, mean
from headgauge.paper.choices import COLD_RULES, LENGTH_AWARE, Choice, asked_rule
from headgauge.registry.published import SETTLED
from headgauge.runs.paper_schema import paper_frame
from headgauge.runs.schema import HEAD
from headgauge.theory.normalization import coverage as theory
from headgauge.theory.normalization.selection import top_n
from headgauge.theory.normalization.separability import distinguishable

TOP_N = 16
HEADS = (1, 2, 3, 4)  # together
SIGNS = ("entropy_share", "effective_n", "sink_weight", "jacobian_norm")
PAIRS = ((COLD_RULES[1], COLD_RULES[0]), (LENGTH_AWARE, "model"))


def coverage_probe(choice: Choice, rows: int, n: int = TOP_N) -> Probe:
    """Which of a layer's common tokens one head separates, in some query rows."""

    def draw(call: models.ObservedCall) -> tuple[np.ndarray, models.DrawnRows]:
        places = spread_rows(0, call.queries, call.queries, rows)
        return places, call.drawn(range(call.heads), torch.from_numpy(places)).cpu()

    drawn = Together(draw)

    def measure(head: Any, vectors: Vectors) -> list[dict[str, Any]]:
        found = vectors(choice.vectors)
        if found is None:
            return []
        x = choice.scaled(found)
        places, together = drawn.of(head.call)
        return [
            head.where | {"row": row, "key": key, "top_n": n, "separable": separable}
            for at, row in enumerate(places.tolist())
            for key, separable in _shared(together, head.head, at, x, choice, n)
        ]

    return Probe("shared_tokens", "coverage", (choice.vectors,), measure)


def _shared(
    drawn: models.DrawnRows, head: int, at: int, x: Tensor, choice: Choice, n: int
) -> list[tuple[int, bool]]:
    """The common tokens of a row, and whether this head separates them."""
    keys, reach = len(x), drawn.weights.shape[-1]
    weights, seen = torch.zeros(2, keys, dtype=x.dtype), torch.zeros(keys, dtype=torch.bool)
    weights[0, :reach], seen[:reach] = drawn.weights[head, at], drawn.visible[head, at]
    weights[1, :reach] = drawn.weights[:, at].double().mean(0)  # that of a layer's heads
    if int(seen.sum()) <= n:
        return []
    if choice.keys == "visible":
        weights, x = weights[:, seen], x[seen]
    places = seen.nonzero()[:, 0] if choice.keys == "visible" else torch.arange(keys)
    selected = top_n(weights[1], n)
    inside = distinguishable(weights[0], x, selected)
    return [(int(places[at]), bool(inside[at])) for at in selected.nonzero()[:, 0]]


def coverage(table: pl.DataFrame) -> pl.DataFrame:
    """CoverageRows: by the number of heads, means over layers and rows."""
    found, layers, rows = [], set(), []
    by = ("layer", "occurrence", "module", "row")
    for (*layer, row), tokens in table.group_by(by, maintain_order=True):
        sets = tokens.sort("key", "head").partition_by("key", maintain_order=True)
        if len({len(each) for each in sets}) != 1:  # heads that see other keys ask for other tokens
            continue
        separable = torch.tensor([each["separable"].to_list() for each in sets]).T
        layers.add(tuple(layer))
        for h in HEADS[: len(separable)]:
            pair = theory.shared_coverage(separable, h), theory.independent_coverage(separable, h)
            found.append((h, row, *map(float, pair)))
    by_layer = pl.DataFrame(found, ("heads", "row", "covered", "independent"), orient="row")
    for here in by_layer.partition_by("heads", maintain_order=True):
        h = here["heads"][0]
        means = [mean(each["covered"]) for each in here.partition_by("row", maintain_order=True)]
        low, high = _student(means)
        one = mean(here["covered"]) if h == 1 else rows[0]["separable"]
        rows.append(
            {
                "top_n": table["top_n"][0],
                "heads": h,
                "covered": mean(means),
                "low": low,
                "high": high,
                "separable": one,
                "independent": mean(here["independent"]),
                "formula": theory.multi_head_coverage(one, h),
                "layers": len(layers),
                "rows": len(means),
            }
        )
    return paper_frame("coverage", rows)


def _student(shares: list[float]) -> tuple[float | None, float | None]:
    """The 95 % interval of a mean over few rows, by Student's t."""
    if len(shares) < 2:
        return None, None
    wide = float(stats.t.ppf(0.975, len(shares) - 1))
    half = wide * float(np.std(shares, ddof=1)) / math.sqrt(len(shares))
    return max(0.0, mean(shares) - half), min(1.0, mean(shares) + half)


def signs(curves: pl.DataFrame, heads: pl.DataFrame) -> pl.DataFrame:
    """SignRows at the longest L: rank correlations over the heads of a model, of N_s/N with what a
    scan measures of a head anyway. `curves` are those of one choice and L."""
    share = curves.filter(rule="model", top_n=SETTLED)
    share = share.group_by(HEAD).agg(pl.col("separability").sort().mean())
    heads = heads.filter(pl.col("length") == curves["length"].max())
    heads = heads.group_by(HEAD).agg(pl.col(SIGNS).sort().mean())
    both = heads.join(share, on=HEAD).sort(HEAD)
    rows = [{"sign": sign} | _correlation(both, sign) for sign in SIGNS]
    return paper_frame("signs", rows)


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
    return paper_frame("gains", [row for row in rows if row])


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
    temperatures = [asked_rule(name).parameters["temperature"] for name in (rule, against)]
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
