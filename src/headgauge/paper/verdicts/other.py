"""What is said beside the figures: assumptions, vanishing weights, coverage, run time."""

import math

from headgauge.paper import limits
from headgauge.paper.verdicts.evidence import (
    Evidence,
    Seen,
    absent,
    at_longest,
    below,
    both,
    enough,
    log_slope,
    power,
    ratio,
    reach,
    slope_reach,
    within,
    word,
)
from headgauge.runs.paper_schema import UNTESTABLE
from headgauge.theory.normalization.coverage import multi_head_coverage


def largest_vanishes(evidence: Evidence) -> Seen:
    """Like 1/L: the exponent of the mean largest weight is within `VANISHES`."""
    name = "largest weight vanishes like 1/L"
    curve = evidence.curve("vanishing", "largest_weight", "length")
    ends = slope_reach(curve)
    if ends is None:
        return absent(name, "Lemma 1", "1/L")
    told = [f"{power(log_slope(curve), ends)}; {at_longest(curve, 2)}"]
    for measure, words in (
        ("largest_off_sink", "off the first token"),
        ("top_mass", "the 16 heaviest"),
    ):
        other = evidence.curve("vanishing", measure, "length")
        if other:
            told.append(f"{words} {power(log_slope(other))}, {at_longest(other, 2)}")
    return Seen(
        claim=name,
        where="Lemma 1; introduction",
        statement="As the context grows, attention weights collapse toward 1/L.",
        paper="1/L",
        printed="; ".join(told),
        corrected="same",
        verdict=word(within(ends, limits.VANISHES), enough(curve, limits.VANISHING_ROWS)),
        comment="Lemma 1 holds for logits within bounds that do not grow with L; a head that picks "
        "its tokens raises their logits with the context." + _rules(evidence),
    )


def _rules(evidence: Evidence) -> str:
    """The exponents under the other rules."""
    found = []
    for rule in evidence.frames["vanishing"]["rule"].unique(maintain_order=True):
        slope = log_slope(evidence.curve("vanishing", "largest_weight", "length", rule))
        if rule != "model" and slope is not None:
            found.append(f"{rule} {power(slope)}")
    return f" Other rules on the same logits: {', '.join(found)}." if found else ""


def corollary_1_near(evidence: Evidence) -> Seen:
    """Near: the printed bound on the largest weight is within `BOUND_NEAR` of it, and below 1."""
    name = "Corollary 1's bound is near"
    weight = evidence.curve("vanishing", "largest_weight", "length")
    bounds = {
        form: evidence.curve("vanishing", f"bound_{form}", "length")
        for form in ("printed", "range", "mean")
    }
    if not weight or not bounds["printed"]:
        return absent(name, "Corollary 1", "weights close to uniform")
    last = max(weight)
    over = {
        form: curve[last]["mean"] / weight[last]["mean"]
        for form, curve in bounds.items()
        if last in curve
    }
    bound = reach(bounds["printed"][last])
    near = both(below(bound, 1.0), below(ratio(bound, reach(weight[last])), limits.BOUND_NEAR))
    size = (
        f"10^{math.log10(over['printed']):.0f}"
        if over["printed"] > 1e3
        else f"{over['printed']:.2g}"
    )
    return Seen(
        claim=name,
        where="Corollary 1",
        statement="Unless queries and keys are large, weights stay within e^{±2Δ/T}/L.",
        paper="a bound on every weight",
        printed=f"{size} times the largest weight at L = {last}"
        + (", above 1: it says nothing" if bound[0] > 1 else ""),
        corrected=", ".join(
            f"{words} {over[form]:.2g} times"
            for form, words in (("range", "from the row's own range"), ("mean", "by Jensen"))
            if form in over
        ),
        verdict=word(near, enough(weight, limits.VANISHING_ROWS)),
        comment="True with Δ = ‖q‖ max‖k‖, but the norms of real queries and keys leave it nothing "
        "to say.",
    )


def vectors_isotropic(evidence: Evidence) -> Seen:
    """Isotropic: the mean cosine is near 0, and the effective dimension near a uniform set's."""
    name = "vectors are isotropic"
    row = _vector_row(evidence)
    if row is None:
        return absent(name, "Assumption 1", "uniform on a sphere")
    uniform = row["dim"] * row["tokens"] / (row["dim"] + row["tokens"] - 1)
    cosine = abs(row["mean_cosine"]) <= limits.COSINE
    return Seen(
        claim=name,
        where="Assumption 1",
        statement="Embeddings are uniform on a sphere, roughly isotropic.",
        paper="uniform on a sphere",
        printed=f"{row['vectors']}: mean cosine {row['mean_cosine']:.2f}, effective dimension "
        f"{row['effective_dim']:.1f} (uniform: 0 and {uniform:.0f})"
        + _other_vectors(evidence, row["vectors"]),
        corrected="same",
        verdict=word(cosine and row["effective_dim"] >= limits.SPREAD * uniform),
        comment="Bounds that need it (the corrected upper bound of Theorem 2) say nothing here.",
    )


def tokens_apart(evidence: Evidence) -> Seen:
    """Apart: the smallest distance of two tokens is more than rounding."""
    name = "tokens keep their distance"
    row = _vector_row(evidence)
    if row is None:
        return absent(name, "Assumption 2", "δ > 0")
    others = [
        f"; {each['vectors']}: δ = {each['delta']:.2g}, {each['same']:.0%} coincide"
        for each in evidence.frames["vectors"].iter_rows(named=True)
        if each["vectors"] != row["vectors"]
    ]
    return Seen(
        claim=name,
        where="Assumption 2",
        statement="Any two embeddings are at least δ > 0 apart.",
        paper="δ > 0",
        printed=f"{row['vectors']}: δ = {row['delta']:.2g}, the nearest other token at "
        f"{row['nearest']:.2f} (median), {row['same']:.0%} coincide with another" + "".join(others),
        corrected="same",
        verdict=word(row["delta"] > limits.APART),
        comment="A repeated word has the same input embedding, so δ = 0 there by construction.",
    )


def _vector_row(evidence: Evidence) -> dict | None:
    found = evidence.frames["vectors"].filter(vectors=evidence.choice["vectors"])
    return None if found.is_empty() else found.row(0, named=True)


def _other_vectors(evidence: Evidence, but: str) -> str:
    return "".join(
        f"; {row['vectors']}: {row['mean_cosine']:.2f}, {row['effective_dim']:.1f} of {row['dim']}"
        for row in evidence.frames["vectors"].iter_rows(named=True)
        if row["vectors"] != but
    )


def three_heads_cover(evidence: Evidence) -> Seen:
    """Three heads of a layer, asked for the same tokens, separate `COVERED` of them together."""
    name, where, paper = "3 heads at .8 cover 99 %", "Discussion", "99 %"
    rows = {row["heads"]: row for row in evidence.frames["coverage"].iter_rows(named=True)}
    if 3 not in rows:
        return absent(name, where, paper)
    three = rows[3]
    ends = reach(three, "covered")
    interval = "" if ends[0] == ends[1] else f" ({ends[0]:.3f} to {ends[1]:.3f})"
    return Seen(
        claim=name,
        where=where,
        statement="Three heads with separability .8 cover 99 % of the top N.",
        paper=paper,
        printed=f"1 − .2³ = {multi_head_coverage(0.8, 3):.3f}; with the p = "
        f"{three['separable']:.2f} of one head {three['formula']:.3f}",
        corrected=f"measured {three['covered']:.3f}{interval} of {three['top_n']} tokens that all "
        f"heads of a layer are asked for; {three['independent']:.3f} if heads were independent",
        verdict=word(within(ends, (limits.COVERED, 1.0)), three["rows"] >= limits.COVERAGE_ROWS),
        comment="Heads of a layer miss the same tokens, and select different ones when left alone.",
    )


def run_time(evidence: Evidence) -> Seen:
    """Another machine, another model: no verdict on a time."""
    return Seen(
        claim="run time",
        where="Table 1",
        statement="Algorithms 1 to 5 take 18 h 13 min on a 10-core laptop.",
        paper="18 h 13 min",
        printed="see the timing table",
        corrected="same",
        verdict=UNTESTABLE,
        comment="Another machine and model. timing.json has our time of each algorithm and the "
        "literal loop's, measured on a sample in the same run.",
    )
