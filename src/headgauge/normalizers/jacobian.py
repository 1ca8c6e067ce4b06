"""The Jacobian of one rule at one set of rows: diagonal plus a few outer products.

Every rule here couples the keys of a row only through sums over that row, so

    ∂weights_i/∂logits_k = a_i δ_ik + Σ_t u_ti w_tk

with at most three terms. A product with a vector costs O(keys), and no keys × keys matrix is
ever needed.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from headgauge.theory.normalization.sensitivity import largest_eigenvalue

_BASIS = 12  # Krylov vectors per cycle: two or three cycles suffice on ordinary rows
_CYCLES = 8
_CHUNK = 1 << 18  # entries of one basis vector held at a time


@dataclass(frozen=True, eq=False)
class Jacobian:
    """J = diag(`diagonal`) + Σ left ⊗ right over `terms`, one matrix per row.

    Invisible keys and dead rows have zero rows and columns. `closed_norm` gives ‖J‖₂ where there is
    a formula for it.
    """

    diagonal: Float[Tensor, "*rows keys"]
    terms: tuple[tuple[Float[Tensor, "*rows keys"], Float[Tensor, "*rows keys"]], ...] = ()
    closed_norm: Callable[[], Tensor] | None = None

    def product(self, vector: Float[Tensor, "*rows keys"]) -> Float[Tensor, "*rows keys"]:
        """J·vector: how the weights move when the logits move along `vector`."""
        result = self.diagonal * vector
        for left, right in self.terms:
            result = result + left * (right * vector).sum(-1, keepdim=True)
        return result

    def transposed(self) -> "Jacobian":
        """Jᵀ, whose product is the gradient to the logits for a gradient to the weights."""
        terms = tuple((right, left) for left, right in self.terms)
        return Jacobian(self.diagonal, terms, self.closed_norm)

    def scaled(self, factor: float | Float[Tensor, "... 1"]) -> "Jacobian":
        """The Jacobian of f(c·z) from that of f, for a factor c per row."""
        terms = tuple((left * factor, right) for left, right in self.terms)
        size, closed = abs(factor), self.closed_norm
        size = size.squeeze(-1) if isinstance(size, Tensor) else size
        norm = None if closed is None else lambda: closed() * size
        return Jacobian(self.diagonal * factor, terms, norm)

    def dense(self) -> Float[Tensor, "*rows keys keys"]:
        """The matrices themselves, for small rows and for tests."""
        matrix = torch.diag_embed(self.diagonal)
        for left, right in self.terms:
            matrix = matrix + left.unsqueeze(-1) * right.unsqueeze(-2)
        return matrix

    def spectral_norm(self, tolerance: float = 1e-9) -> Float[Tensor, "*rows"]:
        """The largest singular value of each row's J, by restarted Krylov iteration on JᵀJ where
        there is no closed form.

        A row is done when a whole cycle of twelve products moves its value by no more than
        `tolerance` of itself (never asked for more than the dtype holds). The start is fixed, so
        the same rows give the same numbers. Rows still moving after a few cycles, whose singular
        values lie close together, are finished by bisection on how many of them exceed a value
        (`count_above`). A row with a NaN or an infinity gives NaN. Next to a one-hot row, where
        the diagonal cancels against the outer products, what is left of the norm is exact to
        about 1e-16 of the largest entry of either.
        """
        *rows, keys = shape = self.diagonal.shape
        if self.diagonal.numel() == 0:
            return self.diagonal.new_zeros(rows)
        if self.closed_norm is not None:
            return self.closed_norm()
        if not self.terms:
            return self.diagonal.abs().amax(-1)
        wide = self.diagonal.dtype if self.diagonal.device.type == "mps" else torch.float64
        flat = self._each(lambda tensor: tensor.detach().to(wide).expand(shape).reshape(-1, keys))
        step = max(1, _CHUNK // keys)
        norms = [
            flat._each(lambda tensor, at=at: tensor[at : at + step])._norms(tolerance)
            for at in range(0, len(flat.diagonal), step)
        ]
        return torch.cat(norms).to(self.diagonal.dtype).reshape(rows)

    def _each(self, function: Callable[[Tensor], Tensor]) -> "Jacobian":
        terms = tuple((function(left), function(right)) for left, right in self.terms)
        return Jacobian(function(self.diagonal), terms)

    def _select(self, index: Tensor) -> "Jacobian":
        return self._each(lambda tensor: tensor[index])

    def _norms(self, tolerance: float) -> Tensor:
        """The norms of rows on one axis."""
        norms = self.diagonal.new_full(self.diagonal.shape[:1], torch.nan)
        finite = self.diagonal.isfinite().all(-1)
        for left, right in self.terms:
            finite = finite & left.isfinite().all(-1) & right.isfinite().all(-1)
        open_rows = finite.nonzero().squeeze(-1)
        part, scale = self._select(open_rows)._scaled_to_one()
        vector = _start(part.diagonal)
        value = torch.zeros_like(part.diagonal[:, 0])
        floor = 8 * torch.finfo(value.dtype).eps
        tolerance = max(tolerance, floor)
        for _ in range(_CYCLES):
            if open_rows.numel() == 0:
                return norms
            new_value, vector = part._krylov_cycle(vector)
            # Entries are at most 1 here: below the floor there is only rounding.
            moving = (new_value - value).abs() > tolerance * new_value + floor
            norms[open_rows[~moving]] = (new_value * scale)[~moving]
            open_rows, value, vector = open_rows[moving], new_value[moving], vector[moving]
            part, scale = part._select(moving.nonzero().squeeze(-1)), scale[moving]
        if open_rows.numel():
            norms[open_rows] = part._bisected_norms(value) * scale
        return norms

    def _scaled_to_one(self) -> tuple["Jacobian", Tensor]:
        """The rows divided by the size of their entries, whose squares might not be numbers."""
        size = self.diagonal.abs().amax(-1)
        for left, right in self.terms:
            size = torch.maximum(size, left.abs().amax(-1) * right.abs().amax(-1))
        size = nonzero(size)
        columns = size[:, None]
        # Each outer product is balanced first, lest one side vanish while the other explodes.
        terms = []
        for left, right in self.terms:
            weight = nonzero(right.abs().amax(-1, keepdim=True))
            terms.append((left * (weight / columns), right / weight))
        return Jacobian(self.diagonal / columns, tuple(terms)), size

    def _bisected_norms(self, below: Tensor) -> Tensor:
        """The norms, to 1e-12, from values that are not above them."""
        width = torch.full_like(below, 1e-9)
        lower, upper = below, below * (1 + width)
        while bool((low := self.count_above(upper) > 0).any()):
            lower = torch.where(low, upper, lower)
            width = torch.where(low, 4 * width, width)
            upper = torch.where(low, upper * (1 + width), upper)
        while bool((upper - lower > 1e-12 * upper).any()):
            middle = (lower + upper) / 2
            low = self.count_above(middle) > 0
            lower, upper = torch.where(low, middle, lower), torch.where(low, upper, middle)
        return upper

    def count_above(self, value: Tensor) -> Tensor:
        """How many singular values of each row exceed `value`, in O(keys).

        They are the eigenvalues above it of [[0, J], [Jᵀ, 0]]. With J = D + UWᵀ that matrix less
        `value` is P + CNCᵀ: P has a 2 × 2 block per key, C = diag(U, W) and N swaps the two. By
        Sylvester's law of inertia the count is that of P, plus the positive eigenvalues of the
        small matrix −N⁻¹ − CᵀP⁻¹C, minus the number of terms.
        """
        value = value[:, None]
        outside = (self.diagonal.abs() > value).sum(-1)
        gap = (value - self.diagonal.abs()) * (value + self.diagonal.abs())
        gap = gap.masked_fill(gap == 0, torch.finfo(gap.dtype).tiny)
        left, right = (torch.stack(side, dim=-1) for side in zip(*self.terms, strict=True))
        own, cross = (value / gap)[..., None], (self.diagonal / gap)[..., None]
        corner = left.mT @ (cross * right)
        swap = torch.eye(len(self.terms), dtype=corner.dtype, device=corner.device)
        top = torch.cat([left.mT @ (own * left), corner - swap], dim=-1)
        bottom = torch.cat([corner.mT - swap, right.mT @ (own * right)], dim=-1)
        small = torch.cat([top, bottom], dim=-2)
        # Scaling rows and columns alike keeps the signs and makes the entries comparable.
        size = nonzero(small.diagonal(dim1=-2, dim2=-1).abs().sqrt())
        small = small / size[..., :, None] / size[..., None, :]
        return outside + (torch.linalg.eigvalsh(small) > 0).sum(-1) - len(self.terms)

    def _krylov_cycle(self, vector: Tensor) -> tuple[Tensor, Tensor]:
        """The best value and direction in span{v, JᵀJv, (JᵀJ)²v, …}, orthonormalised."""
        transposed = self.transposed()
        basis = [_unit(vector)]
        images = [self.product(basis[0])]
        for _ in range(min(_BASIS, vector.shape[-1]) - 1):
            fresh = transposed.product(images[-1])
            before = _norm(fresh)
            for _ in range(2):  # once leaves rounding errors of the size of what is sought
                for known in basis:
                    fresh = fresh - known * (known * fresh).sum(-1, keepdim=True)
            # What is left of an exhausted space is noise: drop it rather than scale it up.
            keep = _norm(fresh) > 1e3 * torch.finfo(fresh.dtype).eps * before
            basis.append(torch.where(keep, _unit(fresh), 0.0))
            images.append(self.product(basis[-1]))
        image = torch.stack(images, dim=1)
        _, vectors = torch.linalg.eigh(image @ image.mT)
        direction = _unit((torch.stack(basis, dim=1) * vectors[..., -1:]).sum(1))
        return _norm(self.product(direction)).squeeze(-1), direction


def _norm(vector: Tensor) -> Tensor:
    return torch.linalg.vector_norm(vector, dim=-1, keepdim=True)


def _unit(vector: Tensor) -> Tensor:
    return vector / _norm(vector).clamp(min=torch.finfo(vector.dtype).tiny)


def nonzero(size: Tensor) -> Tensor:
    """To divide by: 1 in place of 0."""
    return size.masked_fill(size == 0, 1.0)


def _start(like: Tensor) -> Tensor:
    """The same arbitrary direction every time: orthogonal to nothing in particular."""
    generator = torch.Generator().manual_seed(0)
    start = torch.randn(like.shape[-1], generator=generator, dtype=torch.float64)
    return start.to(like).expand_as(like)


def symmetric(
    spread: Float[Tensor, "*rows keys"],
    total: Float[Tensor, "*rows 1"] | None = None,
    missing: Float[Tensor, "*rows"] | None = None,
) -> Jacobian:
    """diag(s) − ssᵀ/total, the shape shared by softmax (total 1), sparsemax and entmax.

    Its norm is total·λ₁(s/total), with λ₁ the largest eigenvalue of diag p − ppᵀ; `missing` is
    1 − Σp where that is known better than as a difference.
    """
    shares = spread if total is None else spread / total

    def norm() -> Tensor:
        value = largest_eigenvalue(shares, missing)
        return value if total is None else total.squeeze(-1) * value

    return Jacobian(spread, ((-shares, spread),), norm)
