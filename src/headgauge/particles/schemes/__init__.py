"""The six schemes, one file each.

| scheme     | s_j                    | r'_j                  | residual step             |
|------------|------------------------|-----------------------|---------------------------|
| post_ln    | 1                      | 0                     | x ← N(x + hA)             |
| pre_ln     | r_j                    | ⟨θ_j, A_j⟩            | x ← x + hA(Nx)            |
| mix_ln     | 1 until τ, then r_j    | 0, then ⟨θ_j, A_j⟩    | Post-LN until τ, then Pre |
| peri_ln    | r_j‖A_j‖               | ⟨θ_j, A_j⟩/‖A_j‖      | x ← x + hA/‖A‖            |
| ngpt       | ‖A_j‖/α_t              | 0                     | x ← N(x + hα_t A/‖A‖)     |
| ln_scaling | √(t+1)                 | 0                     | x ← N(x + hA/√(t+1))      |
"""

from typing import Any

from headgauge.errors import InputError
from headgauge.particles.schemes.base import Scheme
from headgauge.particles.schemes.ln_scaling import LnScaling, LnScalingPre
from headgauge.particles.schemes.mix_ln import MixLn
from headgauge.particles.schemes.ngpt import NGpt
from headgauge.particles.schemes.peri_ln import PeriLn
from headgauge.particles.schemes.post_ln import PostLn
from headgauge.particles.schemes.pre_ln import PreLn

SCHEMES: dict[str, type[Scheme]] = {
    scheme.name: scheme for scheme in (PostLn, PreLn, MixLn, PeriLn, NGpt, LnScaling)
}
VARIANTS: dict[str, type[Scheme]] = {LnScalingPre.name: LnScalingPre}


def names() -> tuple[str, ...]:
    """The paper's six."""
    return tuple(SCHEMES)


def get(name: str, **options: Any) -> Scheme:
    """A scheme by name: get("ngpt", alpha=.6, decay=.1)."""
    known = name.strip().lower().replace("-", "_")
    all_of_them = SCHEMES | VARIANTS
    if known not in all_of_them:
        raise InputError(f"no scheme {name!r}; there are {', '.join(all_of_them)}")
    try:
        return all_of_them[known](**options)
    except TypeError:
        raise InputError(f"{known} has no such option: {', '.join(options)}") from None


__all__ = [
    "SCHEMES",
    "VARIANTS",
    "LnScaling",
    "LnScalingPre",
    "MixLn",
    "NGpt",
    "PeriLn",
    "PostLn",
    "PreLn",
    "Scheme",
    "get",
    "names",
]
