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
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from headgauge import kernels
from headgauge.errors import InputError
from headgauge.particles import gap_rows
from headgauge.particles.attention import Attention
from headgauge.particles.schemes import Scheme, SchemeBatch
from headgauge.particles.systems import (
    Changes,
    Method,
    Scalars,
    Seen,
    Some,
    States,
    Step,
    Swarm,
    check_batch,
)
from headgauge.products import batched
from headgauge.theory.dynamics.schemes import TINY


@dataclass(frozen=True, eq=False)
class InnerProducts(Swarm):
    """Gaps and radii; errors of gaps count as shares of `floor` once the widest is below it."""

    floor: float = 0.0
    _held: dict[Any, list[Tensor]] = field(default_factory=dict, kw_only=True, repr=False)

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

    def compiled(self, dtype: torch.dtype, state: States) -> bool:
        """Whether steps are made by compiled rows: under softmax over all tokens, in single
        precision, by gains that are no more than a power of ‖A‖ at a time."""
        plain = self.attention.rule is None and not self.attention.causal
        told = plain and dtype == torch.float32 and state.dtype == torch.float64
        return told and kernels.serves(state) and self.schemes.divided is not None

    def step(
        self,
        method: Method,
        time: Scalars,
        size: Scalars,
        state: States,
        slope: States,
        changes: Changes,
    ) -> Step | None:
        if not self.compiled(slope.dtype, state):
            return None
        divided, (batch, m), n = self.schemes.divided, state.shape, self.tokens
        assert divided is not None
        shares = torch.tensor(method.shares, dtype=time.dtype)
        share, grows = self.schemes.powers(time + shares[:, None] * size)
        # Its memory begins where cache lines do, which what a kernel asks for may not; rows that
        # are read by columns do not begin a power of 2 apart.
        rows, wide = gap_rows.ROWS, n + gap_rows.LINE
        shapes = (m,), (m,), (n, wide), (rows + 1, wide), (rows, n)
        room = tuple(each.numpy() for each in self._room(slope, *shapes))
        # Those of the last step but one, unless that was taken back.
        end, new = self._others(state), self._others(slope)
        sizes = state.new_empty(batch, 3)
        coefficients = tuple(each.astype(np.float32) for each in (method.rows, method.error))
        gains = share.numpy(), divided.numpy(), grows.numpy()
        steps, beta = (each.float().numpy() for each in (size, self.attention.beta))
        given = (each.contiguous().numpy() for each in (state, slope, changes))
        out = end.numpy(), new.numpy(), sizes.numpy()
        arguments = *given, coefficients, steps, gains, beta, room, out
        kernels.over_rows(gap_rows.steps, batch, changes.numel(), *arguments)
        return Step(end, new, self._size(*sizes.unbind(1)))

    def within(
        self, which: Some, weights: Float[Tensor, "some changes"], before: States, changes: Changes
    ) -> Float[Tensor, "some m"] | None:
        if not self.compiled(changes.dtype, before):
            return None
        (seen,) = self._room(before, before.shape[1:], rows=len(which))
        order = torch.argsort(which, stable=True)  # what a trajectory's states share stays near
        given = (each.contiguous().numpy() for each in (before, changes, weights, which, order))
        kernels.over_rows(gap_rows.within, len(which), seen.numel(), *given, seen.numpy())
        return seen

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
        # Memory that is asked for anew costs as much as what is put into it.
        first, second = self._room(gaps, gaps.shape[1:], gaps.shape[1:])
        logits = torch.mul(gaps, -beta, out=first) if softmax else -beta * (gaps - 1)
        weights = self.attention.pattern(logits, out=second)
        met = batched(weights, gaps)
        own = met.diagonal(dim1=-2, dim2=-1)
        total = torch.ones_like(own) if softmax else weights.sum(-1)
        spread = torch.linalg.vecdot(weights, met)
        norm = (total.square() - spread).clamp_min(0).sqrt()
        # ‖A‖² − ⟨θ, A⟩² without what the two share: it is as small as the gaps.
        across = (2 * total * own - own.square() - spread).clamp_min(0).sqrt()
        return met, own, norm, total - own, across

    def _others(self, states: States) -> States:
        """Room for states that are not these: one of two that take turns."""
        one, other = self._room(states, states.shape[1:], states.shape[1:])
        return other if states.data_ptr() == one.data_ptr() else one

    def _room(self, like: Tensor, *shapes: tuple[int, ...], rows: int = 0) -> list[Tensor]:
        """For so many tensors, the same at every call, also of `only` some of the trajectories."""
        rows, key = rows or len(like), (like.dtype, like.device, shapes)
        if key not in self._held or len(self._held[key][0]) < rows:
            self._held[key] = [like.new_empty(rows, *shape) for shape in shapes]
        return [each[:rows] for each in self._held[key]]

    def see(self, time: float, state: States) -> Seen:
        gaps, radius = self.gaps(state), self.radius(state)
        _, _, norm, radial, across = self._attend(gaps)
        now = torch.full_like(state[:, 0], time, dtype=torch.float64)
        pace, _ = self.schemes.rates(now, radius, radial, norm)
        return gaps, {"radius": radius, "attention_norm": norm, "speed": pace * across}

    def size(self, error: States, state: States) -> Scalars:
        """As a share of the swarm's widest gap, so that the digits last through a collapse."""
        widest = self.gaps(state).abs().amax((-2, -1))
        off = self.gaps(error).abs().amax((-2, -1))
        longer = (self.radius(error) / self.radius(state)).abs().amax(-1)
        return self._size(off, widest, longer)

    def _size(self, off: Scalars, widest: Scalars, longer: Scalars) -> Scalars:
        return torch.maximum(off / widest.clamp_min(max(self.floor, TINY)), longer)
