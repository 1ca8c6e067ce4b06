"""The phase diagram: the share of pairs that have become one, over time and β.

Uniform starts, Q = K = V = I. The inner products of all schemes, values of β and seeds are
simulated side by side; the dimension matters through the start alone.
"""

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from headgauge.particles import sphere
from headgauge.particles.attention import Attention
from headgauge.particles.inner_products import InnerProducts
from headgauge.particles.integrate import integrate
from headgauge.particles.schemes import Scheme
from headgauge.theory.dynamics.observables import TOGETHER, gaps_of

TOLERANCE = 1e-4  # of FLOOR: a hundredth of the gap at which a pair counts as one
FLOOR = 0.1
_AT_ONCE = 1 << 19  # numbers in the states of one batch: 2 MB in single precision, a cache's worth

Progress = Callable[[float], object]


def phase_diagram(
    schemes: Sequence[Scheme],
    tokens: int,
    dims: Sequence[int],
    betas: Sequence[float],
    times: Float[Tensor, "times"],
    seeds: int,
    device: str = "cpu",
    progress: Progress | None = None,
) -> list[dict[str, Any]]:
    """PhaseRow for every scheme, dimension, β and time."""
    combinations = list(product(range(len(dims)), range(len(schemes)), range(len(betas))))
    shares = torch.zeros(len(dims), len(schemes), len(betas), len(times), dtype=torch.float64)
    each = max(1, _AT_ONCE // (seeds * tokens**2))
    swarms = [[sphere.uniform(tokens, dim, seed) for seed in range(seeds)] for dim in dims]
    first = [torch.stack([gaps_of(each) for each in those]).to(device) for those in swarms]
    for begin in range(0, len(combinations), each):
        chosen = combinations[begin : begin + each]
        found = _shares(chosen, schemes, betas, first, times)
        for combination, share in zip(chosen, found, strict=True):
            shares[combination] = share
        if progress is not None:
            progress(min(1.0, (begin + each) / len(combinations)))
    return [
        {
            "scheme": scheme.name,
            "tokens": tokens,
            "dim": dim,
            "beta": beta,
            "time": time,
            "probability": float(shares[d, s, b, t]),
            "seeds": seeds,
        }
        for s, scheme in enumerate(schemes)
        for d, dim in enumerate(dims)
        for b, beta in enumerate(betas)
        for t, time in enumerate(times.tolist())
    ]


def _shares(
    chosen: Sequence[tuple[int, int, int]],
    schemes: Sequence[Scheme],
    betas: Sequence[float],
    first: Sequence[Float[Tensor, "seeds n n"]],
    times: Float[Tensor, "times"],
) -> Float[Tensor, "chosen times"]:
    """The mean over seeds and pairs for each (dimension, scheme, β)."""
    seeds, tokens, _ = first[0].shape
    gaps = torch.cat([first[dim] for dim, _, _ in chosen])
    mine = [schemes[scheme] for _, scheme, _ in chosen for _ in range(seeds)]
    beta = torch.tensor([betas[place] for _, _, place in chosen], dtype=torch.float64)
    attention = Attention(beta.repeat_interleave(seeds).to(gaps.device))
    system, state = InnerProducts.of(gaps, attention, mine, floor=FLOOR)
    found = torch.zeros(len(gaps), len(times), dtype=torch.float64)
    pairs = tokens * (tokens - 1)

    def saved(number: int, rows: Tensor, states: Tensor) -> None:
        together = (system.gaps(states) <= 1 - TOGETHER).sum((-2, -1)) - tokens
        found[rows.cpu(), number] = together.to("cpu", torch.float64) / pairs

    integrate(system, state, times, saved, TOLERANCE)
    return found.reshape(len(chosen), seeds, len(times)).mean(1)
