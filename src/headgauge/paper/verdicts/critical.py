"""Figure 2c: the critical N, with as many heads as GPT-2 has where there are more."""

import math
from typing import Any

from headgauge.paper import limits
from headgauge.paper.verdicts.evidence import (
    Evidence,
    Interval,
    Row,
    Seen,
    below,
    both,
    claim,
    either,
    power,
    reach,
    within,
)
from headgauge.registry.published import GPT2_HEADS, LEVEL

FORMS = ("printed", "appendix")


def critical_n(row: Row) -> int | None:
    """With 144 heads where there are more, else with all."""
    return row["critical_n"] if row["few_found"] is None else row["few_heads"]


def _interval(row: Row) -> tuple[int | None, int | None]:
    few = row["few_found"] is not None
    return (row["few_low"], row["few_high"]) if few else (row["low"], row["high"])


def share_reach(row: Row) -> Interval:
    """The critical N over L: the middle 95 % of the draws; none counts as beyond every N."""
    n, (low, high) = critical_n(row), _interval(row)
    if row["few_found"] is None and (n is None or row["found"] is None):
        low, high = n, n
    ends = [math.inf if each is None else each / row["length"] for each in (low, high)]
    return ends[0], ends[1]


def _about(row: Row | None) -> bool | None:
    return False if row is None else within(share_reach(row), limits.CRITICAL)


def _over_length(evidence: Evidence, form: str) -> dict[int, dict[str, Any]]:
    rows = evidence.rows("fig2c", rule="model", expected=form, level=LEVEL)
    return dict(sorted((row["length"], row) for row in rows))


@claim(
    "critical N is about .06 L",
    "Fig. 2c",
    "The critical N, by a KS test at level .01, is below 6 % of L, about .06 L.",
    "≈ .06 L",
)
def critical_share(evidence: Evidence) -> Seen | None:
    """About .06 L: the draws of 144 heads lie within `CRITICAL` of the longest L."""
    over = [_over_length(evidence, form) for form in (*FORMS, "upper")]
    printed, corrected, upper = (rows[max(rows)] if rows else None for rows in over)
    if printed is None:
        return None
    length = printed["length"]
    shown = []
    for form in FORMS:
        rows = evidence.rows("fig2c", rule="model", expected=form, length=length)
        rows.sort(key=lambda row: row["level"])
        shown.append("; ".join(map(_told, rows)) or "not measured")
    n = upper and upper["critical_n"]
    return Seen(
        shown[0],
        verdict=either(_about(printed), _about(corrected), printed["rows"] >= limits.ROWS),
        corrected=f"{shown[1]}; against its upper side {'none' if n is None else f'N = {n}'}",
        comment=f"{_parting(evidence, length)}{_other_choices(evidence)} It depends on the choice, "
        "on the level, and on how many heads there are: more heads, later acceptance.",
    )


def _told(row: Row) -> str:
    """The first reading, and all heads beside it."""
    drawn = row["few_found"] is not None
    n, (low, high), at = critical_n(row), _interval(row), f"at level {row['level']:g}"
    if n is None:
        said = f"none up to N = {row['tried']} {at}"
    else:
        said = f"N = {n} = {n / row['length']:.3f} L {at}"
    if drawn:
        said += f" with {GPT2_HEADS} heads"
    if low is not None:
        said += f" ({low} to {'none' if high is None else high} over draws)"
    if drawn:
        n_all = row["critical_n"]
        said += f", {'none' if n_all is None else n_all} with all {row['heads']}"
        if row["window_low"] is not None:
            said += f" ({row['window_low']} to {row['window_high']} over windows)"
    return said


def _parting(evidence: Evidence, length: int) -> str:
    """Whether the test, once it accepts, goes on accepting."""
    rows = evidence.rows("fig2c_tests", rule="model", expected="printed", length=length)
    tried = sorted((row["top_n"], row["p_value"]) for row in rows)
    first = next((at for at, (_, p) in enumerate(tried) if p >= LEVEL), len(tried))
    again = next((at for at in range(first, len(tried)) if tried[at][1] < LEVEL), None)
    if again is None:
        return ""
    best = max(p for _, p in tried[first:again])
    return (
        f"With all heads it accepts from N = {tried[first][0]} to {tried[again - 1][0]} "
        f"(p ≤ {best:.2g}) and rejects again at N = {tried[again][0]}. "
    )


def _other_choices(evidence: Evidence) -> str:
    """How far the other choices are from one another."""
    choices = evidence.frames["choices"]["critical_n"]
    if not choices.count():
        return ""
    none = choices.null_count()
    return (
        f"With the printed formula the {len(choices)} choices give N = {choices.min()} to "
        f"{choices.max()}{f', none for {none} of them' if none else ''}."
    )


@claim(
    "critical N is .06 L at every L",
    "Fig. 2c",
    "The critical-N curve is about .06 L.",
    "≈ .06 L at every L",
)
def critical_over_length(evidence: Evidence) -> Seen | None:
    """The share stays within `CRITICAL` at every L from 256 on (below, .06 L is a few tokens)."""
    found = [
        [row for length, row in _over_length(evidence, form).items() if length >= limits.SHORTEST]
        for form in FORMS
    ]
    if not found[0]:
        return None
    shown = [", ".join(f"{_share(row)} at {row['length']}" for row in rows) for rows in found]
    return Seen(
        shown[0],
        verdict=either(
            *(bool(rows) and both(*map(_about, rows)) for rows in found),
            judged=found[0][-1]["rows"] >= limits.ROWS,
        ),
        corrected=shown[1] or "not measured",
        comment="The text calls the curve sub-linear in the same sentence; .06 L is linear.",
    )


def _share(row: Row) -> str:
    n = critical_n(row)
    return "none" if n is None else f"{n / row['length']:.3f}"


@claim(
    "critical N grows sub-linearly",
    "Section 3.1",
    "The critical-N curve grows sub-linearly.",
    "sub-linear",
)
def critical_sub_linear(evidence: Evidence) -> Seen | None:
    """Sub-linear, as the text has it: the exponent of the critical N in L is below 1."""
    rows = {
        row["expected"]: row for row in evidence.rows("fig2c_growth", level=LEVEL, rule="model")
    }
    over = _over_length(evidence, "printed")
    if "printed" not in rows or max(over, default=0) < limits.SHORTEST:
        return None
    holds, shown = [], []
    for row in map(rows.get, FORMS):
        found = 0.0 if row is None else row["found"]
        if row is None or row["exponent"] is None:
            holds.append(None if found else False)
            shown.append(f"a critical N at every L in {found:.0%} of the draws")
            continue
        ends = reach(row, "exponent")
        below_one = below(ends, limits.SUB_LINEAR)
        # Draws without one at every L may be those that grow fastest: they keep it undecided.
        holds.append(below_one if found >= limits.FOUND or below_one is False else None)
        shown.append(f"{power((row['exponent'], ends))}, in {found:.0%} of the draws")
    row = rows["printed"]
    return Seen(
        f"{shown[0]} of {row['heads']} heads, L = {row['shortest']} to {row['longest']}",
        verdict=either(*holds, judged=over[max(over)]["rows"] >= limits.ROWS),
        corrected=shown[1],
    )


CLAIMS = (critical_share, critical_over_length, critical_sub_linear)
