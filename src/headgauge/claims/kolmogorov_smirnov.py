"""Row 22: what it means that a Kolmogorov–Smirnov test does not tell d̃ from E."""

import math

import torch
from scipy import special, stats
from torch import Tensor

from headgauge.claims.expected_distance import orthonormal
from headgauge.claims.record import Claim, Finding, Verdict
from headgauge.claims.sampling import close, generator, normal
from headgauge.theory.normalization import expected_distance, kolmogorov_smirnov
from headgauge.theory.normalization.distance import distance
from headgauge.theory.normalization.selection import selected_mass, top_n

LEVEL, HEADS = 0.01, 144


def _statistic(first: Tensor, second: Tensor) -> Tensor:
    """sup|F₁ − F₂| of two samples, by rows."""
    both = torch.cat([first, second], -1).sort(-1).values
    one, other = (
        torch.searchsorted(each.sort(-1).values, both, right=True) for each in (first, second)
    )
    return (one - other).abs().amax(-1).to(torch.float64) / first.shape[-1]


def _accepted(shift: float, heads: int, source: torch.Generator, draws: int = 500) -> float:
    """How often two normal samples whose means differ by this part of their spread pass."""
    first = normal(draws, heads, source=source)
    second = normal(draws, heads, source=source) + shift
    passes = _statistic(first, second) < kolmogorov_smirnov.detectable(heads, LEVEL) - 1e-9
    return passes.to(torch.float64).mean().item()


def _sharp_row() -> tuple[float, float, float]:
    """d̃, E and the weight of the two selected keys in a row that is anything but uniform.

    Two opposite unit vectors carry nearly all the weight. Equal weights make them cancel, d̃ < E;
    one of them alone, d̃ > E; between the two d̃ = E.
    """
    length, rest = 12, 0.01
    x = torch.ones(length, 2, dtype=torch.float64) / math.sqrt(2)
    x[0], x[1] = torch.tensor([1.0, 0.0]), torch.tensor([-1.0, 0.0])

    def row(difference: float) -> tuple[Tensor, Tensor, Tensor]:
        alpha = torch.full((length,), rest / (length - 2), dtype=torch.float64)
        alpha[0], alpha[1] = (1 - rest + difference) / 2, (1 - rest - difference) / 2
        selected = top_n(alpha, 2)
        return distance(alpha, x, selected), expected_distance.exact(alpha, x, 2), alpha

    low, high = 0.0, 0.9
    for _ in range(60):
        middle = (low + high) / 2
        value, expected, _ = row(middle)
        low, high = (middle, high) if bool(value < expected) else (low, middle)
    value, expected, alpha = row(low)
    return value.item(), expected.item(), selected_mass(alpha, top_n(alpha, 2)).item()


def acceptance() -> Finding:
    source = generator(32)
    limit = kolmogorov_smirnov.detectable(HEADS, LEVEL)
    # The quantiles of two normals .4 of their spread apart: exact samples, nothing drawn.
    places = torch.arange(HEADS, dtype=torch.float64)
    quantiles = torch.special.ndtri((places + 0.5) / HEADS)
    apart = _statistic(quantiles, quantiles + 0.4).item()
    population = 2 * float(special.ndtr(0.2)) - 1
    more = kolmogorov_smirnov.detectable(4 * HEADS, LEVEL)
    passes = {heads: _accepted(0.3, heads, source) for heads in (36, HEADS, 4 * HEADS)}
    falls = passes[36] > passes[HEADS] > 0.5 > passes[4 * HEADS]
    # One and the same order of heads: every single one has d̃ above E.
    expected = torch.exp(quantiles)
    paired = _statistic(expected, 1.3 * expected).item()
    value, mean, mass = _sharp_row()
    # The reflection formula against scipy's own enumeration.
    excess = round(limit * HEADS)
    exact = True
    for shift in (0.3, 0.5):
        other = quantiles + shift
        oracle = stats.kstest(quantiles.numpy(), other.numpy(), method="exact")[1]
        own = round(_statistic(quantiles, other).item() * HEADS)
        exact &= close(kolmogorov_smirnov.p_value(own, HEADS), float(oracle))
    exact &= kolmogorov_smirnov.p_value(excess, HEADS) <= LEVEL
    # Two samples of three always differ by one count: (15 − 6 + 1)·2 of 20.
    exact &= close([kolmogorov_smirnov.p_value(k, 3) for k in (0, 1)], 1.0)
    exact &= kolmogorov_smirnov.p_value(excess - 1, HEADS) > LEVEL
    different = apart < limit and population > more and falls
    one_sided = paired < limit
    by_hand = expected_distance.exact(*orthonormal(6), 2)
    uniform = not (close(value, mean) and mass > 0.98 and close(by_hand, 2 / 3 * math.sqrt(3)))
    return Finding(
        printed=uniform or not (different and one_sided),
        corrected=exact and close(limit, 28 / 144) and close(more, 56 / 576),
        numbers={
            "smallest distance of two samples that is rejected, 144 heads, level .01": limit,
            "the same with 576 heads": more,
            "distance of two normals .4 of their spread apart": population,
            "of their 144 quantiles": apart,
            **{
                f"share accepted with {heads} heads when means differ by .3 of the spread": share
                for heads, share in passes.items()
            },
            "distance when every one of 144 heads has 1.3 times its E": paired,
            "a row with d = E: weight of its two selected keys": mass,
            "its d and E": f"{value:.6g}, {mean:.6g}",
        },
    )


CLAIMS = (
    Claim(
        id="22",
        where="Abstract; section 3.1, critical N and (iii); figure 2(c); slides, top-N plateau",
        statement="Where the KS test accepts, true and expected distances have become one and "
        "attention behaves as if weights were uniform: it converges to a uniform selection "
        "pattern.",
        verdict=Verdict.NOT_IMPLIED,
        because="With 144 heads a test at level .01 accepts every distance below 28/144 = .194: "
        "two normals whose means differ by .4 of their spread (distance .159) pass, and are told "
        "apart with 576 heads. All 144 heads may have d̃ = 1.3 E, none the other way, and the test "
        "accepts, because it forgets which head is which. And d̃ = E itself says nothing of the "
        "weights: a row whose two selected keys hold 99 % has it.",
        corrected="Accepted means that with so many heads no difference was detected. P(D ≥ k/n) = "
        "2Σ(−1)^(j−1) C(2n, n−jk)/C(2n, n) for independent samples; the paper's are paired, so a "
        "paired test, or the size of d̃/E with its interval, is what tells. How uniform weights "
        "are is read off the weights.",
        code=(
            "theory.normalization.kolmogorov_smirnov.p_value",
            "theory.normalization.kolmogorov_smirnov.detectable",
            "theory.normalization.expected_distance.exact",
        ),
        check=acceptance,
    ),
)
