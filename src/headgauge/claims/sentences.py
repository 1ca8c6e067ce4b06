"""Where each sentence of the abstract and of the slides (arXiv 2508.17821, CC BY 4.0) is answered.

The quotes are theirs. A sentence is answered by records of the ledger, and one about a figure also
by the verdicts that `headgauge reproduce` reaches on a model and its texts.
"""

from collections.abc import Iterable
from itertools import groupby
from typing import NamedTuple


class Sentence(NamedTuple):
    where: str
    quote: str
    claims: tuple[str, ...]
    verdicts: tuple[str, ...]


# A place, its sentences, and below each "=" the records, then the verdicts by the names that a
# reproduction's tables give them.
_TEXT = """
# Abstract
a theoretical framework that enables the identification of the model’s selective ability and the
geometric separation involved in token selection
= 8 10 22
explicit bounds on distances and separation criteria for token vectors under softmax scaling
= 3 4 9 9'
Through experiments with pre-trained GPT-2 model, we empirically validate our theoretical results
= 6' 8 10 14'; distance grows with L; separability settles at .70–.85; sensitivity follows 1/T
as the number of selected tokens increases, the model’s ability to distinguish informative tokens
declines
= 8 10; separability settles at .70–.85; distance levels off
often converging toward a uniform selection pattern
= 22; critical N is about .06 L; expectation converges
gradient sensitivity under softmax normalization presents challenges during training, especially
at low temperature settings
= 11 14'; sensitivity follows 1/T; T < .1 raises Jacobians, not separability
motivate the need for more robust normalization and selection strategies
= 19 19' 20 21; length-aware rules restore separability

# Slides, why it matters
Softmax causes vanishing attention as context length L grows: α_i = O(1/L)
= 1 2; largest weight vanishes like 1/L
Loss of discriminative power between tokens
= 1 8; largest weight vanishes like 1/L
Noise dominating relevant context
= 1 6'; largest weight vanishes like 1/L
Unstable gradients when aggressively sharpening
= 11 14'; T < .1 raises Jacobians, not separability

# Slides, problem setting
F : ℝ → ℝ_{≥0} is a positive scoring function
= 1

# Slides, contributions
Derive non-asymptotic upper bounds on representation distance
= 3 3' 3''; bound is safe, conservative
Show collapse when the active set size N grows proportionally to context length L
= 8
Analyze attention in embedding space using metric geometry
= 9 9' 9''
Prove that no more than ∼ 80% of selected tokens can be simultaneously separated
= 10 9'; separability settles at .70–.85
General Jacobian bound for any normalization function F
= 12 11'
Recovers the 1/4T instability of softmax as a special case
= 12'' 11
Confirm distance collapse, separability saturation, and sharpness-stability trade-off
= 8 10 14' 19; distance levels off; separability settles at .70–.85
= T < .1 raises Jacobians, not separability

# Slides, key message
normalization fundamentally limits attention capacity
= 1' 10 19

# Slides, top-N selection
In attention, most weights α_i are small - only a few tokens matter
= 1 6'; largest weight vanishes like 1/L
Distance to non-selected tokens (loss of separation)
= 8 22

# Slides, Theorem 1
d̃ ≤ (1−ᾱ_N)d₁ + max‖x_j‖₂²[ᾱ_N(L−N) − (1−ᾱ_N)]
= 3'' 3; bound is safe, conservative
E[d̃] = (L−N)/L Σ‖(α_i + N/(L−1))x_i − x̄‖₂² + ε
= 4''' 4 5

# Slides, corollary
If N grows proportionally to sequence length L (i.e. N = Θ(L)), then d̃ → 0
= 8

# Slides, definition of N_s
Token embeddings lie on a sphere of radius M; minimum pairwise separation δ > 0
= 9 9'; vectors are isotropic; tokens keep their distance
among the N selected tokens, N_s are geometrically distinguishable
= 9 10; separability settles at .70–.85

# Slides, radius and its figure
Choose a tolerance radius so that all non-selected tokens are outside the ball around s
= 17
Only the selected tokens that remain inside the ball B_r(s) (shaded) are deemed distinguishable
= 9 17

# Slides, Theorem 2
ξ_i² = M²Σα_j² + (M² − δ²/2)Σ_{j≠k, j≠i}α_jα_k
= 9''
1 − (1/rN)Σξ_i ≤ E[N_s/N] ≤ (1/N)Σexp(−(r−ξ_i)²/16M²)
= 9 9' 18; upper bound tracks the maxima

# Slides, gradient sensitivity
A first-order expansion gives … ∼ √2 ε/T
= 13
even a tiny change in logits can cause large changes in attention weights when T is small
= 11 11' 14'; smaller ε, larger g

# Slides, Lemma 2
‖∇α‖₂ ≤ min{‖F′‖₂/(L min F) + ‖F‖₂‖F′‖₂/(L² min F²), √2}
= 12 12' 11'

# Slides, softmax instability
‖∇α‖₂ ≤ min{1/4T, √2}
= 11 11'; close to the bound for T < .1

# Slides, experimental setup
Distance: d̃ from Theorem 1 (collapse analysis)
= 8; distance levels off
Separability: N_s/N from Theorem 2 (geometric capacity)
= 10; separability settles at .70–.85
Sensitivity: finite-difference Jacobian ‖∇α‖₂
= 14; sensitivity follows 1/T

# Slides, figure 2
increasing N beyond 20 yields diminishing returns: the distance plateaus while the bound tightens
= 7 17; distance levels off; bound tightens
both the true distance (green) and its expectation (blue) grow roughly linearly in L; the red
upper bound is safe but conservative
= 6' 6 17; distance grows with L; expectation grows with L; bound is safe, conservative

# Slides, figure 3
fewer than 6 % of the tokens need to be selected before the empirical and expected distances
become statistically indistinguishable
= 16 17 22; critical N is about .06 L; critical N is .06 L at every L

# Slides, figure 4
Geometric separability saturates at 70–85%
= 10; separability settles at .70–.85
The red line shows the exponential upper bound from Theorem 2, while the blue line shows the
conservative lower bound
= 9 9'; upper bound tracks the maxima
roughly one-fifth of selected tokens remain outside B_r(s)
= 10; separability settles at .70–.85; upper bound tracks the maxima

# Slides, figure 5
Gradient sensitivity decays as 1/T
= 14 14'; sensitivity follows 1/T; curves collapse at T ≥ 1
The dashed black curve is the theoretical bound min{1/(4T), √2}
= 11 11'; close to the bound for T < .1

# Slides, trade-off
increasing N (active set size) leads to distance collapse
= 7 8; distance levels off
geometric capacity is bounded (N_s/N ≤ 0.8 even ideally)
= 10; separability settles at .70–.85
sharp attention (T → 0) explodes sensitivity: ‖∇α‖₂ ≤ 1/4T
= 11 14'; sensitivity follows 1/T
attention cannot be simultaneously highly selective (small N, sharp distribution), stable during
optimization (bounded gradients), and robust to long context (large L)
= 19 19'
Every normalization rule must trade off selectivity vs. stability
= 19 19'

# Slides, guidelines
N ≪ L ⇒ avoid distance collapse and loss of token discrimination
= 8 16; distance levels off
Use small top-k selection or sparsity constraints
= 19'
N_s/N → 0.7 - 0.85 ⇒ head is saturated
= 10; separability settles at .70–.85; entropy and N_s/N are early signs
Use N_s/N or attention entropy to detect when a head stops being selective
= 10; entropy and N_s/N are early signs
‖∇α‖₂ ∝ 1/T ⇒ T ≲ 0.1 leads to unstable gradients
= 11 14'; T < .1 raises Jacobians, not separability
Length-aware (Scalable-Softmax), sparse (Sparsemax/Entmax), or gradient-controlled (SA-Softmax)
normalizers mitigate the selectivity—stability trade-off
= 19' 20 21; length-aware rules restore separability

# Slides, conclusion
Any F independent of L forces α_i = O(1/L) - attention mass vanishes as context grows
= 1 1'; largest weight vanishes like 1/L
once N = Θ(L), attention loses separation power between informative and non-informative tokens
= 8
at most 70–85% of selected tokens remain geometrically distinguishable - heads have finite
resolution
= 10; separability settles at .70–.85
sharper distributions amplify sensitivity as ‖∇α‖₂ ∝ 1/T
= 11 14'; sensitivity follows 1/T

# Slides, implication
No normalization rule can be simultaneously sharp, stable, and long-context scalable
= 19 19'
"""


def _sentences(where: str, lines: Iterable[str]) -> list[Sentence]:
    parts = [" ".join(some) for _, some in groupby(lines, lambda line: line.startswith("= "))]
    found = []
    for quote, answers in zip(parts[::2], parts[1::2], strict=True):
        claims, *verdicts = answers.removeprefix("= ").replace(" = ", "; ").split("; ")
        found.append(Sentence(where, quote, tuple(claims.split()), tuple(verdicts)))
    return found


SENTENCES = tuple(
    sentence
    for where, *lines in (part.strip().splitlines() for part in _TEXT.split("\n# ")[1:])
    for sentence in _sentences(where, lines)
)
