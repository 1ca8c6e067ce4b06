"""A unit of a model that is on another device: no call that the CPU alone has, no double where the
device has none, and a few tables come back for all heads of a layer, not some for each."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import polars as pl
import pytest
import torch

from elsewhere import Elsewhere, device_elsewhere, move
from headgauge import models
from headgauge.measure.unit import Unit, known_heads, measure_unit
from headgauge.runs import UnitKey, UnitTables
from headgauge.runs.schema import KEYS
from headgauge.scanning.scanning import ScanSettings, scan_task
from model_families import case
from scanning.conftest import LENGTH, three_windows

FAMILIES = {"llama": "sdpa", "mistral": "sdpa", "t5": "eager", "gptj": "eager"}


def _measured(loaded: models.LoadedModel, **choices: Any) -> UnitTables:
    settings = ScanSettings(lengths=(LENGTH,), top_ns=(1, 2, 4, 8), **choices)
    unit = Unit(UnitKey(0, LENGTH), 0, tuple(three_windows()[0].tolist()))
    facts = known_heads(loaded, None, settings)
    task = scan_task(settings, unit.key)
    # Off the sink some rows serve, and none of them alone.
    few = tuple(replace(each, rows=each.rows and 5) for each in task.curves)
    return measure_unit(loaded, unit, settings, replace(task, facts=facts, curves=few))


@pytest.fixture(params=[True, False], ids=["double", "no-double"])
def mode(request: Any, monkeypatch: pytest.MonkeyPatch, unchecked: None) -> Iterator[Elsewhere]:
    with device_elsewhere(monkeypatch, request.param, 1 << 22) as found:
        yield found


def _same(found: UnitTables, wanted: UnitTables) -> None:
    for name in ("heads", "curves"):
        table, other = (each.tables[name].sort(KEYS[name]) for each in (found, wanted))
        assert table.columns == other.columns
        for column in table.columns:
            got, own = table[column], other[column]
            assert got.is_null().to_list() == own.is_null().to_list(), column
            values = own.drop_nulls().to_list()
            within: Any = values
            if column == "separability_lower":  # where ξ = r a key may count or not
                within = pytest.approx(values, abs=0.05)
            elif own.dtype == pl.Float64:
                within = pytest.approx(values, rel=1e-4, abs=1e-6)
            assert got.drop_nulls().to_list() == within, column
    shown = "row", "key", "visible"
    assert found.tables["samples"].select(shown).equals(wanted.tables["samples"].select(shown))


@pytest.mark.parametrize(
    ("name", "choices"),
    [*((name, {}) for name in FAMILIES), ("llama", {"rows": 9}), ("llama", {"keep_rows": True})],
)
def test_a_unit_is_the_cpus(mode: Elsewhere, name: str, choices: dict[str, Any]) -> None:
    model = case(name, FAMILIES[name]).model
    wanted = _measured(models.wrap(model), **choices)
    move(model, mode)
    _same(_measured(models.wrap(model), **choices), wanted)


def test_what_comes_back_is_little(mode: Elsewhere) -> None:
    """Per layer, whatever the number of heads; none of it has all keys of each row."""
    model = case("llama", "sdpa").model
    move(model, mode)
    loaded, settings = models.wrap(model), ScanSettings(lengths=(LENGTH,), top_ns=(1, 4))
    unit = Unit(UnitKey(0, LENGTH), 0, tuple(three_windows()[0].tolist()))
    known = known_heads(loaded, None, settings)
    task = replace(scan_task(settings, unit.key), facts=known)
    mode.left.clear()
    measure_unit(loaded, unit, settings, task)
    layers, heads, rows = 2, 4, LENGTH
    tables = Counter(shape for shape in mode.left if len(shape) > 1)
    assert (heads, rows, LENGTH) not in tables
    wide = [shape for shape in tables if rows in shape and shape[-1] in (8, 32)]
    assert not wide, "values, outputs and the stream stay there: their lengths are asked for"
    assert (heads // 2 * rows, 2, 16) in tables  # of two heads, which share their values
    weights = {(8, 32): layers * heads}  # W_O, whose products are kept
    assert sum((tables - Counter(weights)).values()) <= 20 * layers


def test_a_model_is_told_by_the_same_numbers(mode: Elsewhere) -> None:
    model = case("llama", "sdpa").model
    wanted = models.fingerprint(model)
    move(model, mode)
    assert models.fingerprint(model) == wanted


def test_masks_are_kept_where_there_is_room(
    mode: Elsewhere, monkeypatch: pytest.MonkeyPatch
) -> None:
    most = LENGTH**2 // 2  # less than the whole mask: the CPU would keep none
    monkeypatch.setattr("headgauge.models.attention_rows._KEPT", most)
    model, calls = case("llama", "sdpa").model, list[models.ObservedCall]()
    move(model, mode)
    with torch.no_grad(), models.intercept(model, calls.append):
        model(mode.far(three_windows()[:1]), use_cache=False)
    (call, *_) = calls
    assert isinstance(call, models.AttentionCall)
    _ = call.block(0, 0, 0, LENGTH).visible
    assert (0, (LENGTH, LENGTH)) in call.causal_masks


def test_rules_are_measured_there(mode: Elsewhere) -> None:
    """Head by head: not all is the model's own."""
    model = case("llama", "sdpa").model
    move(model, mode)
    loaded, settings = models.wrap(model), ScanSettings(lengths=(LENGTH,), top_ns=(1, 4))
    unit = Unit(UnitKey(0, LENGTH), 0, tuple(three_windows()[0].tolist()))
    rules = "entmax:alpha=1.5", "softmax:temperature=0.5"
    task = replace(scan_task(settings, unit.key), rules=rules, tables=("rule_heads",))
    found = measure_unit(loaded, unit, settings, task).tables["rule_heads"]
    assert len(found) == 8 * (1 + 2 * len(rules))  # on its logits, and inside the model
