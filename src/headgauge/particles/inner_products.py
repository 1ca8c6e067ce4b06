"""The same particles through their inner products alone, for Q = K = V = I.

With G = θθᵀ the attention's output needs no coordinates: A = Wθ has ⟨A_i, θ_j⟩ = (WG)_ij and
‖A_i‖² = Σ_k W_ik (WG)_ik, and W itself depends on G only. So G is a closed system of n² numbers
with one n × n product per evaluation, however many dimensions there are. The state holds the gaps
D = 1 − G instead, which keep their digits when the tokens come together. With ω_i = Σ_k W_ik and
E = WD

    D'_ij = −a_i(E_ii − E_ij + c_i D_ij) − a_j(E_jj − E_ji + c_j D_ij)
    c_i = ⟨θ_i, A_i⟩ = ω_i − E_ii,   ‖A_i‖² = ω_i² − Σ_k W_ik E_ik,   a_i = 1/s_i

from (WG)_ij − c_i G_ij = (ω_i − E_ij) − (ω_i − E_ii)(1 − D_ij). The diagonal of D stays zero and D
symmetric to the last bit, so every step is on the sphere without a projection.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from headgauge.errors import InputError
from headgauge.particles.attention import Attention
from headgauge.particles.schemes import Scheme, SchemeBatch
from headgauge.particles.systems import Scalars, Seen, States, Swarm, check_batch
from headgauge.theory.dynamics.schemes import TINY


@dataclass(frozen=True, eq=False)
class InnerProducts(Swarm):
    """Gaps and radii; errors of gaps count as shares of `floor` once the widest is below it."""

    floor: float = 0.0

    @staticmethod
    def of(
        gaps: Float[Tensor, "batch n n"],
        attention: Attention,
        schemes: Scheme | Sequence[Scheme],
        radius: float = 1.0,
        floor: float = 0.0,
    ) -> "tuple[InnerProducts, States]":
        """The system and its first state, from `observables.gaps_of` of the directions."""
        batch, tokens, _ = gaps.shape
        if not attention.pairs_suffice:
            raise InputError("inner products suffice for one head and Q = K = V = I only")
        check_batch(attention, batch, radius)
        batched = SchemeBatch.of(schemes, batch)
        state = torch.cat([gaps.flatten(1), torch.full_like(gaps[..., 0], radius)], 1)
        return InnerProducts(attention, tokens, floor, schemes=batched), state

    def gaps(self, state: States) -> Float[Tensor, "batch n n"]:
        return state[:, : self.tokens**2].unflatten(1, (self.tokens, self.tokens))

    def field(self, time: Scalars, state: States) -> States:
        gaps = self.gaps(state)
        met, own, norm, radial, _ = self._attend(gaps)
        pace, growth = self.schemes.rates(time, self.radius(state), radial, norm)
        # −a_i(E_ii − E_ij + c_i D_ij), then its mirror image. E is written over; `own`, a view of
        # its diagonal, is used before.
        pulled, kept = (pace * own)[..., None], (pace * radial)[..., None]
        half = met.mul_(pace[..., None]).sub_(pulled).addcmul_(kept, gaps, value=-1)
        moved = torch.empty_like(state)
        torch.add(half, half.mT, out=self.gaps(moved))
        self.radius(moved).copy_(growth)
        return moved

    def _attend(
        self, gaps: Float[Tensor, "batch n n"]
    ) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        """E = WD, its diagonal, ‖A‖, ⟨θ, A⟩ and ‖P_θ A‖."""
        softmax = self.attention.rule is None
        # Softmax does not see the β that all logits of a row share; the others do.
        beta = self.attention.beta.to(gaps.dtype)[:, None, None]
        logits = -beta * (gaps if softmax else gaps - 1)
        weights = self.attention.pattern(logits)
        met = weights @ gaps
        own = met.diagonal(dim1=-2, dim2=-1)
        total = torch.ones_like(own) if softmax else weights.sum(-1)
        spread = torch.linalg.vecdot(weights, met)
        norm = (total.square() - spread).clamp_min(0).sqrt()
        # ‖A‖² − ⟨θ, A⟩² without what the two share: it is as small as the gaps.
        across = (2 * total * own - own.square() - spread).clamp_min(0).sqrt()
        return met, own, norm, total - own, across

    def see(self, time: float, state: States) -> Seen:
        gaps, radius = self.gaps(state), self.radius(state)
        _, _, norm, radial, across = self._attend(gaps)
        now = torch.full_like(state[:, 0], time, dtype=torch.float64)
        pace, _ = self.schemes.rates(now, radius, radial, norm)
        return gaps, {"radius": radius, "attention_norm": norm, "speed": pace * across}

    def size(self, error: States, state: States) -> Scalars:
        """As a share of the swarm's widest gap, so that the digits last through a collapse."""
        widest = self.gaps(state).abs().amax((-2, -1)).clamp_min(max(self.floor, TINY))
        off = self.gaps(error).abs().amax((-2, -1)) / widest
        longer = (self.radius(error) / self.radius(state)).abs().amax(-1)
        return torch.maximum(off, longer)
