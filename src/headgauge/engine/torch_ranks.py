"""In plain torch, what is one number per row and rank: masses, N_s and the ξ bounds of Theorem 2.

The formulas are those of `separability_rows`, for all rows of a piece at once.
"""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from headgauge.engine.separability_rows import ROUNDING
from headgauge.theory.normalization.separability import GUARD


@dataclass(frozen=True, eq=False)
class Ranks:
    """The largest weights of every row in order, (rows, ranks), and what lies within the first N
    and outside them, (rows, N) from 0 on."""

    values: Tensor
    places: Tensor
    own: Tensor  # ‖y‖²
    mass: Tensor  # ᾱ
    reach: Tensor  # Σ‖y‖
    chosen2: Tensor  # largest ‖x‖²
    tail: Tensor  # Σα outside
    longest2: Tensor  # largest ‖y‖² outside

    @staticmethod
    def of(values: Tensor, places: Tensor, norms2: Tensor, rest: Tensor, rest2: Tensor) -> "Ranks":
        """`norms2` has ‖x‖² of each rank, `rest` and `rest2` Σα and the largest ‖y‖² behind."""
        own = values**2 * norms2
        before = torch.nn.functional.pad
        # Added up from below: 1 − ᾱ would lose a sharp row's digits.
        tail = torch.cat([values, rest[:, None]], 1).flip(1).cumsum(1).flip(1)
        longest2 = torch.cat([own, rest2[:, None]], 1).flip(1).cummax(1).values.flip(1)
        return Ranks(
            values,
            places,
            own,
            before(values.cumsum(1), (1, 0)),
            before(own.sqrt().cumsum(1), (1, 0)),
            before(norms2.cummax(1).values, (1, 0)),
            tail,
            longest2,
        )


class Ball(NamedTuple):
    """The ball B_r(s) of every row, at one N."""

    radius: Tensor
    length: Tensor  # ‖s‖
    reach: Tensor  # Σ‖y‖ of what was added up to s


def counted(own: Tensor, squares: Tensor, ball: Ball) -> tuple[Tensor, Tensor]:
    """(N_s, whether it is certain) from squared distances in double, and ‖y‖² of the same ranks.

    Uncertain is a key whose distance comes so near r + 1e-9(‖s‖ + ‖y_i‖) that rounding could
    decide, the reference's included.
    """
    radius, length, reach = (each[:, None] for each in ball)
    edge = radius + GUARD * (length + own.sqrt())
    gap = squares - edge**2
    # r may belong to a key that is much longer than what was selected; r ≥ ‖y_j‖ − ‖s‖.
    doubt = ROUNDING * (own + (reach + radius) ** 2)
    return _told(gap, doubt, ball)


def roughly_counted(
    own: Tensor, h: Tensor, least: Tensor, longest2: Tensor, noise: float, ball: Ball
) -> tuple[Tensor, Tensor]:
    """The same from h = ‖y_i − s‖² − ‖s‖² and the least of the others, which single precision has
    wrong by `noise` of what they were added up from."""
    radius, length, reach = (each[:, None] for each in ball)
    y, longest = own.sqrt(), longest2.sqrt()[:, None]
    guard = GUARD * (length + y)
    gap = h - least[:, None] - guard * (2 * radius + guard)
    doubt = noise * (longest * (2 * reach + longest) + y * (2 * reach + y))
    return _told(gap, doubt, ball)


def _told(gap: Tensor, doubt: Tensor, ball: Ball) -> tuple[Tensor, Tensor]:
    n = gap.shape[1]
    # One key is s itself, without others r is infinite; all weights zero: every key is where s is.
    surely = torch.isinf(ball.radius) | ((ball.radius == 0) & (ball.reach == 0)) | (n == 1)
    held = torch.where(surely, n, (gap <= 0).sum(-1))
    return held.to(gap), surely | (gap.abs() > doubt).all(-1)


def xi_bounds(
    values: Tensor, separation2: Tensor, sphere2: Tensor, radius: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """(printed lower, printed upper, counted lower) for ranks of weights, from δ², M² and r."""
    n, heaviest, others = values.shape[1], values[:, :1], values[:, 1:]
    rest, rest2 = others.sum(-1, keepdim=True), (others**2).sum(-1, keepdim=True)
    # Only the first can be more than half of a sum: its rest is added up without it.
    total = torch.cat([rest, rest + heaviest - others], 1)
    total2 = torch.cat([rest2, rest2 + heaviest**2 - others**2], 1)
    cross = total**2 - total2
    sphere2, radius = sphere2[:, None], radius[:, None]
    # A single key has δ = ∞ and no cross term.
    inner = torch.where(cross > 0, (sphere2 - separation2[:, None] / 2) * cross, 0.0)
    xi = (sphere2 * total2 + inner).clamp(min=0).sqrt()
    summed = xi.sum(-1)
    lower = 1 - torch.where(summed > 0, summed / (radius[:, 0] * n), 0.0)
    upper = torch.exp(-((radius - xi) ** 2) / (16 * sphere2)).sum(-1) / n
    return lower, upper, (xi <= radius).sum(-1).to(xi) / n
