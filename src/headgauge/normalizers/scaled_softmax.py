"""Softmax of logits times a factor: the temperature, the laws of the length, top-k, and the
temperature that follows a row's own entropy."""

import math
from dataclasses import dataclass
from numbers import Integral

import torch
from torch import Tensor

from headgauge.normalizers.base import Fit, Normalizer, free, largest, limited
from headgauge.normalizers.jacobian import Jacobian, symmetric
from headgauge.normalizers.rows import Number, PerRow, Rows

_TEMPERATURE = Fit(0.1, 10.0, "log", unchanged=1.0)


@dataclass(frozen=True, eq=False)
class ScaledSoftmax(Normalizer):
    """softmax(c·z) with a factor c per row.

    J = c(diag p − ppᵀ), whose norm is |c| times the largest eigenvalue of the bracket and at most
    |c|/2, attained by two tied logits far above the rest.
    """

    sums_to_one = True
    form_f = True

    def factor(self, n: Tensor, positions: Tensor) -> PerRow:
        """c for rows that see n keys, at these positions."""
        raise NotImplementedError

    def factor_on_logits(self, n: Tensor) -> PerRow | None:
        return self.factor(n, n)

    def _factor(self, rows: Rows) -> float | Tensor:
        # The parameters were checked by name; what comes of them fits.
        return rows.column(self.factor(rows.length, rows.positions), "factor")

    def _weights(self, rows: Rows) -> Tensor:
        return rows.softmax(rows.scaled(self._factor(rows)))

    def _jacobian(self, rows: Rows) -> Jacobian:
        return symmetric(self._weights(rows)).scaled(self._factor(rows))

    def jacobian_bound(self, n: int) -> float | None:
        if n < 2:
            return 0.0
        length = torch.tensor(float(n), dtype=torch.float64)
        return largest(self.factor(length, length)) / 2


@dataclass(frozen=True, eq=False)
class Softmax(ScaledSoftmax):
    """exp(z_i/T)/Σ_j exp(z_j/T), with T → `temperature`.

    For bounded logits every weight is of order 1/n: the more keys, the flatter the row.
    """

    name = "softmax"
    formula = "exp(z/T)/Σ exp(z/T)"
    source = "–"
    jacobian_bound_text = "1/(2T), attained"
    neutral = {"temperature": 1.0}  # noqa: RUF012

    temperature: PerRow = limited(1.0, "positive", lambda T: T > 0, _TEMPERATURE)

    def factor(self, n: Tensor, positions: Tensor) -> PerRow:
        return 1.0 / self.temperature


@dataclass(frozen=True, eq=False)
class SSMax(ScaledSoftmax):
    """softmax((s·log n + b)·z), with s → `s` and b → `b`; usually one s per head.

    A logit Δ above all others keeps its weight as n grows exactly when sΔ > 1. The factor must
    multiply: adding s·log n to every logit changes nothing. The norm of the Jacobian grows with
    log n. From arXiv 2501.19399.
    """

    name = "ssmax"
    formula = "softmax((s·log n + b)·z)"
    source = "2501.19399"
    uses_length = True
    jacobian_bound_text = "|s·log n + b|/2, attained; grows with n"
    neutral = {"s": 0.0, "b": 1.0}  # noqa: RUF012

    # Alone, s has its no change near 1/log n: .2 for n = 150, .1 for n = 20,000.
    s: PerRow = free(1.0, Fit(0.01, 1.0, "log", unchanged=0.0))
    b: PerRow = free(0.0, Fit(-2.0, 4.0, unchanged=1.0))

    def factor(self, n: Tensor, positions: Tensor) -> PerRow:
        return self.s * n.log() + self.b


@dataclass(frozen=True, eq=False)
class LogLengthSu(ScaledSoftmax):
    """softmax(log_m(n)·z), with the base m → `train_length`.

    Keeps the entropy of a row roughly constant in n. Below the training length the factor is
    under 1 and flattens the row. From J. Su's note on scaling attention by log n (no arXiv id).
    """

    name = "log_length_su"
    formula = "softmax(log n/log m·z), m = 512"
    source = "–"
    uses_length = True
    jacobian_bound_text = "½·log n/log m, attained"

    train_length: Number = limited(512, "greater than 1", lambda m: m > 1)

    def factor(self, n: Tensor, positions: Tensor) -> PerRow:
        return n.log() / math.log(self.train_length)


@dataclass(frozen=True, eq=False)
class LogLengthQwen(ScaledSoftmax):
    """softmax(c·z), c = log_m(i) beyond the training length m and 1 up to it.

    m → `train_length`; i is the query's position counted from 1, the `positions` of the call and
    n by default. Unlike Su's law it never flattens a short row. From arXiv 2309.16609.
    """

    name = "log_length_qwen"
    formula = "softmax(max(log i/log m, 1)·z), m = train_length"
    source = "2309.16609"
    uses_length = True
    jacobian_bound_text = "½·max(log i/log m, 1), attained"

    train_length: Number = limited(2048, "greater than 1", lambda m: m > 1)

    def factor(self, n: Tensor, positions: Tensor) -> PerRow:
        return (positions.log() / math.log(self.train_length)).clamp(min=1.0)


@dataclass(frozen=True, eq=False)
class LogLengthYarn(ScaledSoftmax):
    """softmax((0.1·ln s + 1)²·z), with s → `scale`, how many times the context was extended.

    Squared because YaRN multiplies queries and keys alike. The factor depends on the extension
    that was configured, not on the n of a row; 1 where nothing was extended (s ≤ 1). From arXiv
    2309.00071.
    """

    name = "log_length_yarn"
    formula = "softmax((0.1·ln s + 1)²·z)"
    source = "2309.00071"
    jacobian_bound_text = "½·(0.1·ln s + 1)², attained"

    scale: Number = limited(1.0, "positive", lambda s: s > 0)

    def factor(self, n: Tensor, positions: Tensor) -> PerRow:
        return (0.1 * math.log(max(self.scale, 1.0)) + 1.0) ** 2


@dataclass(frozen=True, eq=False)
class TopK(ScaledSoftmax):
    """Softmax over the k largest visible logits, 0 elsewhere; k → `k`, T → `temperature`.

    Of tied logits the lowest indices are kept. The Jacobian is that of softmax on the kept keys;
    where the kept set changes the weights jump.
    """

    name = "topk"
    formula = "softmax(z/T) over the k largest, 0 elsewhere"
    source = "–"
    sparse = True
    form_f = False
    jacobian_bound_text = "1/(2T) while the kept keys stay the same; jumps at ties"

    k: int = limited(8, "a whole number from 1", lambda k: isinstance(k, Integral) and int(k) > 0)
    temperature: PerRow = limited(1.0, "positive", lambda T: T > 0, _TEMPERATURE)

    def factor(self, n: Tensor, positions: Tensor) -> PerRow:
        return 1.0 / self.temperature

    def factor_on_logits(self, n: Tensor) -> PerRow | None:
        return None  # of the largest alone

    def _weights(self, rows: Rows) -> Tensor:
        kept = Rows(rows.logits, ~_largest_k(rows, int(self.k)), None)
        return kept.softmax(kept.scaled(self._factor(rows)))

    def jacobian_bound(self, n: int) -> float | None:
        return super().jacobian_bound(min(n, self.k))


def _largest_k(rows: Rows, k: int) -> Tensor:
    """True at the k largest visible logits of each row, the lowest indices first among ties."""
    if k >= rows.keys:
        return rows.visible
    scores = rows.fill(rows.logits.detach(), -math.inf)
    threshold = scores.topk(k, dim=-1, sorted=False).values.amin(-1, keepdim=True)
    above = scores > threshold
    tied = (scores == threshold) & rows.visible
    room = k - above.sum(-1, keepdim=True)
    # A NaN compares false with everything: keep it, so that the row shows it.
    return above | (tied & (tied.cumsum(-1) <= room)) | scores.isnan()


# Highest power first, as printed with adaptive temperature: P(H) in nats, and its derivative.
_POLYNOMIAL = (-0.037, 0.481, -2.3, 4.917, -1.791)
_SLOPE = tuple(power * each for power, each in zip((4, 3, 2, 1), _POLYNOMIAL, strict=False))


@dataclass(frozen=True, eq=False)
class AdaptiveTemperature(Normalizer):
    """softmax(β·z), β = max(P(H), 1) if H > ½ else 1, with H the entropy of softmax(z) in nats.

    P(H) = −.037H⁴ + .481H³ − 2.3H² + 4.917H − 1.791 exceeds 1 for .849 < H < 5.945 only, so very
    flat rows (more than e^5.9 ≈ 380 equal keys) are left alone. β depends on the whole row and
    carries gradient: with p = softmax(z) and q the weights,

        J = β(diag q − qqᵀ) + β′(H)·(q∘(z − ⟨q, z⟩))∇Hᵀ,   ∇H = −p∘(log p + H).

    From arXiv 2410.01104.
    """

    name = "adaptive_temperature"
    formula = "softmax(β·z), β = max(P(H(softmax z)), 1)"
    source = "2410.01104"
    sums_to_one = True
    jacobian_bound_text = "none known"

    def _weights(self, rows: Rows) -> Tensor:
        _, _, entropy = _entropy(rows)
        return rows.softmax(rows.scaled(inverse_temperature(entropy)))

    def _jacobian(self, rows: Rows) -> Jacobian:
        p, log_p, entropy = _entropy(rows)
        beta = inverse_temperature(entropy)
        slope = _horner(_SLOPE, entropy).masked_fill(beta == 1.0, 0.0)
        weights = rows.softmax(rows.scaled(beta))
        mean = (weights * rows.seen).sum(-1, keepdim=True)
        moved = weights * (rows.seen - mean), -slope * p * (log_p + entropy)
        return Jacobian(beta * weights, ((-beta * weights, weights), moved))

    def jacobian_bound(self, n: int) -> float | None:
        return None if n > 1 else 0.0


def inverse_temperature(entropy: Tensor) -> Tensor:
    """β(H)."""
    sharpened = _horner(_POLYNOMIAL, entropy).clamp(min=1.0)
    return torch.where(entropy <= 0.5, 1.0, sharpened)


def _horner(coefficients: tuple[float, ...], x: Tensor) -> Tensor:
    value = torch.zeros_like(x)
    for coefficient in coefficients:
        value = value * x + coefficient
    return value


def _entropy(rows: Rows) -> tuple[Tensor, Tensor, Tensor]:
    """softmax(z), its logarithm (0 at invisible keys) and its entropy."""
    p = rows.softmax(rows.logits)
    # Finite also where vast logits are further apart than numbers go: p is 0 there, and 0·∞ NaN.
    lowest = torch.finfo(p.dtype).min
    shifted = rows.fill((rows.seen - rows.maximum()).clamp(min=lowest), 0.0)
    total = rows.fill(shifted.exp(), 0.0).sum(-1, keepdim=True)
    log_p = rows.fill(shifted - total.clamp(min=torch.finfo(total.dtype).tiny).log(), 0.0)
    return p, log_p, -(p * log_p).sum(-1, keepdim=True)
