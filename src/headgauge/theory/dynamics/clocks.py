"""The same way at another time: LN-Scaling beside Post-LN, Peri-LN beside Pre-LN. Q = K = V = I.

A factor of s_j that all tokens share changes when they are somewhere and not where they are.
LN-Scaling is Post-LN at the time 2(√(t+1) − 1), for every swarm whose matrices do not change in
time.

Peri-LN at the tokens and lengths of Pre-LN moves every token 1/‖A_j‖ times as fast, and A_j is a
mean of unit vectors with positive weights: ‖A_j‖ < 1 unless all tokens are one. From an orthogonal
start, with m = (n−1)e^{−β},

    1/‖A(0)‖ = (e^β + n − 1)/√(e^{2β} + n − 1) = (1 + m)/√(1 + me^{−β})

is at most 1 + m, at most √n (Cauchy; attained at β = 0) and at least √2 if m ≥ 1.

Equiangular tokens share one ‖A‖, so there Peri-LN is Pre-LN with dt/‖A‖ for dt: it is at
t = ∫₀^τ ‖A‖ where Pre-LN is at τ, on the same curve of γ and r, and never behind. Along that curve,
with p = −log(1 − γ) and the weights w, u of `equiangular`,

    (log r)' = ⟨θ, A⟩/(2q),   τ' = r/(2q),   (τ − t)' = r(1 − ‖A‖)/(2q),   q = u(1 + (n−1)γ)
    1 − ‖A‖² = (1 − γ)(n−1)u(2w + (n−2)u) ≤ 1 − γ

The lead τ − t only grows, and it has a limit since 1 − ‖A‖ falls like τ^{−2}. So 1 − γ ~ C/t² has
one C for both, and in the end Peri-LN's 1 − γ is smaller by the share 2·lead/t.

That ‖A(0)‖ is near 1, where n ≪ e^β, speaks of t = 0 alone. With n = 16 and β = 6 it is .964, but
‖A‖ falls to .817 at γ = .53: γ = .5 comes at t = 6.65e6 and not 7.73e6, and the lead tends to
4.12e6. With n = 256 and β = 5 it tends to 5.80.
"""

import math

import numpy as np
from scipy.integrate import solve_ivp

_END = 40.0  # −log(1 − γ) at which the lead has 2e-9 of itself to go
_LONGEST = 300.0  # of log r; beyond it squares of what is integrated overflow


def post_ln_time(time: float) -> float:
    """2(√(t+1) − 1), the time at which Post-LN is where LN-Scaling is at t."""
    return 2 * (math.sqrt(time + 1) - 1)


def peri_over_pre(tokens: int, beta: float) -> float:
    """How many times as fast as Pre-LN Peri-LN leaves an orthogonal start: 1/‖A(0)‖."""
    others = (tokens - 1) * math.exp(-beta)
    return (1 + others) / math.sqrt(1 + others * math.exp(-beta))


def times_to(gamma: float, tokens: int, beta: float, radius: float = 1.0) -> tuple[float, float]:
    """When Pre-LN and when Peri-LN comes from an orthogonal start to the cosine γ."""
    if not 0 <= gamma < 1:
        raise ValueError(f"a cosine on the way is 0 or more and below 1, got {gamma:g}")
    pre, lead = _followed(tokens, beta, radius, -math.log1p(-gamma))
    return pre, pre - lead


def lead(tokens: int, beta: float, radius: float = 1.0) -> float:
    """How much earlier than Pre-LN Peri-LN is in the end where Pre-LN is: the limit of τ − t."""
    return _followed(tokens, beta, radius, _END)[1]


def _followed(tokens: int, beta: float, radius: float, end: float) -> tuple[float, float]:
    """τ and τ − t at p = `end`, in plain floats: nothing here is what simulates the tokens."""
    if tokens < 2:
        raise ValueError(f"a swarm needs at least 2 tokens, got {tokens}")

    def along(p: float, state: np.ndarray) -> list[float]:
        gap, others = math.exp(-p), tokens - 1
        fall = math.exp(-beta * gap)
        own = 1 / (1 + others * fall)
        other = own * fall
        pull = 2 * other * (1 + others * (1 - gap))
        short = gap * others * other * (2 * own + (others - 1) * other)  # 1 − ‖A‖²
        # No cancellation: 1 − ‖A‖ = (1 − ‖A‖²)/(1 + ‖A‖).
        behind = short / (1 + math.sqrt(1 - short))
        time = math.exp(min(state[0], _LONGEST)) / pull
        return [(own + others * (1 - gap) * other) / pull, time, time * behind]

    start = [math.log(radius), 0.0, 0.0]
    found = solve_ivp(along, (0, end), start, "DOP853", rtol=1e-9, atol=1e-12)
    if found.y[0, -1] > _LONGEST:
        raise ValueError(f"{tokens} tokens at β = {beta:g} need more time than a number can hold")
    return float(found.y[1, -1]), float(found.y[2, -1])
