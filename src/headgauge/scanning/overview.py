"""What a reader asks first: what was found, what to do about it, which heads are like this one."""

import numpy as np
import polars as pl
from jaxtyping import Float

from headgauge.registry.names import head_name, listed
from headgauge.runs.schema import HEAD
from headgauge.scanning.summary import LAYER
from headgauge.scanning.thresholds import HEALTHY, INCOMPLETE, VERDICTS

# Entropy and effective N say at one length what the entropy share says.
COMPARED = (
    *("entropy_share", "rest_entropy_share", "sink_weight", "separability"),
    *("jacobian_norm", "max_logit", "output_ratio"),
)
MOST_NAMED = 3  # heads in a sentence or a cell


def remedies(verdicts: pl.DataFrame, heads: pl.DataFrame) -> pl.DataFrame:
    """One row per verdict and measure that name a head: where given, what to do, how many `heads`
    and which `share` of all. What is not seen may be another measure in each: one row has all.

    `farthest` has the names of the heads farthest beyond the threshold, `numbers` their own ones;
    `least_n` and `most_n` are the ends of `holds_up_to`. `effect` is the median of the heads with
    the verdict, `others_effect` that of the other heads of their layers, from the table of `heads`:
    null where no effects were measured, or no head is left to compare with.
    """
    names = pl.Series("name", named(verdicts), dtype=pl.String)
    order = [*VERDICTS, INCOMPLETE, HEALTHY]
    said = ("what", "direction", "threshold", "source", "remedy")
    judged = pl.when(pl.col("threshold").is_not_null()).then("measure")
    return (
        verdicts.with_columns(names, measure=judged)
        .sort("margin", descending=True, nulls_last=True, maintain_order=True)
        .group_by("verdict", "measure", maintain_order=True)
        .agg(
            pl.len().cast(pl.Int64).alias("heads"),
            *(pl.first(each) for each in said),
            share=pl.len() / verdicts.select(HEAD).n_unique(),
            farthest=pl.col("name").head(MOST_NAMED),
            numbers=pl.col("number").head(MOST_NAMED),
            least_n=pl.min("holds_up_to"),
            most_n=pl.max("holds_up_to"),
        )
        .sort(
            pl.col("verdict").replace_strict({each: i for i, each in enumerate(order)}), "measure"
        )
        .join(_worth(verdicts, heads), on="verdict", how="left", maintain_order="left")
    )


def _worth(verdicts: pl.DataFrame, heads: pl.DataFrame) -> pl.DataFrame:
    """By verdict the median effect of its heads, and of the others of the same layers."""
    found = {"verdict": [], "effect": [], "others_effect": []}
    for (name,), own in verdicts.group_by("verdict", maintain_order=True):
        beside = heads.join(own, on=LAYER, how="semi")
        found["verdict"].append(name)
        found["effect"].append(heads.join(own, on=HEAD, how="semi")["effect"].median())
        found["others_effect"].append(beside.join(own, on=HEAD, how="anti")["effect"].median())
    kinds = {"verdict": pl.String, "effect": pl.Float64, "others_effect": pl.Float64}
    return pl.DataFrame(found, schema=kinds)


def named(heads: pl.DataFrame) -> list[str]:
    """Each row's head as L18H7."""
    return [head_name(*row) for row in heads.select("layer", "occurrence", "head").rows()]


def similar(heads: pl.DataFrame, count: int = 5) -> list[list[int]]:
    """For each row of a table of heads the rows nearest to it, the nearest first.

    The distance is the root mean square of the differences in `COMPARED`, each in its standard
    deviations over all heads, over the measures that both heads have; without one they are not
    compared. A measure that does not vary tells no heads apart.
    """
    values = heads.select(pl.col(COMPARED).cast(pl.Float64).fill_nan(None))
    spread = pl.when(pl.all().std() > 0).then(pl.all().std())
    scaled: Float[np.ndarray, "heads measures"] = values.select(pl.all() / spread).to_numpy()
    found = []
    for place, row in enumerate(scaled):
        squares = (scaled - row) ** 2
        both = (~np.isnan(squares)).sum(1)
        far = np.where(both > 0, np.nansum(squares, 1) / np.maximum(both, 1), np.inf)
        far[place] = np.inf
        nearest = np.argsort(far, kind="stable")[:count]
        found.append([int(each) for each in nearest if np.isfinite(far[each])])
    return found


def finding(
    heads: pl.DataFrame,
    counts: pl.DataFrame,
    verdicts: pl.DataFrame,
    ahead: tuple[int, pl.DataFrame] | None = None,
) -> str:
    """A paragraph from a scan's table of heads, its counts and verdicts; `ahead` is an outlook
    with its length."""
    there = {name: heads for name, heads in counts.select("verdict", "heads").rows() if heads}
    faults = {name: count for name, count in there.items() if name in VERDICTS}
    length, all_heads = heads["length"].max(), f"{len(heads)} head{'s' * (len(heads) != 1)}"
    sure = [_how_sure(heads, verdicts), *([] if ahead is None else [_outlook(*ahead)])]
    if not faults:
        sentences = [f"None of the {all_heads} has a fault by these thresholds at L = {length}."]
        if INCOMPLETE in there:
            sentences.append(f"For {there[INCOMPLETE]} of them a number is missing.")
        return " ".join([*sentences, *sure])
    worst = heads.filter(pl.col("severity") > 0).head(MOST_NAMED)
    told = [f"{name} ({said})" for name, said in zip(named(worst), worst["verdicts"], strict=True)]
    by_count = sorted(faults, key=lambda name: -faults[name])
    rest = [f"{there[name]} {name}" for name in (*by_count, INCOMPLETE, HEALTHY) if name in there]
    advice = verdicts.filter(verdict=by_count[0])["remedy"][0]
    sentences = [
        f"Of {all_heads} at L = {length}: {listed(rest)} (a head can have several).",
        *([f"Farthest beyond their thresholds: {listed(told)}."] if told else []),
        f"What to do for the most common, {by_count[0]}: {advice[0].lower()}{advice[1:]}",
    ]
    return " ".join([*sentences, *sure])


def _outlook(target: int, outlook: pl.DataFrame) -> str:
    """The verdict that moves most, with its interval: the number now may lie in it."""
    moved = outlook.sort((pl.col("target") - pl.col("now")).abs(), descending=True)
    row = moved.row(0, named=True)
    return (
        f"By their trends {row['target']} heads are {row['verdict']} at L = {target} (90 % "
        f"interval {row['certainly']} to {row['possibly']}), now {row['now']}."
    )


def _how_sure(heads: pl.DataFrame, verdicts: pl.DataFrame) -> str:
    windows = verdicts["windows"].max() or 1
    near = ""
    if "unsure" in heads.columns:
        count = int(heads["unsure"].sum()) or "none"
        near = f" {count} of {len(heads)} heads lie within sampling error of a threshold."
    if windows == 1:
        return f"How sure: one window, so nothing says how far another would differ.{near}"
    differ = heads.filter(pl.col("flips") > 0).height or "none"
    return (
        f"How sure: {windows} windows; {differ} of {len(heads)} heads would get another verdict in "
        f"some of them.{near}"
    )
