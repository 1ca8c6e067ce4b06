"""What each head does: the first of a list of lines that its numbers are beyond.

The list begins with what is most special: an induction head rests on the first token wherever
nothing repeats, and looks local on a text, so that what it does on repeated tokens is asked first.
A head that is beyond no line is `mixed`. One whose values could not be seen and that no line names
has no role, because it may rest; neither has one that is not finite.
"""

from collections.abc import Sequence

import polars as pl

from headgauge.runs.schema import HEAD
from headgauge.scanning.thresholds import MIXED, ROLE_LINES, Threshold
from headgauge.scanning.verdicts import NOT_FINITE, at_length, judge, told

_COLUMNS = (
    *(*HEAD, "length", "role", "measure", "what", "number", "threshold", "direction"),
    *("margin", "spread", "flips", "windows", "source"),
)


def roles(
    heads: pl.DataFrame,
    curves: pl.DataFrame,
    lines: Sequence[Threshold] = ROLE_LINES,
    length: int | None = None,
) -> pl.DataFrame:
    """One row per head: its role, the number that gave it and its line.

    A mixed head has the number that comes nearest to its line; `margin`, `spread`, `flips` and
    `error` are as in `verdicts`; `unsure` says that its own number or that of a line before it (of
    a mixed head: of any line) is within the error. Without a role nothing of this is there.
    """
    chosen, heads, curves = at_length(heads, curves, length)
    judged = judge(heads, curves, lines).rename({"verdict": "role"})
    if "unsure" in judged.columns:
        so_far, by_any = pl.col("unsure").cum_max(), pl.col("unsure").any().over(HEAD)
        so_far = so_far.over(HEAD, order_by="place")
        mixed = ~pl.col("holds").any().over(HEAD)
        judged = judged.with_columns(unsure=pl.when(mixed).then(by_any).otherwise(so_far))
    broken = heads.filter(NOT_FINITE).select(HEAD).unique()
    judged = judged.join(broken, on=HEAD, how="anti")
    named = judged.filter("holds").sort("place").unique(HEAD, keep="first", maintain_order=True)
    rest = judged.join(named, on=HEAD, how="anti")
    hidden = rest.filter(pl.col("missing") & ~pl.col("recomputed")).select(HEAD).unique()
    mixed = (
        rest.join(hidden, on=HEAD, how="anti")
        .filter(pl.col("number").is_not_null())
        .sort("margin", descending=True, maintain_order=True)
        .unique(HEAD, keep="first", maintain_order=True)
        .with_columns(role=pl.lit(MIXED))
    )
    found = pl.concat([named, mixed])
    found = found.select(told(_COLUMNS, found))
    everyone = heads.select(*HEAD).unique().with_columns(length=pl.lit(chosen, pl.Int64))
    joined = everyone.join(found.drop("length"), on=HEAD, how="left")
    return joined.select(found.columns).sort(HEAD)
