"""The verdicts by head, by layer and in total."""

import math
from collections.abc import Iterable, Sequence

import polars as pl
import polars.selectors as cs

from headgauge.errors import InputError
from headgauge.measure.effects import standard_error
from headgauge.registry.measures import BY_LARGEST
from headgauge.registry.published import CHOICE
from headgauge.runs.columns import error_of
from headgauge.runs.schema import HEAD, UNIT
from headgauge.scanning.roles import roles
from headgauge.scanning.thresholds import (
    DEFAULT,
    DESCRIBES,
    HEALTHY,
    INCOMPLETE,
    ROLE_LINES,
    VERDICTS,
    Threshold,
)
from headgauge.scanning.verdicts import (
    NOT_FINITE,
    at_length,
    derived,
    is_sampled,
    judge,
    near_a_line,
    over_windows_error,
)

LAYER = HEAD[:-1]
# What a head is worth, the best known first: measured, or how much it adds.
WORTH = ("effect", "contribution", "output_ratio")
# Entropy says little without the sink weight and the output beside it.
NUMBERS = (
    *("entropy", "entropy_share", "rest_entropy_share", "effective_n", "sink_weight"),
    *("separability", "jacobian_norm", "max_logit", "output_ratio", "contribution", "effect"),
)
GUESSING = 0.97  # of log(vocabulary): no trained model's loss on prose comes near it
_FIRST = ("length", "role", "verdicts", "severity")
_ALL = (*VERDICTS, INCOMPLETE, HEALTHY)


def head_table(
    heads: pl.DataFrame,
    curves: pl.DataFrame,
    verdicts: pl.DataFrame,
    thresholds: Sequence[Threshold] = DEFAULT,
    role_lines: Sequence[Threshold] = ROLE_LINES,
) -> pl.DataFrame:
    """One row per head, the worst first.

    The numbers are means over the windows at the length of the verdicts (the largest logit: the
    largest); separability is that of the threshold for `saturated`; `effect_error` is the standard
    error of the effect over the windows, null with one. `severity` is the sum of the
    margins of the verdicts that hold and are a fault, 0 without one; `flips` the worst of the
    head's rows, `holds_up_to` the largest N before a verdict on a curve holds. Where only some rows
    were measured, each mean has its sampling error beside it, and `unsure` says that a number of
    the head lies within two of them of its threshold, whether it has that verdict or not.
    """
    at = verdicts.select(*HEAD, "length").unique()
    bad = pl.col("verdict").is_in([name for name in VERDICTS if name not in DESCRIBES])
    judged = verdicts.group_by(*HEAD).agg(
        pl.col("length").first(),
        pl.col("verdict").str.join(", ").alias("verdicts"),
        pl.col("margin").filter(bad).sum().alias("severity"),
        pl.col("flips", "holds_up_to").max(),
        (pl.col("verdict") == HEALTHY).any().alias("well"),
    )
    length, own, own_curves = at_length(heads, curves, at["length"].item(0))
    if is_sampled(heads):
        near = near_a_line(judge(own, own_curves, thresholds))
        judged = judged.join(near, on=HEAD, how="left")
    named = roles(heads, curves, role_lines, length)
    saturated = next((t for t in thresholds if t.measure == "separability"), None)
    chosen = curves.clear() if saturated is None else curves.filter(**saturated.choice)
    shares = heads.with_columns(**derived(heads))
    measured, separability = (
        _over_windows(table.join(at, on=at.columns, how="semi"), HEAD) for table in (shares, chosen)
    )
    errors = (
        heads.join(at, on=at.columns, how="semi")
        .group_by(HEAD)
        .agg(standard_error("effect").alias("effect_error"))
    )
    separable = separability.select(*HEAD, cs.matches("^separability(_error)?$"))
    table = (
        judged.join(measured.drop("rows"), on=HEAD, how="left")
        .join(separable, on=HEAD, how="left")
        .join(named.select(*HEAD, "role"), on=HEAD, how="left")
        .join(errors, on=HEAD, how="left")
        .sort("severity", "well", *HEAD, descending=[True] + [False] * (1 + len(HEAD)))
    )
    beside = [each for name in NUMBERS for each in (name, error_of(name))]
    wanted = (*HEAD, *_FIRST, *beside, "flips", "holds_up_to", "unsure")
    return table.select(name for name in wanted if name in table.columns)


def worst_first(table: pl.DataFrame) -> tuple[pl.DataFrame, str]:
    """A table of heads by what matters, and which column says so: heads with a fault first, those
    that are worth most on top, because there a fault costs most."""
    by = next((name for name in WORTH if table[name].is_not_null().any()), WORTH[-1])
    down = {"descending": True, "nulls_last": True, "maintain_order": True}
    return table.sort(pl.col("severity") > 0, by, **down), by


def layer_summary(head_table: pl.DataFrame) -> pl.DataFrame:
    """One row per attention module: its heads, the mean of each number, the heads per verdict."""
    names = pl.col("verdicts").str.split(", ")
    return (
        head_table.group_by(*LAYER, "length")
        .agg(
            pl.len().cast(pl.Int64).alias("heads"),
            *_overall(NUMBERS),
            *(names.list.contains(verdict).sum().cast(pl.Int64).alias(verdict) for verdict in _ALL),
        )
        .sort(*LAYER)
    )


def counts(
    judged: pl.DataFrame, column: str = "verdict", words: Sequence[str] = _ALL
) -> pl.DataFrame:
    """How many heads each verdict (or role) names, their share of all, and how many flip in some
    window."""
    total = judged.select(HEAD).n_unique()
    if total == 0:
        raise InputError(f"no {column}s to count: the table is empty")
    found = judged.group_by(column).agg(
        pl.len().cast(pl.Int64).alias("heads"),
        (pl.col("flips") > 0).sum().cast(pl.Int64).alias("flipping"),
    )
    return (
        pl.DataFrame({column: words})
        .join(found, on=column, how="left", maintain_order="left")
        .with_columns(pl.col("heads", "flipping").fill_null(0))
        .select(column, "heads", (pl.col("heads") / total).alias("share"), "flipping")
    )


def not_finite(heads: pl.DataFrame) -> str | None:
    """Where NaN or infinity begins, if it does: what comes after it has nothing else."""
    broken = heads.filter(NOT_FINITE).select(HEAD).unique().sort(HEAD)
    if broken.is_empty():
        return None
    layer, module = broken.row(0)[0], broken["module"][0]
    named = broken.filter(layer=layer, module=module)["head"].unique().sort()
    there = heads.filter(layer=layer, module=module)["head"].n_unique()
    which = f"head{'s' * (len(named) > 1)} {', '.join(map(str, named))}"
    later = broken["layer"].n_unique() - 1
    after = f" and {later} layer{'s' * (later > 1)} after it" if later else ""
    return (
        f"not finite: NaN or infinity in layer {layer} ({module}), "
        f"{'all heads' if len(named) == there else which}{after}: look for it in the weights of "
        "that layer and the one before; these heads have no numbers and no verdict"
    )


def guessing(losses: Sequence[float], words: int | None) -> str | None:
    """Why nothing is a result, if these losses are those of guessing among so many words."""
    if not words or not losses or not all(map(math.isfinite, losses)):
        return None
    if min(losses) < GUESSING * math.log(words):
        return None
    return (
        f"random weights: a loss of {min(losses):.2f} nats is that of guessing among {words} "
        "tokens, so the model is untrained or its weights were not read, and nothing here is "
        "a result"
    )


def heads_over_windows(heads: pl.DataFrame) -> pl.DataFrame:
    """One row per length and head: its measures over the windows."""
    return _over_windows(heads, [*HEAD, "length"], "kv_head")


def curves_over_windows(curves: pl.DataFrame) -> pl.DataFrame:
    """One row per length, head, choice, rule and N: its measures over the windows."""
    by = [*HEAD, "length", *CHOICE, *(("rule",) if "rule" in curves.columns else ()), "top_n"]
    return _over_windows(curves, by)


def spans_over_windows(spans: pl.DataFrame) -> pl.DataFrame:
    """One row per length, span and head: its measures over the windows that have the span."""
    return _over_windows(spans, ["kind", "span", *HEAD, "length"])


def depth_over_windows(depth: pl.DataFrame) -> pl.DataFrame:
    """One row per layer: its measures over the windows, and the least and the most of each."""
    means = _over_windows(depth, ["layer"], "module", "scheme").sort("layer")
    ends = depth.group_by("layer").agg(
        cs.float().min().name.suffix("_least"), cs.float().max().name.suffix("_most")
    )
    return means.join(ends, on="layer", maintain_order="left")


def _over_windows(table: pl.DataFrame, by: Sequence[str], *firsts: str) -> pl.DataFrame:
    """The mean of each number (of the largest logit: the largest), and its sampling error; of
    `firsts` the first."""
    numbers = table.select(cs.numeric() - cs.by_name(*by, *firsts, *UNIT, require_all=False))
    return (
        table.with_columns(cs.float().fill_nan(None))
        .group_by(by, maintain_order=True)
        .agg(*(pl.first(name) for name in firsts), *_overall(numbers.columns))
    )


def _overall(names: Iterable[str]) -> list[pl.Expr]:
    return [_of_all(name) for name in names]


def _of_all(name: str) -> pl.Expr:
    if name.endswith(error_of("")):
        return over_windows_error(name, name.removesuffix(error_of("")))
    return pl.max(name) if name in BY_LARGEST else pl.mean(name)
