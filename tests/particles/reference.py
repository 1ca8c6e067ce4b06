"""The paper's table, its particles and its reduction in plain numpy, integrated by scipy.

Written from the formulas alone: nothing here calls what it is there to test.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
from scipy.integrate import solve_ivp

from headgauge.particles import schemes
from headgauge.particles.schemes import LnScaling, LnScalingPre, MixLn, NGpt, Scheme

SIX: list[Scheme] = [
    schemes.get("post_ln"),
    schemes.get("pre_ln"),
    MixLn(switch=2.0),
    schemes.get("peri_ln"),
    NGpt(alpha=0.6, decay=0.1),
    LnScaling(),
]
ALL = [*SIX, LnScalingPre()]

Field = Callable[[float, np.ndarray], np.ndarray]


def name_of(value: object) -> str | None:
    """How pytest calls a scheme."""
    return value.name if isinstance(value, Scheme) else None


def speed(scheme: Scheme, t: float, r: np.ndarray, norm: np.ndarray) -> np.ndarray:
    """s_j, line by line as the table has it."""
    one = np.ones_like(norm)
    match scheme:
        case MixLn():
            return one if t <= scheme.switch else r * one
        case NGpt():
            return norm / (scheme.alpha / (1 + scheme.decay * t))
    return {
        "post_ln": one,
        "pre_ln": r * one,
        "peri_ln": r * norm,
        "ln_scaling": math.sqrt(t + 1) * one,
        "ln_scaling_pre": r * math.sqrt(t + 1) * one,
    }[scheme.name]


def growth(scheme: Scheme, t: float, radial: np.ndarray, norm: np.ndarray) -> np.ndarray:
    """r'_j, line by line."""
    zero = np.zeros_like(norm)
    if isinstance(scheme, MixLn):
        return zero if t <= scheme.switch else radial
    return {
        "post_ln": zero,
        "pre_ln": radial,
        "peri_ln": radial / norm,
        "ngpt": zero,
        "ln_scaling": zero,
        "ln_scaling_pre": radial / math.sqrt(t + 1),
    }[scheme.name]


def layer(scheme: Scheme, x: np.ndarray, A: np.ndarray, h: float, t: float) -> np.ndarray:
    """The residual step, line by line; ‖x_j‖ = 1 where the table has N."""

    def N(y: np.ndarray) -> np.ndarray:  # noqa: N802
        return y / np.linalg.norm(y, axis=-1, keepdims=True)

    unit = N(A)
    match scheme:
        case MixLn():
            return N(x + h * A) if t <= scheme.switch else x + h * A
        case NGpt():
            return N(x + h * scheme.alpha / (1 + scheme.decay * t) * unit)
    return {
        "post_ln": N(x + h * A),
        "pre_ln": x + h * A,
        "peri_ln": x + h * unit,
        "ln_scaling": N(x + h * A / math.sqrt(t + 1)),
        "ln_scaling_pre": x + h * A / math.sqrt(t + 1),
    }[scheme.name]


def attend(theta: np.ndarray, beta: float, *, causal: bool = False) -> np.ndarray:
    """A_j for Q = K = V = I, token by token."""
    n = len(theta)
    out = np.zeros_like(theta)
    for j in range(n):
        seen = theta[: j + 1] if causal else theta
        power = np.exp(beta * (seen @ theta[j]))
        out[j] = power @ seen / power.sum()
    return out


def particle_field(scheme: Scheme, n: int, attention: Callable[[np.ndarray], np.ndarray]) -> Field:
    """θ'_j = P A_j/s_j and r'_j on the flat state (θ, r)."""

    def field(t: float, y: np.ndarray) -> np.ndarray:
        theta, r = y[:-n].reshape(n, -1), y[-n:]
        A = attention(theta)
        radial, norm = (theta * A).sum(-1), np.linalg.norm(A, axis=-1)
        turn = (A - radial[:, None] * theta) / speed(scheme, t, r, norm)[:, None]
        return np.concatenate([turn.ravel(), growth(scheme, t, radial, norm)])

    return field


def reduced_field(scheme: Scheme, n: int, beta: float, *, normalised: bool = True) -> Field:
    """γ' and r' of the equiangular reduction, term by term."""
    e = math.exp

    def field(t: float, y: np.ndarray) -> np.ndarray:
        g, r = y
        Z = e(beta) + (n - 1) * e(beta * g) if normalised else n
        radial = np.array((e(beta) + (n - 1) * g * e(beta * g)) / Z)
        square = e(2 * beta) + 2 * (n - 1) * g * e(beta * (1 + g))
        square += (n - 1) * e(2 * beta * g) * (1 + (n - 2) * g)
        norm = np.array(math.sqrt(square) / Z)
        s = speed(scheme, t, np.array(r), norm)
        change = 2 * e(beta * g) * (1 - g) * (1 + (n - 1) * g) / Z / s
        return np.array([change, growth(scheme, t, radial, norm)])

    return field


def solve(
    field_of: Callable[[Scheme], Field], scheme: Scheme, start: np.ndarray, times: Sequence[float]
) -> np.ndarray:
    """The states at `times` by scipy; Mix-LN is Post-LN up to τ and Pre-LN from there on."""
    parts: list[tuple[Scheme, float, float]] = [(scheme, 0.0, times[-1])]
    if isinstance(scheme, MixLn) and scheme.switch < times[-1]:
        post, pre = schemes.get("post_ln"), schemes.get("pre_ln")
        parts = [(post, 0.0, scheme.switch), (pre, scheme.switch, times[-1])]
    found = {0.0: start}
    for each, begin, end in parts:
        asked = sorted({*(t for t in times if begin < t <= end), end})
        run = solve_ivp(
            field_of(each), (begin, end), start, "DOP853", asked, rtol=1e-12, atol=1e-14
        )
        assert run.success
        found |= dict(zip(asked, run.y.T, strict=True))
        start = run.y[:, -1]
    return np.stack([found[t] for t in times])
