"""What is looked at in a swarm of directions, all of it from the pairs' gaps 1 − ⟨θ_i, θ_j⟩.

Gaps, not cosines: late in a collapse a cosine is 1 to the last digit while its gap still has all of
its digits.
"""

import math

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

TOGETHER = 0.999  # a pair with this cosine is one token
BAND = (0.05, 0.95)

PerSwarm = Float[Tensor, "*batch"]
Gaps = Float[Tensor, "*batch n n"]


def gaps_of(directions: Float[Tensor, "*batch n d"]) -> Gaps:
    """1 − ⟨θ_i, θ_j⟩ = ‖θ_i − θ_j‖²/2 for unit vectors; the diagonal is zero.

    A gap from the cosine is good to 1e-16 only; a swarm with pairs closer than 1e-5 takes the time
    to look at the differences.
    """
    gaps = 1 - directions @ directions.mT
    gaps = (gaps + gaps.mT) / 2  # the product is symmetric to rounding only
    gaps.diagonal(dim1=-2, dim2=-1).zero_()
    close = (gaps < 1e-5).sum((-2, -1)) > gaps.shape[-1]  # the diagonal always is
    if bool(close.any()):
        those = directions[close]
        apart = torch.cdist(those, those, compute_mode="donot_use_mm_for_euclid_dist")
        gaps[close] = apart.square() / 2
    return gaps


def observe(gaps: Gaps, beta: float | Tensor = 1.0) -> dict[str, Tensor]:
    """By name everything that needs no more than the pairs, a number for each swarm."""
    n = gaps.shape[-1]
    pairs = pair_values(gaps)
    band = torch.tensor(BAND, dtype=gaps.dtype, device=gaps.device)
    # A low cosine is a high gap.
    high_gap, low_gap = quantiles(pairs, 1 - band).unbind(-1)
    return {
        "mean_cosine": 1 - pairs.mean(-1),
        "pair_low": 1 - high_gap,
        "pair_high": 1 - low_gap,
        "least_cosine": 1 - pairs.amax(-1),
        "together": (pairs <= 1 - TOGETHER).to(gaps.dtype).mean(-1),
        "clusters": clusters(gaps <= 1 - TOGETHER),
        "energy": energy(gaps, beta),
        "variance": gaps.sum((-2, -1)) / n**2,
    }


def pair_values(gaps: Gaps) -> Float[Tensor, "*batch pairs"]:
    """The gaps of the pairs i < j."""
    i, j = torch.triu_indices(gaps.shape[-1], gaps.shape[-1], 1, device=gaps.device)
    return gaps[..., i, j]


def quantiles(
    values: Float[Tensor, "*batch pairs"], shares: Float[Tensor, "shares"]
) -> Float[Tensor, "*batch shares"]:
    """Linear between the order statistics, as torch.quantile, which refuses long rows."""
    ordered = values.sort(-1).values
    places = shares * (values.shape[-1] - 1)
    below, above = places.floor().long(), places.ceil().long()
    part = places - below
    return ordered[..., below] * (1 - part) + ordered[..., above] * part


def energy(gaps: Gaps, beta: float | Tensor = 1.0) -> PerSwarm:
    """Σ_ij e^{β(⟨θ_i,θ_j⟩ − 1)}/(2βn²); the unnormalised flow climbs it, to 1/(2β) at one point."""
    beta = torch.as_tensor(beta, dtype=gaps.dtype, device=gaps.device)
    n = gaps.shape[-1]
    return torch.exp(-beta[..., None, None] * gaps).sum((-2, -1)) / (2 * beta * n**2)


def clusters(linked: Bool[Tensor, "*batch n n"]) -> Int[Tensor, "*batch"]:
    """Groups of tokens that are linked, directly or through others."""
    n = linked.shape[-1]
    own = torch.arange(n, device=linked.device)
    linked = linked | torch.eye(n, dtype=torch.bool, device=linked.device)
    label = own.expand(linked.shape[:-1])
    while True:
        # Each token takes the least label among its neighbours, then that label's own label.
        least = torch.where(linked, label[..., None, :], n).amin(-1)
        jumped = least.gather(-1, least)
        if torch.equal(jumped, label):
            return (label == own).sum(-1)
        label = jumped


def time_to_collapse(
    times: Float[Tensor, "times"], widest_gap: Float[Tensor, "times *batch"]
) -> PerSwarm:
    """The first time at which the farthest pair's cosine is .999, nan where it never is.

    Between two saved times log of the gap is taken to be linear.
    """
    bound = 1 - TOGETHER
    there = widest_gap <= bound
    first = there.to(torch.int8).argmax(0)
    before = (first - 1).clamp_min(0)
    high = widest_gap.gather(0, before[None])[0].clamp_min(1e-300).log()
    low = widest_gap.gather(0, first[None])[0].clamp_min(1e-300).log()
    part = torch.where(high > low, (high - math.log(bound)) / (high - low), 1.0)
    found = times[before] + part.clamp(0, 1) * (times[first] - times[before])
    found = torch.where(there[0], times[0], found)
    return torch.where(there.any(0), found, torch.nan)
