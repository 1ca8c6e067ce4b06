"""Row 19: the slides' closing sentence, that no rule is sharp, stable and scalable."""

import torch

from headgauge import normalizers
from headgauge.claims.record import Claim, Finding, Verdict
from headgauge.claims.sampling import SHARPNESS, close, generator, highest, lowest, normal
from headgauge.theory.normalization import sensitivity, trade_off

LENGTHS = (10, 1_000, 100_000)


def leader(length: int, lead: float) -> torch.Tensor:
    logits = torch.zeros(length, dtype=torch.float64)
    logits[0] = lead
    return logits


def _price(lead: float, length: int) -> float:
    """How far the weights move over how far the logits do, from flat to one-hot, when sparsemax
    takes the logits over the lead."""
    sparsemax = normalizers.get("sparsemax")
    moved = leader(length, lead)
    moved = moved - moved.mean()
    change = sparsemax(moved / lead) - sparsemax(torch.zeros_like(moved))
    return (torch.linalg.vector_norm(change) / torch.linalg.vector_norm(moved)).item()


def sharp_stable_scalable() -> Finding:
    """Sparsemax at a lead of 1: one-hot at every length; and its Jacobian norm is at most 1."""
    source = generator(28)
    sparsemax, softmax = normalizers.get("sparsemax"), normalizers.get("softmax")
    lead, confidence = 1.0, 0.99
    winners = [sparsemax(leader(length, lead))[0] for length in LENGTHS]
    norms, moves, reached, softmax_norms = [], [], [], {}
    for length in LENGTHS:
        # Softmax reaches the same confidence only at a temperature that falls with the length.
        temperature = trade_off.softmax_temperature(0.7 * lead, confidence, length)
        reached.append(softmax(leader(length, 0.7 * lead) / temperature)[0].item())
        temperature = trade_off.softmax_temperature(lead, confidence, length)
        softmax_norms[length] = sensitivity.corollary_3(temperature)
    tie = torch.full((2,), 0.5, dtype=torch.float64)
    for sharpness in SHARPNESS:
        for length in (10, 1_000):
            logits = sharpness * normal(50, length, source=source)
            norms.append(sparsemax.spectral_norm(logits))
            other = logits + 0.3 * normal(50, length, source=source)
            change = torch.linalg.vector_norm(sparsemax(logits) - sparsemax(other), dim=-1)
            moved = torch.linalg.vector_norm(logits - other, dim=-1)
            moves.append(change / moved)
    largest_norm, lipschitz = highest(norms), highest(moves)
    stable = largest_norm <= 1 + 1e-9 and lipschitz <= 1 + 1e-9
    leads = (0.5, 1.0, 2.0)
    pays = all(close(_price(each, 1_000), trade_off.lipschitz_price(each)) for each in leads)
    coldest = trade_off.softmax_temperature(lead, confidence, LENGTHS[-1])
    softmax_pays = (
        close(reached, confidence)
        and close(softmax_norms[LENGTHS[-1]], sensitivity.spectral_norm(tie, coldest))
        and softmax_norms[LENGTHS[-1]] > 2 * softmax_norms[LENGTHS[0]]
    )
    return Finding(
        printed=not (close(winners, 1.0) and stable),
        corrected=stable and pays and softmax_pays,
        numbers={
            "smallest weight of sparsemax for a lead of 1, L up to 100000": lowest(winners),
            "largest Jacobian norm of sparsemax in random rows": largest_norm,
            "largest finite-difference ratio": lipschitz,
            "what sparsemax pays for a lead of 1; the least is": f"{_price(1.0, 1_000):.6g}; 1",
            **{
                f"softmax's 1/(2T) for weight .99 at a lead of 1, L={length}": value
                for length, value in softmax_norms.items()
            },
        },
    )


CLAIMS = (
    Claim(
        id="19",
        where="Slides, trade-off and closing sentence",
        statement="No normalization rule can be simultaneously sharp, stable, and long-context "
        "scalable.",
        verdict=Verdict.FALSE,
        because="Sparsemax is all three on rows in which one logit leads by 1 or more: that logit "
        "gets the weight 1 at every L (sharp, scalable), and on all rows the Jacobian norm is at "
        "most 1 at every L (stable), because a projection onto a convex set never increases "
        "distances. Without the lead it is stable but not scalable (row 19').",
        corrected="Sharpness has a price that does not depend on L: a rule that treats keys alike, "
        "ignores a common shift and turns a lead of R into a one-hot row has a Lipschitz constant "
        "of at least 1/R, and sparsemax on logits over R pays exactly that. What gets worse with "
        "L is the form (3): softmax needs T ≤ R/log((L−1)(1−η)/η) for a weight 1−η, so its "
        "1/(2T) grows like log L.",
        code=(
            "normalizers.sparsemax",
            "theory.normalization.trade_off.lipschitz_price",
            "theory.normalization.trade_off.softmax_temperature",
        ),
        check=sharp_stable_scalable,
    ),
)
