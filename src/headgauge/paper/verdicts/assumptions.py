"""What the paper takes for granted: vanishing weights, isotropic vectors, tokens that are apart."""

import math

from headgauge.paper import limits
from headgauge.paper.evidence import NO_CURVE, Curve, Evidence, Seen, both, claim, word

BOUNDS = {"bound_range": "from the row's own range", "bound_mean": "by Jensen"}


@claim("largest weight vanishes like 1/L", "Lemma 1; introduction", "1/L", free=True)
def largest_vanishes(evidence: Evidence) -> Seen:
    """As the context grows, attention weights collapse toward 1/L."""
    measures = ("largest_weight", "largest_off_sink", "top_mass")
    curve, off_sink, mass = evidence.curves("vanishing", *measures)
    found = curve.growth()
    shown = [f"{found.in_words()}; {curve.at_longest(2)}"]
    for other, words in ((off_sink, "off the first token"), (mass, "the 16 heaviest")):
        if other:
            shown.append(f"{words} {other.power(ends=False)}, {other.at_longest(2)}")
    rules = evidence.frames["vanishing"]["rule"].unique(maintain_order=True)
    slopes = {
        rule: evidence.curve("vanishing", measures[0], rule).power(ends=False)
        for rule in rules
        if rule != "model"
    }
    others = ", ".join(f"{rule} {slope}" for rule, slope in slopes.items() if slope != NO_CURVE)
    holds = found.interval.within(*limits.VANISHES)
    return Seen(
        "; ".join(shown),
        verdict=word(holds, judged=curve.last.enough(limits.VANISHING_ROWS)),
        comment="Lemma 1 holds for logits within bounds that do not grow with L; a head that picks "
        "its tokens raises their logits with the context."
        + (f" Other rules on the same logits: {others}." if others else ""),
    )


@claim("Corollary 1's bound is near", "Corollary 1", "a bound on every weight", free=True)
def corollary_1_near(evidence: Evidence) -> Seen:
    """Unless queries and keys are large, weights stay within e^{±2Δ/T}/L."""
    weight = evidence.curve("vanishing", "largest_weight").last
    longest = evidence.rows("vanishing", rule="model", length=weight["length"])
    rows = Curve((row["measure"], row) for row in longest)
    bound = rows["bound_printed"].reach()
    over = {measure: row["mean"] / weight["mean"] for measure, row in rows.items()}
    size = over["bound_printed"]
    near = both(bound.below(1.0), bound.over(weight.reach()).below(limits.BOUND_NEAR))
    return Seen(
        f"{f'10^{math.log10(size):.0f}' if size > 1e3 else f'{size:.2g}'} times the largest weight "
        f"at L = {weight['length']}" + (", above 1: it says nothing" if bound.low > 1 else ""),
        verdict=word(near, judged=weight.enough(limits.VANISHING_ROWS)),
        corrected=", ".join(
            f"{words} {over[measure]:.2g} times"
            for measure, words in BOUNDS.items()
            if measure in over
        ),
        comment="True with Δ = ‖q‖ max‖k‖, but the norms of real queries and keys leave it nothing "
        "to say.",
    )


@claim("vectors are isotropic", "Assumption 1", "uniform on a sphere")
def vectors_isotropic(evidence: Evidence) -> Seen:
    """Embeddings are uniform on a sphere, roughly isotropic."""
    row = evidence.row("vectors")
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


@claim("tokens keep their distance", "Assumption 2", "δ > 0")
def tokens_apart(evidence: Evidence) -> Seen:
    """Any two embeddings are at least δ > 0 apart."""
    row = evidence.row("vectors")
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
