"""What is wrong with which head: the numbers of the tables against the thresholds.

A head is judged on the mean of its windows (its largest logit: on the largest of them), at one
length. Several verdicts may hold at once. `healthy` means that none holds and that everything
needed was seen; where something was not, the head is `incomplete` beside the verdicts it has. A
head that is not finite in some window is `incomplete` and nothing else.

Entropy alone cannot tell a flat head from one that parks its weight on the first token and is flat
on what is left. With a the sink weight, h(a) = −a log a − (1−a) log(1−a) and H = h(a) +
(1−a) H_rest, so `rest_entropy_share` is (H/log n − h(a)/log n)/(1−a). From means over rows it is a
lower estimate of the mean of H_rest/log n weighted with 1−a, because h is concave.

A sink is told by what it carries: a weight a on a first token whose value is c times as long as
the median adds a vector of a·c such lengths to every row (`sink_carry`); what it falls short of a
(`idle_weight`, a·(1 − c)) does nothing. The first token's share of the head's own output cannot
tell the two apart, because it nears 1 in a head that rests altogether.

Where only some rows were measured every mean has its sampling error, and a number within two of
them of its threshold is told as `unsure`, also where too few rows have it for an error.
"""

from collections.abc import Sequence
from typing import Any

import polars as pl

from headgauge.errors import InputError
from headgauge.registry.measures import BY_LARGEST
from headgauge.runs.columns import error_of
from headgauge.runs.schema import HEAD, UNIT
from headgauge.scanning.thresholds import (
    DEFAULT,
    HEALTHY,
    INCOMPLETE,
    VERDICTS,
    Threshold,
    beyond,
    threshold_table,
)

# Where less than this is off the sink, nothing is left that could be diffuse.
LEAST_REST = 0.1
# A margin is a ratio; this keeps a head whose output is zero comparable with the others.
LARGEST_MARGIN = 100.0
# Every head has an entropy, if it has any number.
NOT_FINITE = pl.col("entropy").is_null()
_ORDER = (*VERDICTS, HEALTHY, INCOMPLETE)
# `what` is the measure with its choice of N, vectors and keys.
_COLUMNS = (
    *(*HEAD, "length", "verdict", "measure", "what", "number", "threshold", "direction"),
    *("margin", "spread", "flips", "windows", "holds_up_to", "source", "remedy"),
)
# Beside them where the numbers have sampling errors.
SAMPLED = ("error", "unsure")
_SURE = 2.0  # sampling errors
_NOT_FINITE = {
    "source": "not finite",
    "remedy": "Look for NaN and infinity in the weights of its layer and the one before.",
}
_NOT_SEEN = {
    "source": "not measured",
    "remedy": "Use windows longer than N, and a model whose queries, keys and values can be "
    "recomputed.",
}


def verdicts(
    heads: pl.DataFrame,
    curves: pl.DataFrame,
    thresholds: Sequence[Threshold] = DEFAULT,
    length: int | None = None,
) -> pl.DataFrame:
    """One row per head and verdict that holds, and one per healthy or incomplete head.

    Judged at `length`, by default the longest in the tables. `margin` is number/threshold or its
    inverse, whichever exceeds 1 beyond the threshold; a healthy head has that of the verdict it is
    nearest to. `spread` is the standard deviation over the windows, `flips` the share of windows
    whose own number gives the other answer (of a healthy head: the worst of its measures); both
    are null for one window. `holds_up_to` is the largest N measured up to which a verdict on a
    curve does not hold; null where it holds from the first N on, or belongs to no N.

    Where only some rows were measured, `error` is the number's sampling error, and `unsure` says
    that it lies within two of them of the threshold, or has none (of a healthy head: that one of
    its numbers does; `near_a_line` asks this of every head). A largest logit is never unsure: that
    of the measured rows is a lower bound of it.
    """
    _, heads, curves = at_length(heads, curves, length)
    judged = judge(heads, curves, thresholds)
    broken = heads.filter(NOT_FINITE).select(HEAD).unique()
    named = (
        judged.filter("holds")
        .join(broken, on=HEAD, how="anti")
        .sort(*HEAD, "verdict", "margin", "place", descending=[False] * 5 + [True, False])
        .unique([*HEAD, "verdict"], keep="first", maintain_order=True)
        .join(_holds_up_to(curves, thresholds), on=[*HEAD, "place"], how="left")
    )
    rest = judged.join(named, on=[*HEAD, "verdict"], how="anti")
    incomplete = _incomplete(rest, broken)
    well = rest.join(named, on=HEAD, how="anti").join(incomplete, on=HEAD, how="anti")
    rows = pl.concat([named, incomplete, _healthy(well)], how="diagonal_relaxed")
    order = pl.col("verdict").replace_strict({name: i for i, name in enumerate(_ORDER)})
    return rows.sort(*HEAD, order).select(told(_COLUMNS, rows))


def near_a_line(judged: pl.DataFrame) -> pl.DataFrame:
    """Each head of what `judge` gives, and whether any of its numbers is `unsure`: also one that
    it has no verdict by, or a second one of a verdict it has."""
    return judged.group_by(HEAD).agg(pl.col("unsure").any())


def told(columns: Sequence[str], rows: pl.DataFrame) -> list[str]:
    """Which columns a table of verdicts or roles has."""
    return [*columns, *(name for name in SAMPLED if name in rows.columns)]


def at_length(
    heads: pl.DataFrame, curves: pl.DataFrame, length: int | None
) -> tuple[int, pl.DataFrame, pl.DataFrame]:
    """The length that is judged, by default the longest, and the tables at it."""
    there = sorted(heads["length"].unique().to_list())
    if not there:
        raise InputError("the table of heads is empty, so there is nothing to judge")
    chosen = there[-1] if length is None else length
    if chosen not in there:
        raise InputError(f"no length {chosen} in the tables, only {', '.join(map(str, there))}")
    return chosen, heads.filter(length=chosen), curves.filter(length=chosen)


def judge(
    heads: pl.DataFrame, curves: pl.DataFrame, thresholds: Sequence[Threshold]
) -> pl.DataFrame:
    """One row per head and threshold at a single length, whether it holds or not.

    `missing` says that the number is needed and was not seen. A choice of vectors, keys or N that
    the run was not asked for is not needed (`not_judged` tells), unless the head's values are
    unseen: then nobody could have asked.
    """
    asked = pl.Series("asked", [_asked(curves, threshold) for threshold in thresholds])
    table = threshold_table(thresholds).with_columns(asked)
    measures = [(threshold.measure, threshold.choice) for threshold in thresholds]
    return over_windows(numbers(heads, curves, measures).join(table, on="place"), table.columns)


def over_windows(per_window: pl.DataFrame, threshold: Sequence[str]) -> pl.DataFrame:
    """What `judge` gives, from `numbers` beside the columns of their `threshold`."""
    mean, largest = pl.col("number").mean(), pl.col("number").max()
    overall = pl.when(pl.col("measure").is_in(BY_LARGEST)).then(largest).otherwise(mean)
    per_window = per_window.with_columns(overall=overall.over(*HEAD, "place"))
    changes = (beyond("number") != beyond("overall")).mean()
    errors: list[pl.Expr] = []
    unsure: list[pl.Expr] = []
    if "error" in per_window.columns:
        errors = [over_windows_error("error", "number"), pl.col("sampled").first()]
        away = (pl.col("number") - pl.col("threshold")).abs() <= _SURE * pl.col("error")
        unsure = [pl.col("sampled") & away.fill_null(True) & pl.col("number").is_not_null()]
    ratio = pl.col("number") / pl.col("threshold")
    oriented = pl.when(pl.col("direction") == "above").then(ratio).otherwise(1 / ratio)
    return (
        per_window.group_by(*HEAD, "length", *threshold)
        .agg(
            pl.col("overall").first().alias("number"),
            pl.col("number").std().alias("spread"),
            pl.when(pl.col("number").count() > 1).then(changes).alias("flips"),
            pl.col("number").count().cast(pl.Int64).alias("windows"),
            (pl.col("seen") == "qkv").all().alias("recomputed"),
            *errors,
        )
        .with_columns(
            *(each.alias("unsure") for each in unsure),
            holds=beyond("number").fill_null(False),
            margin=oriented.clip(0.0, LARGEST_MARGIN),
            missing=pl.col("number").is_null() & (pl.col("asked") | ~pl.col("recomputed")),
        )
        .sort(*HEAD, "place")
    )


def over_windows_error(column: str, number: str) -> pl.Expr:
    """The sampling error of a number's mean over windows from theirs, which are independent:
    √(Σ e²)/W over the W that have a number; null where one of these has no error."""
    there = pl.col(number).is_not_null()
    own = pl.col(column).filter(there)
    error = ((own**2).sum().sqrt() / there.sum()).fill_nan(None)
    return pl.when(own.null_count() == 0).then(error).alias(column)


def numbers(
    heads: pl.DataFrame, curves: pl.DataFrame, measures: Sequence[tuple[str, dict[str, Any]]]
) -> pl.DataFrame:
    """One row per window, head and measure (by its `place`) with its `number`, null if unseen.

    A measure is a column of the heads, or of the curves with the choice that picks their rows. Of
    a run that measured some of the rows also its sampling `error`, null for what has none, and
    whether it is `sampled`: a mean over these rows.
    """
    units, sampled = [*HEAD, *UNIT], is_sampled(heads)
    heads = heads.with_columns(**derived(heads))
    parts = []
    for place, (measure, choice) in enumerate(measures):
        part = heads
        if choice:
            chosen = curves.filter(**choice).select(pl.col(*units), pl.col(f"^{measure}(_error)?$"))
            part = heads.select(*units, "seen").join(chosen, on=units, how="left")
        known = {"number": pl.col(measure).cast(pl.Float64).fill_nan(None)}
        if sampled:
            has = (error := error_of(measure)) in part.columns
            known["error"] = pl.col(error).fill_nan(None) if has else pl.lit(None, pl.Float64)
            known["sampled"] = pl.lit(has)
        parts.append(part.select(*units, "seen", place=pl.lit(place, pl.Int64), **known))
    return pl.concat(parts)


def is_sampled(heads: pl.DataFrame) -> bool:
    """Whether only some of the query rows were measured."""
    return error_of("entropy") in heads.columns


def derived(heads: pl.DataFrame) -> dict[str, pl.Expr]:
    """What heads are judged by that follows from the columns of their table, with its sampling
    errors where those have theirs.

    That of `rest_entropy_share` is how far it moves if entropy, share and sink weight all move by
    their own: no less than its standard error, however they go together.
    """
    entropy, share = pl.col("entropy"), pl.col("entropy_share")
    sink, ratio = pl.col("sink_weight"), pl.col("first_value_ratio")
    of = _rest_share(entropy, share, sink)
    idle = 1 - ratio.clip(0.0, 1.0)
    found = {"rest_entropy_share": of, "idle_weight": sink * idle, "sink_carry": sink * ratio}
    if is_sampled(heads):
        e, s, w = (pl.col(error_of(each)) for each in ("entropy", "entropy_share", "sink_weight"))
        moved = ((entropy + e, share, sink), (entropy, share + s, sink), (entropy, share, sink + w))
        away = [(_rest_share(*each) - of).abs() for each in moved]
        found[error_of("rest_entropy_share")] = away[0] + away[1] + away[2]
        found[error_of("idle_weight")] = w * idle
        found[error_of("sink_carry")] = w * ratio
    return found


def rest_entropy_share() -> pl.Expr:
    """The share H/log n of the weight that is not on the first token; 0 where too little is."""
    return _rest_share(pl.col("entropy"), pl.col("entropy_share"), pl.col("sink_weight"))


def _rest_share(entropy: pl.Expr, share: pl.Expr, sink: pl.Expr) -> pl.Expr:
    sink = sink.clip(0.0, 1.0)
    rest = 1 - sink
    log_n = entropy / share
    parting = -(sink * sink.log()).fill_nan(0.0) - (rest * rest.log()).fill_nan(0.0)
    spread = ((share - parting / log_n) / rest).clip(0.0, 1.0)
    nothing = (rest < LEAST_REST) | (share <= 0)
    return pl.when(share.is_null()).then(None).when(nothing).then(0.0).otherwise(spread)


def not_judged(curves: pl.DataFrame, thresholds: Sequence[Threshold] = DEFAULT) -> list[str]:
    """One line per threshold on a choice that the run did not measure."""
    return [
        f"{threshold.verdict} is not judged by {threshold.what}: the run did not measure it"
        for threshold in thresholds
        if not _asked(curves, threshold)
    ]


def _asked(curves: pl.DataFrame, threshold: Threshold) -> bool:
    return not threshold.choice or not curves.filter(**threshold.choice).is_empty()


def _holds_up_to(curves: pl.DataFrame, thresholds: Sequence[Threshold]) -> pl.DataFrame:
    """By head and threshold on a curve the largest N before the mean over windows is beyond it."""
    schema = {name: curves.schema[name] for name in HEAD}
    parts = [pl.DataFrame(schema=schema | {"place": pl.Int64, "holds_up_to": pl.Int64})]
    for place, threshold in enumerate(thresholds):
        choice = {name: value for name, value in threshold.choice.items() if name != "top_n"}
        if not choice:
            continue
        crossed = beyond("number").fill_null(True).cum_max().over(HEAD, order_by="top_n")
        means = curves.filter(**choice).group_by(*HEAD, "top_n")
        parts.append(
            means.agg(number=pl.col(threshold.measure).fill_nan(None).mean())
            .with_columns(threshold=threshold.value, direction=pl.lit(threshold.direction))
            .filter(~crossed)
            .group_by(HEAD)
            .agg(place=pl.lit(place, pl.Int64).first(), holds_up_to=pl.max("top_n"))
        )
    return pl.concat(parts)


def _incomplete(rest: pl.DataFrame, broken: pl.DataFrame) -> pl.DataFrame:
    """Heads with an unseen number of a verdict that no other number gave them."""
    why = {
        name: pl.when("broken").then(pl.lit(_NOT_FINITE[name])).otherwise(pl.lit(said))
        for name, said in _NOT_SEEN.items()
    }
    return (
        rest.join(broken.with_columns(broken=True), on=HEAD, how="left", maintain_order="left")
        .filter(pl.col("missing") | pl.col("broken"))
        .group_by(*HEAD, "length", "broken", maintain_order=True)
        .agg(pl.col("what").sort_by("place").str.join(", ").alias("measure"))
        .with_columns(verdict=pl.lit(INCOMPLETE), **why)
        .drop("broken")
    )


def _healthy(well: pl.DataFrame) -> pl.DataFrame:
    """Heads of which every needed number was seen and none is beyond its threshold."""
    names = pl.col("verdict").sort_by("place").unique(maintain_order=True).str.join(", ")
    return (
        well.filter(pl.col("number").is_not_null())
        .group_by(*HEAD, "length", maintain_order=True)
        .agg(
            pl.col("margin", "flips").max(),
            *(pl.col(name).any() for name in ("unsure",) if name in well.columns),
            pl.col("windows").min(),
            (pl.lit("none of: ") + names).alias("source"),
        )
        .with_columns(verdict=pl.lit(HEALTHY), remedy=pl.lit("Leave it alone."))
    )
