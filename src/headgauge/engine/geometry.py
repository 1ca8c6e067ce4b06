"""The vectors x_i of one sequence and what all rows and heads that use them share."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from headgauge import kernels
from headgauge.devices import most_exact
from headgauge.engine.checks import check_real
from headgauge.engine.separability_rows import nearest_before
from headgauge.engine.torch_products import Products
from headgauge.errors import InputError
from headgauge.products import times

Precision = Literal["float64", "float32"]

GRAM_BYTES = 512 << 20  # a Gram matrix of more is never held whole
PADDING = 32  # rows are worked on in whole vector registers, reading over their end
_IN_RANGE = (1e-12, 1e12)  # of the longest vector, for squares of squares in float32


@dataclass(frozen=True, eq=False)
class Geometry:
    """x_i in float64, built once by `Geometry.of` and handed to every call that measures rows.

    Their inner products and squared lengths, in `precision`, are made when rows first ask for them:
    numpy arrays for the compiled ones, `products` on the vectors' device for plain torch.
    """

    vectors: Float[Tensor, "keys dim"]
    unit: bool
    precision: Precision = "float64"

    def __post_init__(self) -> None:
        _check_vectors(self.vectors)
        if self.precision not in ("float64", "float32"):
            raise InputError(f'precision must be "float64" or "float32", got {self.precision!r}')

    @staticmethod
    def of(
        vectors: Float[Tensor, "keys dim"], raw: bool = False, precision: Precision = "float64"
    ) -> "Geometry":
        """Scaled to unit length (a zero vector stays zero), or as they are with `raw`.

        With `precision="float32"` rows run in single precision (see `curves`);
        vectors out of its range are worked on in double all the same.
        """
        _check_vectors(vectors)
        x = vectors.detach().to(most_exact(vectors.device)).contiguous()
        if not raw:
            x = torch.nn.functional.normalize(x, dim=-1, eps=torch.finfo(x.dtype).tiny)
        elif precision == "float32":
            longest = float(torch.linalg.vector_norm(x, dim=-1).max())
            if longest > 0 and not _IN_RANGE[0] < longest < _IN_RANGE[1]:
                precision = "float64"
        return Geometry(x, not raw, precision)

    def prepare(self) -> None:
        """Make now what the rows share, before several threads ask for it at once."""
        if kernels.serves(self.vectors):
            _ = self.gram if self.held else None
            _ = self.running2
        else:
            _ = self.products.running2

    @property
    def keys(self) -> int:
        return self.vectors.shape[0]

    @property
    def real(self) -> torch.dtype:
        """What rows are calculated in."""
        return torch.float32 if self.precision == "float32" else self.vectors.dtype

    @cached_property
    def double(self) -> "Geometry":
        """The same vectors for the rows that single precision cannot answer: on the CPU where
        their own device has no double."""
        x = self.vectors
        x = x if most_exact(x.device) == torch.float64 else x.cpu().double()
        return Geometry(x, self.unit, "float64")

    @cached_property
    def products(self) -> Products:
        """What rows in plain torch share."""
        return Products(self.vectors.to(self.real), GRAM_BYTES)

    @cached_property
    def padded(self) -> Float[Tensor, "padded_keys dim"]:
        """The vectors as the compiled rows see them, with zeros after the last."""
        return torch.nn.functional.pad(self.vectors.to(self.real), (0, 0, 0, PADDING))

    @cached_property
    def norms2(self) -> np.ndarray:
        """‖x‖², padding included."""
        exact = (self.vectors**2).sum(-1)
        return torch.nn.functional.pad(exact.to(self.real), (0, PADDING)).numpy()

    @property
    def held(self) -> bool:
        """Whether the Gram matrix is small enough to be kept."""
        return self.keys**2 * self.real.itemsize <= GRAM_BYTES

    def gram_rows(self, keys: slice | Tensor) -> np.ndarray:
        """⟨x_j, x_i⟩ for the keys j asked for and every i, padding included."""
        return times(self.padded[keys], self.padded.T).numpy()

    @cached_property
    def gram(self) -> np.ndarray:
        return self.gram_rows(slice(self.keys))

    @cached_property
    def nearest(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Each key's nearest predecessor, its squared distance, and the keys in that order."""
        places = np.empty(self.keys, np.int64)
        squares = np.empty(self.keys, np.float64)
        step = self.keys
        if not self.held:
            step = max(1, GRAM_BYTES // (self.keys * self.real.itemsize))
        rounding = (self.vectors.shape[1] + 8) * torch.finfo(self.real).eps
        for base in range(0, self.keys, step):
            some = slice(base, min(base + step, self.keys))
            gram = self.gram if self.held else self.gram_rows(some)
            count = some.stop - base
            given = self.vectors.numpy(), gram, base, self.norms2, rounding, places, squares
            kernels.over_rows(nearest_before, count, count * some.stop, *given)
        return places, squares, np.argsort(squares, kind="stable")

    @cached_property
    def running2(self) -> np.ndarray:
        """The smallest squared distance among the keys up to each one."""
        return np.minimum.accumulate(self.nearest[1])


def _check_vectors(vectors: Tensor) -> None:
    check_real("vectors", vectors)
    if vectors.ndim != 2 or 0 in vectors.shape:
        raise InputError(f"vectors must be (keys, dim), got {tuple(vectors.shape)}")
    if not bool(torch.isfinite(vectors).all()):
        raise InputError("vectors contain NaN or infinity: no distance is defined for them")
