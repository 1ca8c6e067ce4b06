"""The bounds of arXiv 2510.22026 as second-hand notes have them, and what is true beyond them.

Q = K = V = I, one head, no mask.

Corollary of Theorem 3.1. With c_k = ⟨θ_j, θ_k⟩ Pre-LN's radius grows with

    r'_j = ⟨θ_j, A_j⟩ = (e^β + Σ_{k≠j} c_k e^{βc_k})/(e^β + Σ_{k≠j} e^{βc_k})

Stated: n ≤ e^β ⇒ r'_j ≥ (e^β − n + 1)/(n e^β), from c e^{βc} ≥ −1 above and e^{βc} ≤ e^β below.
Sharp: the c_k are free in [−1, 1] as soon as d ≥ 2, so the least value ρ is the one for which
min_c e^β(1−ρ) + Σ_k (c_k−ρ)e^{βc_k} = 0. Every term has its minimum −e^{βρ−1}/β at c = ρ − 1/β if
that is at least −1; then x = β(1−ρ) solves xe^x = (n−1)/e, and otherwise all c_k = −1. Hence

    min r'_j = 1 − W((n−1)/e)/β               if 1 + W((n−1)/e) ≤ 2β   (W: Lambert's function)
             = tanh(β − ½ log(n−1))            else

attained by n−1 tokens at one angle to the j-th. It is positive exactly for n − 1 < βe^{β+1} if
β ≥ 1 and n − 1 < e^{2β} if β ≤ 1: this, not n ≤ e^β, is when r'_j is bounded away from 0. For
Peri-LN ‖A_j‖ ≤ 1 makes r'_j = ⟨θ_j, A_j⟩/‖A_j‖ no smaller where it is positive.

Theorem 4.2. For independent uniform directions and β = 1, max_j ‖A_j(0)‖ ≤ C(√(log n/n) + log n/d)
with high probability. Sharper: given its cosines c_k the j-th token sees
θ_k = c_k θ_j + √(1−c_k²) u_k with independent u_k, uniform on a sphere of dimension d−2, so

    E‖P_θ A_j‖² = Σ_k w_jk²(1 − c_k²) ≤ Σ_k w_jk² = S_j

and ‖P_θ A_j‖ is a function of the u_k whose gradient has a norm of at most √S_j. The sphere's
log-Sobolev constant d−2 (cited, not proved here) and a union over j give, for all j at once,

    ‖P_θ A_j‖ ≤ √S_j (1 + √(2 log(n/p)/(d−2)))        with probability 1 − p

With S_j ≈ 1/n and ⟨θ_j, A_j⟩ ≈ β/d (the mean of c under e^{βc}; its spread is measured, not
bounded here) the size is √(1/n + β²/d²): no log n, unless log n is as large as d.

Theorem 4.3. In a cone in which all gaps 1 − ⟨θ_i, θ_j⟩ are at most δ let m be the mean direction
and V = 1 − ‖m‖² the variance, which is the mean of all n² gaps. With D_j = mean_k of the gaps,
S_j = Σ_k w_jk² and e_j = A_j − m = Σ_k (w_jk − 1/n)(θ_k − m)

    V' = −(2/n) Σ_j ⟨P_j m, m + e_j⟩/s_j
    ‖P_j m‖² = 2D_j − V − D_j²,  D_j ≤ δ(n−1)/n,  so  (1 − δ(n−1)/n)V ≤ mean_j ‖P_j m‖² ≤ V
    ‖e_j‖² ≤ (nS_j − 1)V ≤ sinh²(βδ/2) V

The last line is Cauchy's inequality with mean_k ‖θ_k − m‖² = V; nS_j − 1 is the variance of n
numbers nw_jk of mean 1 whose ratios are at most R = e^{βδ}, so at most (R−1)²/(4R). With a = 1/s
between its least and greatest value over the tokens

    2V(a_least(1 − δ(n−1)/n) − a_greatest sinh(βδ/2)) ≤ −V' ≤ 2V a_greatest(1 + sinh(βδ/2))

What must be small is (1 + β)δ, and that is sharp: a pair with one s has −V'/(2aV) =
(1 − δ/2)(1 − tanh(βδ/2)) = 1 − (1+β)δ/2 + …, the lower bound's first order, and any equiangular
tokens attain it at β = 0. βδ alone does not do: an antipodal pair stands still at every β. n does
not matter. The spherical hull of the tokens never grows, so δ stays; and from equal lengths the a_j
stay within (1 − δ)² of each other under all six schemes, since 1 − δ ≤ ⟨θ_j, A_j⟩ ≤ ‖A_j‖ ≤ 1
bounds what r_j grows by and what Peri-LN and nGPT divide by.
"""

import math

import torch
from jaxtyping import Float
from scipy.special import lambertw
from torch import Tensor

from headgauge.theory.dynamics.schemes import NGpt, Scheme


def radial_rate_stated(tokens: int, beta: float) -> float:
    """(e^β − n + 1)/(n e^β), what the corollary says of r'_j for n ≤ e^β."""
    return (1 - (tokens - 1) * math.exp(-beta)) / tokens


def least_radial_rate(tokens: int, beta: float) -> float:
    """The least ⟨θ_j, A_j⟩ of all configurations in two or more dimensions; attained."""
    if tokens < 2:
        raise ValueError(f"a swarm needs at least 2 tokens, got {tokens}")
    if not beta >= 0:
        raise ValueError(f"β must be 0 or more, got {beta:g}")
    others = tokens - 1
    solution = float(lambertw(others / math.e).real)
    if 1 + solution <= 2 * beta:
        return 1 - solution / beta
    return math.tanh(beta - math.log(others) / 2)


def tokens_allowed(beta: float) -> float:
    """r'_j is bounded away from 0 for n below this, and for no other n."""
    return 1 + (beta * math.exp(beta + 1) if beta >= 1 else math.exp(2 * beta))


def least_radial_cosine(tokens: int, beta: float) -> float:
    """The cosine at which the other tokens attain `least_radial_rate`."""
    return max(least_radial_rate(tokens, beta) - 1 / beta, -1.0) if beta > 0 else -1.0


def attention_bound_stated(tokens: int, dim: int, constant: float = 1.0) -> float:
    """Theorem 4.2: C(√(log n/n) + log n/d)."""
    return constant * (math.sqrt(math.log(tokens) / tokens) + math.log(tokens) / dim)


def attention_size(tokens: int, dim: int, beta: float = 1.0) -> float:
    """√(1/n + β²/d²), the size of ‖A_j(0)‖ for uniform directions."""
    return math.hypot(1 / math.sqrt(tokens), beta / dim)


def across_bound(
    weights: Float[Tensor, "*batch n n"], dim: int, failure: float = 0.01
) -> Float[Tensor, "*batch n"]:
    """√S_j (1 + √(2 log(n/p)/(d−2))), above every ‖P_θ A_j‖ with probability 1 − p."""
    if dim < 3:
        raise ValueError(f"this bound needs 3 dimensions or more, got {dim}")
    spread = math.sqrt(2 * math.log(weights.shape[-1] / failure) / (dim - 2))
    return weights.square().sum(-1).sqrt() * (1 + spread)


def cone_rates(
    width: float, beta: float, pace: Float[Tensor, "n"]
) -> tuple[Float[Tensor, ""], Float[Tensor, ""]]:
    """Between what −V'/V must lie in a cone of gaps up to δ = `width`; `pace` is 1/s_j."""
    least, greatest, n = pace.amin(), pace.amax(), len(pace)
    bent = math.sinh(beta * width / 2)
    return 2 * (least * (1 - width * (n - 1) / n) - greatest * bent), 2 * greatest * (1 + bent)


def cone_scale(scheme: Scheme, time: float) -> float:
    """Theorem 4.3's scale in Var' = −Θ(Var/scale): s_j as it is in the end."""
    if isinstance(scheme, NGpt):
        return (1 + scheme.decay * time) / scheme.alpha
    if scheme.grows(torch.tensor(time)):
        return time
    return math.sqrt(time) if scheme.name == "ln_scaling" else 1.0


def cone_scale_stated(scheme: Scheme, time: float) -> float:
    """The same with nGPT's α_t where its inverse belongs."""
    scale = cone_scale(scheme, time)
    return 1 / scale if isinstance(scheme, NGpt) else scale
