"""Figure 2c: the critical N, with as many heads as GPT-2 has where there are more."""

import math
from collections.abc import Mapping
from typing import Any

from headgauge.paper import limits
from headgauge.paper.evidence import Curve, Evidence, Growth, Interval, Row, Seen, both, claim, word
from headgauge.registry.published import GPT2_HEADS, LEVEL

FORMS = ("printed", "appendix")


def critical_n(row: Mapping[str, Any]) -> int | None:
    """With as many heads as GPT-2 has where there are more, else with all."""
    return row["critical_n"] if row["few_found"] is None else row["few_heads"]


def _draws(row: Row) -> tuple[int | None, int | None]:
    """The middle 95 % of the draws."""
    few = row["few_found"] is not None
    return (row["few_low"], row["few_high"]) if few else (row["low"], row["high"])


def _about(row: Row | None) -> bool | None:
    """Whether the critical N is about .06 L; none counts as beyond every N."""
    if row is None:
        return False
    n, ends = critical_n(row), _draws(row)
    if row["few_found"] is None and (n is None or row["found"] is None):
        ends = n, n
    shares = [math.inf if each is None else each / row["length"] for each in ends]
    return Interval(*shares).within(*limits.CRITICAL)


def _over_length(evidence: Evidence, form: str) -> Curve:
    rows = evidence.rows("fig2c", rule="model", expected=form, level=LEVEL)
    return Curve(sorted((row["length"], row) for row in rows))


@claim("critical N is about .06 L", "Fig. 2c", "≈ .06 L")
def critical_share(evidence: Evidence) -> Seen:
    """The critical N, by a KS test at level .01, is below 6 % of L, about .06 L."""
    printed = _over_length(evidence, "printed").last
    over = [_over_length(evidence, form) for form in ("appendix", "upper")]
    corrected, upper = (rows.last if rows else None for rows in over)
    length = printed["length"]
    shown = []
    for form in FORMS:
        rows = evidence.rows("fig2c", rule="model", expected=form, length=length)
        rows.sort(key=lambda row: row["level"])
        shown.append("; ".join(map(_in_words, rows)) or "not measured")
    n = upper and upper["critical_n"]
    return Seen(
        shown[0],
        verdict=word(_about(printed), _about(corrected), judged=printed["rows"] >= limits.ROWS),
        corrected=f"{shown[1]}; against its upper side {'none' if n is None else f'N = {n}'}",
        comment=f"{_parting(evidence, length)}{_other_choices(evidence)} It depends on the choice, "
        "on the level, and on how many heads there are: more heads, later acceptance.",
    )


def _in_words(row: Row) -> str:
    """The first reading, and all heads beside it."""
    drawn = row["few_found"] is not None
    n, (low, high), at = critical_n(row), _draws(row), f"at level {row['level']:g}"
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


@claim("critical N is .06 L at every L", "Fig. 2c", "≈ .06 L at every L")
def critical_over_length(evidence: Evidence) -> Seen:
    """The critical-N curve is about .06 L."""
    curves = [
        Curve(each for each in _over_length(evidence, form).items() if each[0] >= limits.SHORTEST)
        for form in FORMS
    ]
    judged = curves[0].last["rows"] >= limits.ROWS
    shown = [
        ", ".join(f"{_share(row)} at {length}" for length, row in curve.items()) for curve in curves
    ]
    holds = [bool(curve) and both(*map(_about, curve.values())) for curve in curves]
    return Seen(
        shown[0],
        verdict=word(*holds, judged=judged),
        corrected=shown[1] or "not measured",
        comment="The text calls the curve sub-linear in the same sentence; .06 L is linear.",
    )


def _share(row: Row) -> str:
    n = critical_n(row)
    return "none" if n is None else f"{n / row['length']:.3f}"


@claim("critical N grows sub-linearly", "Section 3.1", "sub-linear")
def critical_sub_linear(evidence: Evidence) -> Seen:
    """The critical-N curve grows sub-linearly."""
    growths = evidence.rows("fig2c_growth", level=LEVEL, rule="model")
    rows = Curve((row["expected"], row) for row in growths)
    first, longest = rows["printed"], _over_length(evidence, "printed").last
    holds, shown = [], []
    for row in map(rows.get, FORMS):
        found = 0.0 if row is None else row["found"]
        if row is None or row["exponent"] is None:
            holds.append(None if found else False)
            shown.append(f"a critical N at every L in {found:.0%} of the draws")
            continue
        growth = Growth(row["exponent"], row.reach("exponent"))
        below_one = growth.interval.below(limits.SUB_LINEAR)
        # Draws without one at every L may be those that grow fastest: they keep it undecided.
        holds.append(below_one if found >= limits.FOUND or below_one is False else None)
        shown.append(f"{growth.in_words()}, in {found:.0%} of the draws")
    return Seen(
        f"{shown[0]} of {first['heads']} heads, L = {first['shortest']} to {first['longest']}",
        verdict=word(*holds, judged=longest["rows"] >= limits.ROWS),
        corrected=shown[1],
    )
