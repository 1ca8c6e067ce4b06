"""The vectors x_i of one sequence and what all rows and heads that use them share."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from headgauge.engine import selection_rows
from headgauge.errors import InputError


@dataclass(frozen=True, eq=False)
class Geometry:
    """x_i in float64, built once by `Geometry.of` and handed to every call that measures rows.

    The Gram matrix (keys² float64) and the nearest predecessors are made when the compiled rows
    first ask for them.
    """

    vectors: Float[Tensor, "keys dim"]
    unit: bool

    @staticmethod
    def of(vectors: Float[Tensor, "keys dim"], raw: bool = False) -> "Geometry":
        """Scaled to unit length (a zero vector stays zero), or as they are with `raw`."""
        if vectors.ndim != 2 or 0 in vectors.shape:
            raise InputError(f"vectors must be (keys, dim), got {tuple(vectors.shape)}")
        # Apple's GPUs have no float64.
        exact = torch.float32 if vectors.device.type == "mps" else torch.float64
        x = vectors.detach().to(exact).contiguous()
        if not bool(torch.isfinite(x).all()):
            raise InputError("vectors contain NaN or infinity: no distance is defined for them")
        if not raw:
            x = torch.nn.functional.normalize(x, dim=-1, eps=torch.finfo(exact).tiny)
        return Geometry(x, not raw)

    @property
    def keys(self) -> int:
        return self.vectors.shape[0]

    @cached_property
    def x(self) -> np.ndarray:
        return self.vectors.numpy()

    @cached_property
    def gram(self) -> np.ndarray:
        return (self.vectors @ self.vectors.T).contiguous().numpy()

    @cached_property
    def norms2(self) -> np.ndarray:
        return (self.vectors**2).sum(-1).numpy()

    @cached_property
    def nearest(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Each key's nearest predecessor, its squared distance, and the keys in that order."""
        places = np.empty(self.keys, np.int64)
        squares = np.empty(self.keys, np.float64)
        selection_rows.nearest_before(self.x, self.gram, self.norms2, places, squares)
        return places, squares, np.argsort(squares, kind="stable")
