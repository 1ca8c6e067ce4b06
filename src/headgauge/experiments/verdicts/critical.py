"""Figure 2c: the critical N."""

import polars as pl

from headgauge.experiments.choice_table import CRITICAL, critical_n
from headgauge.experiments.verdicts.evidence import Evidence, absent, either
from headgauge.results.paper_schema import PaperVerdictRow

CRITICAL_LEVEL = 0.01  # the text's
FEW_HEADS = 144  # GPT-2's


def critical_share(evidence: Evidence) -> PaperVerdictRow:
    """About .06 L: between .03 and .07 of the longest L."""
    critical = evidence.frames["fig2c"]
    if critical.filter(rule="model", **evidence.choice).is_empty():
        return absent("critical N is about .06 L", "Fig. 2c", "≈ .06 L")
    share = critical_n(critical, evidence.choice, "printed")[1]
    corrected_share = critical_n(critical, evidence.choice, "appendix")[1]
    upper, _ = critical_n(critical, evidence.choice, "upper")
    by = [_about(each) for each in (share, corrected_share)]
    return PaperVerdictRow(
        claim="critical N is about .06 L",
        where="Fig. 2c",
        statement="The critical N, by a KS test at level .01, is below 6 % of L, about .06 L.",
        paper="≈ .06 L",
        printed=_critical_told(critical, evidence.choice, "printed"),
        corrected=_critical_told(critical, evidence.choice, "appendix")
        + f"; against its upper side {'none' if upper is None else f'N = {upper}'}",
        verdict=either(*by),
        comment=f"{_parting(evidence)}{_other_choices(evidence.frames['choices'])} It depends on "
        "the choice, on the level, and on how many heads there are: more heads, later acceptance.",
    )


def critical_over_length(evidence: Evidence) -> PaperVerdictRow:
    """The share stays within .03 to .07 at every L from 256 on (below, .06 L is a few tokens)."""
    shares = {}
    for form in ("printed", "appendix"):
        found = evidence.frames["fig2c"].filter(
            pl.col("length") >= 256, expected=form, level=0.01, rule="model", **evidence.choice
        )
        shares[form] = dict(found.sort("length").select("length", "share").rows())
    if not shares["printed"]:
        return absent("critical N grows like .06 L", "Fig. 2c", "≈ .06 L at every L")
    by = [bool(found) and all(_about(each) for each in found.values()) for found in shares.values()]
    told = {
        form: ", ".join(
            f"{'none' if share is None else f'{share:.3f}'} at {length}"
            for length, share in found.items()
        )
        for form, found in shares.items()
    }
    return PaperVerdictRow(
        claim="critical N grows like .06 L",
        where="Fig. 2c",
        statement="The critical N grows with L, at about .06 L.",
        paper="≈ .06 L at every L",
        printed=told["printed"] or "not measured",
        corrected=told["appendix"] or "not measured",
        verdict=either(*by),
        comment="The text calls this sub-linear; .06 L is linear.",
    )


def _critical_told(critical: pl.DataFrame, choice: dict[str, str], expected: str) -> str:
    found = critical.filter(
        pl.col("length") == pl.col("length").max(), rule="model", expected=expected, **choice
    )
    told = []
    for row in found.sort("level").iter_rows(named=True):
        at = f"at level {row['level']:g}"
        if row["critical_n"] is None:
            told.append(f"none up to N = {row['tried']} {at}")
            continue
        above = "none" if row["high"] is None else row["high"]
        interval = "" if row["low"] is None else f", {row['low']} to {above} over heads"
        if row["window_low"] is not None:
            interval += f", {row['window_low']} to {row['window_high']} over windows"
        several = row["few_heads"] is not None and row["heads"] > FEW_HEADS
        few = f"; {row['few_heads']} with {FEW_HEADS} heads" if several else ""
        told.append(f"N = {row['critical_n']} = {row['share']:.3f} L {at}{interval}{few}")
    return "; ".join(told) or "not measured"


def _parting(evidence: Evidence) -> str:
    """Whether the test, once it accepts, goes on accepting."""
    tests = evidence.frames["fig2c_tests"].filter(
        pl.col("length") == pl.col("length").max(),
        expected="printed",
        rule="model",
        **evidence.choice,
    )
    tried = tests.sort("top_n").select("top_n", "p_value").rows()
    first = next((at for at, (_, p) in enumerate(tried) if p >= CRITICAL_LEVEL), None)
    if first is None:
        return ""
    again = next((at for at in range(first, len(tried)) if tried[at][1] < CRITICAL_LEVEL), None)
    if again is None:
        return ""
    best = max(p for _, p in tried[first:again])
    return (
        f"It accepts from N = {tried[first][0]} to {tried[again - 1][0]} (p ≤ {best:.2g}) and "
        f"rejects again at N = {tried[again][0]}. "
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


def _about(share: float | None) -> bool:
    return share is not None and CRITICAL[0] <= share <= CRITICAL[1]
