"""Every per-row measure of `theory` for blocks of rows and whole lists of N, exactly and fast.

A caller builds a `Geometry` once per set of vectors, hands each block of attention weights to
`curves` (what depends on N), `row_measures` (what does not) and `looks` (what depends on the places
of the keys), and keeps `Means`:

>>> import torch
>>> geometry = Geometry.of(torch.eye(8))
>>> means = Means()
>>> for block in torch.full((6, 8), 0.125).split(2):
...     means.add(curves(block, geometry, [1, 2, 4]))
>>> means.rows, means.mean("separability")
(array([6, 6, 6]), array([1., 1., 1.]))

All of it runs in compiled rows on the CPU and in plain torch on other devices; both follow `theory`
and are tested against it.
"""

from headgauge.engine.curves import Curves, Keys, curves
from headgauge.engine.finite_differences import Sensitivity, sensitivity
from headgauge.engine.fused_statistics import Statistics, stats
from headgauge.engine.geometry import Geometry, Precision
from headgauge.engine.looks import Looks, earlier_places, looks
from headgauge.engine.means import Means
from headgauge.engine.row_measures import RowMeasures, row_measures

__all__ = [
    "Curves",
    "Geometry",
    "Keys",
    "Looks",
    "Means",
    "Precision",
    "RowMeasures",
    "Sensitivity",
    "Statistics",
    "curves",
    "earlier_places",
    "looks",
    "row_measures",
    "sensitivity",
    "stats",
]
