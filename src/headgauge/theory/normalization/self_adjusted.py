"""SA-Softmax, z∘softmax(z): how large its Jacobian gets.

With p = softmax(z) and C(p) = diag p − ppᵀ the Jacobian is diag p + diag(z)C(p), so

    ‖∇α‖₂ ≤ max p + max|z|·λ₁(C(p)) ≤ 1 + max|z|/2                    (`jacobian_bound`).

Two equal logits a ≥ 0 attain the first: their weights have the norm ½ + a/2, which no band holds.
"""

import torch

from headgauge.theory.checks import PerKey, PerRow, check_keys
from headgauge.theory.normalization.sensitivity import largest_eigenvalue


def jacobian_bound(logits: PerKey) -> PerRow:
    """max p + max|z|·λ₁(C(p)), attained by two equal logits that are not negative."""
    check_keys(logits)
    p = torch.softmax(logits, -1)
    return p.amax(-1) + logits.abs().amax(-1) * largest_eigenvalue(p)
