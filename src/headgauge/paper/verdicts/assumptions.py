"""What the paper takes for granted: vanishing weights, isotropic vectors, tokens that are apart."""

import math

from headgauge.paper import limits
from headgauge.paper.verdicts.evidence import (
    Evidence,
    Seen,
    at_longest,
    below,
    both,
    claim,
    enough,
    growth,
    power,
    ratio,
    reach,
    within,
    word,
)


@claim(
    "largest weight vanishes like 1/L",
    "Lemma 1; introduction",
    "As the context grows, attention weights collapse toward 1/L.",
    "1/L",
)
def largest_vanishes(evidence: Evidence) -> Seen | None:
    """Like 1/L: the exponent of the mean largest weight is within `VANISHES`."""
    measures = ("largest_weight", "largest_off_sink", "top_mass")
    curve, off_sink, mass = evidence.curves("vanishing", *measures)
    found = growth(curve)
    if found is None:
        return None
    shown = [f"{power(found)}; {at_longest(curve, 2)}"]
    for other, words in ((off_sink, "off the first token"), (mass, "the 16 heaviest")):
        if other:
            shown.append(f"{words} {power(growth(other), ends=False)}, {at_longest(other, 2)}")
    rules = evidence.frames["vanishing"]["rule"].unique(maintain_order=True)
    slopes = {rule: growth(evidence.curve("vanishing", measures[0], rule)) for rule in rules}
    others = ", ".join(
        f"{rule} {power(slope, ends=False)}"
        for rule, slope in slopes.items()
        if rule != "model" and slope
    )
    return Seen(
        "; ".join(shown),
        verdict=word(
            within(found[1], limits.VANISHES), enough(curve[max(curve)], limits.VANISHING_ROWS)
        ),
        comment="Lemma 1 holds for logits within bounds that do not grow with L; a head that picks "
        "its tokens raises their logits with the context."
        + (f" Other rules on the same logits: {others}." if others else ""),
    )


@claim(
    "Corollary 1's bound is near",
    "Corollary 1",
    "Unless queries and keys are large, weights stay within e^{±2Δ/T}/L.",
    "a bound on every weight",
)
def corollary_1_near(evidence: Evidence) -> Seen | None:
    """Near: the printed bound on the largest weight is within `BOUND_NEAR` of it, and below 1."""
    weights = evidence.curve("vanishing", "largest_weight")
    last = max(weights, default=0)
    bounds = {
        form: evidence.row("vanishing", measure=f"bound_{form}", rule="model", length=last)
        for form in ("printed", "range", "mean")
    }
    printed = bounds["printed"]
    if printed is None:
        return None
    weight, bound = weights[last], reach(printed)
    over = {form: row["mean"] / weight["mean"] for form, row in bounds.items() if row}
    size = over["printed"]
    near = both(below(bound, 1.0), below(ratio(bound, reach(weight)), limits.BOUND_NEAR))
    return Seen(
        f"{f'10^{math.log10(size):.0f}' if size > 1e3 else f'{size:.2g}'} times the largest weight "
        f"at L = {last}" + (", above 1: it says nothing" if bound[0] > 1 else ""),
        verdict=word(near, enough(weight, limits.VANISHING_ROWS)),
        corrected=", ".join(
            f"{words} {over[form]:.2g} times"
            for form, words in (("range", "from the row's own range"), ("mean", "by Jensen"))
            if form in over
        ),
        comment="True with Δ = ‖q‖ max‖k‖, but the norms of real queries and keys leave it nothing "
        "to say.",
    )


@claim(
    "vectors are isotropic",
    "Assumption 1",
    "Embeddings are uniform on a sphere, roughly isotropic.",
    "uniform on a sphere",
)
def vectors_isotropic(evidence: Evidence) -> Seen | None:
    """Isotropic: the mean cosine is near 0, and the effective dimension near a uniform set's."""
    row = evidence.row("vectors")
    if row is None:
        return None
    uniform = row["dim"] * row["tokens"] / (row["dim"] + row["tokens"] - 1)
    cosine = abs(row["mean_cosine"]) <= limits.COSINE
    others = "".join(
        f"; {each['vectors']}: {each['mean_cosine']:.2f}, {each['effective_dim']:.1f} of "
        f"{each['dim']}"
        for each in evidence.others("vectors")
    )
    return Seen(
        f"{row['vectors']}: mean cosine {row['mean_cosine']:.2f}, effective dimension "
        f"{row['effective_dim']:.1f} (uniform: 0 and {uniform:.0f}){others}",
        verdict=word(cosine and row["effective_dim"] >= limits.SPREAD * uniform),
        comment="Bounds that need it (the corrected upper bound of Theorem 2) say nothing here.",
    )


@claim(
    "tokens keep their distance",
    "Assumption 2",
    "Any two embeddings are at least δ > 0 apart.",
    "δ > 0",
)
def tokens_apart(evidence: Evidence) -> Seen | None:
    """Apart: the smallest distance of two tokens is more than rounding."""
    row = evidence.row("vectors")
    if row is None:
        return None
    others = "".join(
        f"; {each['vectors']}: δ = {each['delta']:.2g}, {each['same']:.0%} coincide"
        for each in evidence.others("vectors")
    )
    return Seen(
        f"{row['vectors']}: δ = {row['delta']:.2g}, the nearest other token at "
        f"{row['nearest']:.2f} (median), {row['same']:.0%} coincide with another{others}",
        verdict=word(row["delta"] > limits.APART),
        comment="A repeated word has the same input embedding, so δ = 0 there by construction.",
    )


CLAIMS = (largest_vanishes, corollary_1_near, vectors_isotropic, tokens_apart)
