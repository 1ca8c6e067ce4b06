"""A unit of which some rows are measured, against the same unit with all of them."""

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch

from headgauge import models
from headgauge.measure.row_sample import RowSample
from headgauge.measure.unit import Unit, known_heads, measure_unit
from headgauge.runs import UnitKey, UnitTables
from headgauge.runs.columns import columns, error_of
from headgauge.runs.schema import KEYS, CurveRow, HeadRow
from headgauge.scanning.scanning import ScanSettings, scan_task
from model_families import case

LENGTH, ROWS = 40, 16
IDS = torch.randint(3, 50, (LENGTH,), generator=torch.Generator().manual_seed(5))
_NO_MEAN = ("window", "length", "layer", "head", "top_n", "keys")


def _measure(model: Any, curves: bool = True, **choices: Any) -> UnitTables:
    known: dict[str, Any] = {"top_ns": (1, 4), "precision": "float64", "keep_rows": True}
    settings = ScanSettings(lengths=(LENGTH,), **known | choices)
    unit = Unit(UnitKey(1, LENGTH), 0, tuple(IDS.tolist()))
    loaded = models.wrap(model)
    task = replace(scan_task(settings, unit.key), facts=known_heads(loaded, None, settings))
    return measure_unit(loaded, unit, settings, task if curves else replace(task, curves=()))


@pytest.fixture(scope="module", params=["llama", "mistral", "gptj"])
def model(request: Any) -> Any:
    """A window that slides has a mask of its own; GPT-J is seen at its softmax."""
    name = request.param
    return case(name, "eager" if name == "gptj" else "sdpa").model


@pytest.fixture(scope="module")
def both(model: Any) -> tuple[UnitTables, UnitTables]:
    return _measure(model), _measure(model, rows=ROWS, block_rows=7)


def test_the_rows_are_the_models_own(both: tuple[UnitTables, UnitTables]) -> None:
    whole, some = (each.tables["rows"] for each in both)
    places = some["row"].unique().sort().to_list()
    assert len(places) == ROWS
    assert some.height == whole["head"].n_unique() * whole["layer"].n_unique() * ROWS
    on = ["layer", "head", "row"]
    joined = some.join(whole, on=on, suffix="_all")
    for name in ("visible", "entropy", "sink_weight", "jacobian_norm", "output_norm"):
        if joined[name].is_not_null().any():
            assert joined[name].to_list() == pytest.approx(joined[f"{name}_all"].to_list()), name
    shown = both[1].tables["samples"]["row"].unique().to_list()
    assert len(shown) == 4
    assert set(shown) <= set(places)


def test_every_mean_is_that_of_its_rows(both: tuple[UnitTables, UnitTables]) -> None:
    """Weighted with the width of their strata, 2 or 3 rows."""
    sample = RowSample.drawn(LENGTH, ROWS, (0, 1, LENGTH))
    rows, heads = both[1].tables["rows"], both[1].tables["heads"]
    assert set(sample.widths) == {2.0, 3.0}
    for (layer, head), own in rows.sort("row").group_by("layer", "head"):
        (row,) = heads.filter(pl.col("layer") == layer, pl.col("head") == head).to_dicts()
        assert row["rows"] == ROWS
        for name in ("entropy", "sink_weight", "jacobian_norm", "output_norm"):
            if own[name].is_not_null().any():
                values = own[name].to_numpy()
                assert row[name] == pytest.approx(np.average(values, weights=sample.widths)), name
    spread = [name for name, column in columns(HeadRow).items() if column.over_rows]
    there = [name for name in spread if heads[name].is_not_null().any()]
    assert len(there) >= 10
    for name in there:
        assert (heads[name].is_null() == heads[error_of(name)].is_null()).all(), name
        assert (heads[error_of(name)].drop_nulls() >= 0).all()


def test_means_lie_within_their_errors(both: tuple[UnitTables, UnitTables]) -> None:
    for name, row in (("heads", HeadRow), ("curves", CurveRow)):
        whole, some = (each.tables[name] for each in both)
        if some.is_empty():
            continue
        on = [each for each in _NO_MEAN if each in whole.columns]
        joined = some.join(whole, on=on, suffix="_all")
        away, error = [], []
        for measure, column in columns(row).items():
            if column.over_rows:
                away += (joined[measure] - joined[f"{measure}_all"]).abs().to_list()
                error += joined[error_of(measure)].to_list()
        found = [a <= 3 * e for a, e in zip(away, error, strict=True) if None not in (a, e)]
        assert len(found) > 50
        assert np.mean(found) > 0.9


def test_all_rows_are_no_sample(model: Any) -> None:
    whole, some = _measure(model), _measure(model, rows=LENGTH)
    for name, row in (("heads", HeadRow), ("curves", CurveRow)):
        for measure, column in columns(row).items():
            ordered = (each.tables[name].sort(KEYS[name]) for each in (whole, some))
            one, other = (each[measure] for each in ordered)
            if column.kind is float:
                assert one.is_null().to_list() == other.is_null().to_list(), measure
                values = other.drop_nulls().to_list()
                assert one.drop_nulls().to_list() == pytest.approx(values), measure
            if column.over_rows:
                assert set(some.tables[name][error_of(measure)].drop_nulls()) <= {0.0}
        if name == "heads":
            assert error_of("entropy") not in whole.tables[name].columns


def test_heads_are_judged_where_no_curves_are_asked_for(
    model: Any, both: tuple[UnitTables, UnitTables]
) -> None:
    alone = _measure(model, curves=False, rows=ROWS, block_rows=7).tables
    assert alone["curves"].is_empty()
    assert (
        alone["heads"].sort("layer", "head").equals(both[1].tables["heads"].sort("layer", "head"))
    )


def test_some_of_a_sample_are_a_sample() -> None:
    """Each row of the window is among them equally often, whatever the widths."""
    counts = np.zeros(30)
    for seed in range(4000):
        chosen, part = RowSample.drawn(30, 8, (seed,)).some(3)
        assert (np.diff(chosen) > 0).all()
        assert part.widths.sum() == 30
        np.add.at(counts, part.places, part.widths)
    assert counts / 4000 == pytest.approx(np.ones(30), abs=0.25)
    sample = RowSample.drawn(30, 8, (0,))
    assert sample.some(None)[1] is sample
