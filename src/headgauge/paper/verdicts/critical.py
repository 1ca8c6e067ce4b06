"""Figure 2c: the critical N, with as many heads as GPT-2 has where there are more."""

import math
from typing import Any

import polars as pl

from headgauge.paper import limits
from headgauge.paper.verdicts.evidence import (
    Evidence,
    Interval,
    Seen,
    absent,
    below,
    both,
    either,
    power,
    within,
)


def critical_share(evidence: Evidence) -> Seen:
    """About .06 L: the draws of 144 heads lie within `CRITICAL` of the longest L."""
    rows = _at_longest(evidence)
    if "printed" not in rows:
        return absent("critical N is about .06 L", "Fig. 2c", "≈ .06 L")
    by = [_about(rows.get(form)) for form in ("printed", "appendix")]
    upper = rows.get("upper", {}).get("critical_n")
    return Seen(
        claim="critical N is about .06 L",
        where="Fig. 2c",
        statement="The critical N, by a KS test at level .01, is below 6 % of L, about .06 L.",
        paper="≈ .06 L",
        printed=_told(evidence, "printed"),
        corrected=_told(evidence, "appendix")
        + f"; against its upper side {'none' if upper is None else f'N = {upper}'}",
        verdict=either(*by, judged=rows["printed"]["rows"] >= limits.ROWS),
        comment=f"{_parting(evidence)}{_other_choices(evidence.frames['choices'])} It depends on "
        "the choice, on the level, and on how many heads there are: more heads, later acceptance.",
    )


def critical_over_length(evidence: Evidence) -> Seen:
    """The share stays within `CRITICAL` at every L from 256 on (below, .06 L is a few tokens)."""
    found = {form: _over_length(evidence, form) for form in ("printed", "appendix")}
    if not found["printed"]:
        return absent("critical N is .06 L at every L", "Fig. 2c", "≈ .06 L at every L")
    by = [bool(rows) and both(*map(_about, rows.values())) for rows in found.values()]
    told = {
        form: ", ".join(f"{_share_told(row)} at {length}" for length, row in rows.items())
        for form, rows in found.items()
    }
    return Seen(
        claim="critical N is .06 L at every L",
        where="Fig. 2c",
        statement="The critical-N curve is about .06 L.",
        paper="≈ .06 L at every L",
        printed=told["printed"],
        corrected=told["appendix"] or "not measured",
        verdict=either(*by, judged=found["printed"][max(found["printed"])]["rows"] >= limits.ROWS),
        comment="The text calls the curve sub-linear in the same sentence; .06 L is linear.",
    )


def critical_sub_linear(evidence: Evidence) -> Seen:
    """Sub-linear, as the text has it: the exponent of the critical N in L is below 1."""
    name, where = "critical N grows sub-linearly", "Section 3.1"
    table = evidence.frames["fig2c_growth"].filter(
        level=limits.LEVEL, rule="model", **evidence.choice
    )
    rows = {row["expected"]: row for row in table.iter_rows(named=True)}
    over = _over_length(evidence, "printed")
    if "printed" not in rows or not over:
        return absent(name, where, "sub-linear")
    by, told = [], []
    for form in ("printed", "appendix"):
        row = rows.get(form)
        if row is None or row["exponent"] is None:
            by.append(False if row is None or not row["found"] else None)
            share = 0.0 if row is None else row["found"]
            told.append(f"a critical N at every L in {share:.0%} of the draws")
            continue
        ends = (row["exponent"],) * 2 if row["low"] is None else (row["low"], row["high"])
        sub = below(ends, limits.SUB_LINEAR)
        by.append(sub if row["found"] >= limits.FOUND else None if sub is not False else False)
        told.append(f"{power(row['exponent'], ends)}, in {row['found']:.0%} of the draws")
    row = rows["printed"]
    return Seen(
        claim=name,
        where=where,
        statement="The critical-N curve grows sub-linearly.",
        paper="sub-linear",
        printed=f"{told[0]} of {row['heads']} heads, L = {row['shortest']} to {row['longest']}",
        corrected=told[1],
        verdict=either(*by, judged=over[max(over)]["rows"] >= limits.ROWS),
        comment="",
    )


def share_reach(row: dict[str, Any]) -> Interval:
    """The critical N over L: the middle 95 % of the draws; none counts as beyond every N."""
    drawn = row["few_found"] is not None
    n = row["few_heads"] if drawn else row["critical_n"]
    low, high = (row["few_low"], row["few_high"]) if drawn else (row["low"], row["high"])
    if not drawn and (n is None or row["found"] is None):
        low, high = n, n
    ends = [math.inf if each is None else each / row["length"] for each in (low, high)]
    return ends[0], ends[1]


def critical_n(row: dict[str, Any]) -> int | None:
    """With 144 heads where there are more, else with all."""
    return row["critical_n"] if row["few_found"] is None else row["few_heads"]


def _about(row: dict[str, Any] | None) -> bool | None:
    return False if row is None else within(share_reach(row), limits.CRITICAL)


def _rows(evidence: Evidence, form: str, level: float) -> list[dict[str, Any]]:
    found = evidence.frames["fig2c"].filter(
        rule="model", expected=form, level=level, **evidence.choice
    )
    return found.sort("length").to_dicts()


def _at_longest(evidence: Evidence) -> dict[str, dict[str, Any]]:
    forms = ("printed", "appendix", "upper")
    rows = {form: _rows(evidence, form, limits.LEVEL) for form in forms}
    return {form: found[-1] for form, found in rows.items() if found}


def _over_length(evidence: Evidence, form: str) -> dict[int, dict[str, Any]]:
    rows = _rows(evidence, form, limits.LEVEL)
    return {row["length"]: row for row in rows if row["length"] >= limits.SHORTEST}


def _share_told(row: dict[str, Any]) -> str:
    n = critical_n(row)
    return "none" if n is None else f"{n / row['length']:.3f}"


def _told(evidence: Evidence, expected: str) -> str:
    found = evidence.frames["fig2c"].filter(
        pl.col("length") == pl.col("length").max(), rule="model", expected=expected,
        **evidence.choice,
    )  # fmt: skip
    told = [_one_told(row) for row in found.sort("level").iter_rows(named=True)]
    return "; ".join(told) or "not measured"


def _one_told(row: dict[str, Any]) -> str:
    """The first reading, and all heads beside it."""
    drawn = row["few_found"] is not None
    n = critical_n(row)
    low, high = (row["few_low"], row["few_high"]) if drawn else (row["low"], row["high"])
    at = f"at level {row['level']:g}"
    if n is None:
        said = f"none up to N = {row['tried']} {at}"
    else:
        said = f"N = {n} = {n / row['length']:.3f} L {at}"
    if drawn:
        said += f" with {limits.HEADS} heads"
    if low is not None:
        said += f" ({low} to {'none' if high is None else high} over draws)"
    if drawn:
        n_all = row["critical_n"]
        said += f", {'none' if n_all is None else n_all} with all {row['heads']}"
        if row["window_low"] is not None:
            said += f" ({row['window_low']} to {row['window_high']} over windows)"
    return said


def _parting(evidence: Evidence) -> str:
    """Whether the test, once it accepts, goes on accepting."""
    tests = evidence.frames["fig2c_tests"].filter(
        pl.col("length") == pl.col("length").max(),
        expected="printed",
        rule="model",
        **evidence.choice,
    )
    tried = tests.sort("top_n").select("top_n", "p_value").rows()
    first = next((at for at, (_, p) in enumerate(tried) if p >= limits.LEVEL), None)
    if first is None:
        return ""
    again = next((at for at in range(first, len(tried)) if tried[at][1] < limits.LEVEL), None)
    if again is None:
        return ""
    best = max(p for _, p in tried[first:again])
    return (
        f"With all heads it accepts from N = {tried[first][0]} to {tried[again - 1][0]} "
        f"(p ≤ {best:.2g}) and rejects again at N = {tried[again][0]}. "
    )


def _other_choices(choices: pl.DataFrame) -> str:
    """How far the other choices are from one another."""
    there = choices["critical_n"].drop_nulls()
    if not len(there):
        return ""
    none = choices["critical_n"].null_count()
    missing = f", none for {none} of them" if none else ""
    return (
        f"With the printed formula the {len(choices)} choices give N = {there.min()} to "
        f"{there.max()}{missing}."
    )
