"""Means over rows, gathered block by block.

>>> import torch
>>> from headgauge.engine import Geometry, curves
>>> means = Means()
>>> for block in torch.tensor([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0], [0.4, 0.3, 0.3]]).split(2):
...     means.add(curves(block, Geometry.of(torch.eye(3)), [1, 2]))
>>> means.rows, means.mean("distance").round(3)
(array([3, 3]), array([1.402, 0.763]))
"""

from dataclasses import fields

import numpy as np

from headgauge.engine.curves import Curves
from headgauge.errors import InputError

_NAMES = tuple(field.name for field in fields(Curves))


class Means:
    """Sums over the rows that count, and their number.

    The sums of a head take a few numbers per N, so a caller can stream blocks of rows and never
    hold a layer. A measure that does not apply to some counting row (NaN, such as a bound that
    needs weights that sum to one) has no mean: one over fewer rows could not be compared with the
    others.
    """

    def __init__(self) -> None:
        self.sums: dict[str, np.ndarray] = {}
        self.rows: np.ndarray = np.zeros(0, np.int64)

    def add(self, block: Curves) -> None:
        """Take in the rows of one block."""
        if not isinstance(block, Curves):
            raise InputError(f"means take what curves gave, got {type(block).__name__}")
        counting = block.counts
        rows = counting.sum(0)
        every = np.stack([getattr(block, name) for name in _NAMES])
        if not counting.all():
            every[:, ~counting] = 0.0
        sums = dict(zip(_NAMES, every.sum(1), strict=True))
        if not self.sums:
            self.sums, self.rows = sums, rows
            return
        if self.rows.shape != rows.shape:
            raise InputError("these means hold another list of N")
        self.sums = {name: self.sums[name] + more for name, more in sums.items()}
        self.rows = self.rows + rows

    def mean(self, measure: str) -> np.ndarray:
        """The mean over the counting rows, per N; NaN without rows."""
        if measure not in self.sums:
            raise InputError(f"no measure {measure!r} here, only {', '.join(self.sums)}")
        nobody = self.rows == 0
        return np.where(nobody, np.nan, self.sums[measure] / np.where(nobody, 1, self.rows))

    def means(self) -> dict[str, np.ndarray]:
        """Every mean by the name of its measure."""
        return {name: self.mean(name) for name in self.sums}
