"""The paper's results as plain, readable functions: the reference for everything faster.

In the paper's order ("Limitations of Normalization in Attention Mechanism", arXiv 2508.17821):

| module | result |
|---|---|
| `vanishing` | Lemma 1, Corollary 1: weights are Θ(1/L) |
| `selection` | the top-N set and the context vector, eq. 6 |
| `distance` | d̃, eq. 7 |
| `distance_bounds` | Theorem 1.1, printed and corrected |
| `expected_distance` | Theorem 1.2: E printed, eq. 24, sandwich, exact, Monte Carlo |
| `jensen_gap` | the error term ε of Theorem 1.2 |
| `expected_limits` | Corollary 2 and its correction |
| `separability` | Theorem 2: r, N_s, ξ and the printed bounds |
| `separability_bounds` | Theorem 2 corrected |
| `sensitivity` | Corollary 3: the Jacobian of softmax |
| `general_normalizer` | Lemma 2: the Jacobian for any F |
| `finite_difference` | Algorithm 5's g and its sharp bound |
| `concentration`, `sharpness`, `coverage` | what the discussion asks to watch |
| `log_sum_exps` | the same from what fused kernels hand over |
| `trade_off` | the slides' closing sentence, and what holds instead |
| `random_logits`, `self_adjusted` | what the discussion's other rules do without a lead |
| `kolmogorov_smirnov` | what Algorithm 3's test can tell |

A row holds the keys that count for its query. Functions take one row or any batch of rows, compute
in the dtype they are given (float64 for a reference), and need torch and scipy only.
"""

from headgauge.theory.normalization import (  # noqa: F401  (read with the package)
    concentration,
    coverage,
    distance,
    distance_bounds,
    expected_distance,
    expected_limits,
    finite_difference,
    general_normalizer,
    jensen_gap,
    kolmogorov_smirnov,
    log_sum_exps,
    random_logits,
    selection,
    self_adjusted,
    sensitivity,
    separability,
    separability_bounds,
    sharpness,
    trade_off,
    vanishing,
)
