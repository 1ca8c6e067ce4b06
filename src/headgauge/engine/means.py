"""Means over rows, gathered block by block.

>>> import torch
>>> from headgauge.engine import row_measures
>>> means = Means()
>>> means.add(row_measures(torch.tensor([[0.5, 0.5], [1.0, 0.0]])))
>>> means.add(row_measures(torch.tensor([[0.25, 0.75]])))
>>> int(means.rows), float(means.mean("sink_weight").round(3))
(3, 0.583)
"""

from dataclasses import fields

import numpy as np

from headgauge.engine.curves import Curves
from headgauge.engine.row_measures import RowMeasures
from headgauge.errors import InputError


class Means:
    """Sums over the rows that count, and their number; blocks and other Means can be added.

    The sums of a head take a few numbers per N, so a caller can stream blocks of rows and never
    hold a layer. A measure that does not apply to some counting row (NaN, such as a bound that
    needs weights that sum to one) has no mean: one over fewer rows could not be compared with the
    others.
    """

    def __init__(self) -> None:
        self.sums: dict[str, np.ndarray] = {}
        self.rows: np.ndarray = np.zeros(0, np.int64)

    def add(self, block: Curves | RowMeasures) -> None:
        """Take in the rows of one block."""
        if not isinstance(block, Curves | RowMeasures):
            kind = type(block).__name__
            raise InputError(f"means take what curves or row_measures gave, got {kind}")
        counting = block.counts
        sums = {
            field.name: np.asarray(np.where(counting, getattr(block, field.name), 0.0).sum(0))
            for field in fields(block)
        }
        self._take(sums, np.asarray(counting.sum(0)))

    def merge(self, other: "Means") -> None:
        """Take in what another gathered from other rows."""
        if other.sums:
            self._take(other.sums, other.rows)

    def _take(self, sums: dict[str, np.ndarray], rows: np.ndarray) -> None:
        if not self.sums:
            self.sums, self.rows = dict(sums), rows
            return
        if self.sums.keys() != sums.keys() or self.rows.shape != rows.shape:
            raise InputError("these means hold other measures or another list of N")
        self.sums = {name: np.asarray(self.sums[name] + more) for name, more in sums.items()}
        self.rows = np.asarray(self.rows + rows)

    def mean(self, measure: str) -> np.ndarray:
        """The mean over the counting rows, per N where there is one; NaN without rows."""
        if measure not in self.sums:
            raise InputError(f"no measure {measure!r} here, only {', '.join(self.sums)}")
        nobody = self.rows == 0
        return np.where(nobody, np.nan, self.sums[measure] / np.where(nobody, 1, self.rows))

    def means(self) -> dict[str, np.ndarray]:
        """Every mean by the name of its measure."""
        return {name: self.mean(name) for name in self.sums}
