import math

import numpy as np
import polars as pl
import torch

from headgauge import engine
from headgauge.measure.head import Gathered, HeadCurves
from headgauge.runs.schema import CurveRow, PaperCurveRow, frame_schema

PLACE = {"window": 2, "length": 5, "layer": 1, "occurrence": 0, "module": "m"}
CHOICE = {"vectors": "final", "scale": "unit", "keys": "visible"}


def _curves(head: int, top_ns: tuple[int, ...], scale: float = 1.0, **more: str) -> HeadCurves:
    source = torch.Generator().manual_seed(head)
    weights = scale * torch.softmax(torch.randn(3, 5, generator=source), -1)
    geometry = engine.Geometry.of(torch.randn(5, 4, generator=source))
    means = engine.Means()
    visible = torch.ones(5, 5, dtype=torch.bool).tril()[2:]
    means.add(engine.curves(weights, geometry, top_ns, visible, "visible"))
    return HeadCurves(PLACE | CHOICE | {"head": head} | more, top_ns, means)


def _table(name: str, *curves: HeadCurves) -> pl.DataFrame:
    return Gathered({name: list(curves)}).table(name)


def test_a_row_for_every_head_and_n_in_its_table():
    found = [_curves(0, (1, 2)), _curves(1, (1, 3, 4), rule="sparsemax"), _curves(3, (2,))]
    scanned, paper = _table("curves", found[0], found[2]), _table("paper_curves", found[1])
    assert dict(scanned.schema) == dict(frame_schema(CurveRow))
    assert dict(paper.schema) == dict(frame_schema(PaperCurveRow))
    assert scanned.select("head", "top_n").rows() == [(0, 1), (0, 2), (3, 2)]
    assert paper.select("head", "top_n", "rule").rows() == [
        (1, 1, "sparsemax"), (1, 3, "sparsemax"), (1, 4, "sparsemax"),
    ]  # fmt: skip
    for name, value in (PLACE | CHOICE).items():
        assert set(scanned[name]) == {value}
    for each, table in ((found[1], paper), (found[2], scanned.filter(head=3))):
        for name, values in each.means.means().items():
            assert np.array_equal(table[name].to_numpy(), values, equal_nan=True), name


def test_the_number_of_rows_falls_as_n_grows():
    """Rows that see 3, 4 and 5 keys: at N = 3 the first no longer counts, at 4 the second."""
    table = _table("curves", _curves(0, (1, 3, 4)))
    assert table["rows"].to_list() == [3, 2, 1]


def test_what_is_not_finite_is_null():
    # No row sees more than 5 keys; a bound of weights that do not sum to one does not apply.
    table = _table("curves", _curves(0, (2, 5), scale=0.5))
    assert table["rows"].to_list() == [3, 0]
    assert table["distance"].null_count() == 1
    assert table["bound_printed"].null_count() == 2
    for name in table.columns:
        if table[name].dtype == pl.Float64:
            assert all(math.isfinite(value) for value in table[name].drop_nulls())


def test_no_curves_are_an_empty_table():
    assert dict(_table("paper_curves").schema) == dict(frame_schema(PaperCurveRow))
