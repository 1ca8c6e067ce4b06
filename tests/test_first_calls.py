"""What is compiled ahead is what commands need, by the types of its arguments."""

from typing import Any

import pytest
import torch
from numba import typeof

import headgauge
from headgauge import engine, first_calls, kernels
from headgauge.normalizers.entmax_function import entmax_weights
from headgauge.particles import gap_rows

real_over_rows = kernels.over_rows


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> set[Any]:
    """Every kernel that ran, with the types it was given."""
    found: set[Any] = set()

    def record(kernel: Any, rows: int, entries: int, *arguments: Any) -> None:
        found.add((kernel, tuple(map(typeof, arguments))))
        real_over_rows(kernel, rows, entries, *arguments)

    monkeypatch.setattr(kernels, "over_rows", record)
    return found


def _types(wanted: list[first_calls.Call]) -> set[Any]:
    return {(each.make.func, tuple(map(typeof, each.make.args[:-2]))) for each in wanted}


@pytest.mark.parametrize("keys", ["visible", "all"])
@pytest.mark.parametrize("held", [True, False])
def test_rows_in_single_precision_and_what_they_leave_to_double(
    called: set[Any], monkeypatch: pytest.MonkeyPatch, keys: Any, held: bool
) -> None:
    if not held:
        monkeypatch.setattr("headgauge.engine.geometry.GRAM_BYTES", 1000)
    length = 40
    visible = torch.ones(length, length, dtype=torch.bool).tril()
    weights = torch.softmax(torch.randn(length, length).masked_fill(~visible, -torch.inf), -1)
    vectors = torch.randn(length, 6)
    geometry = engine.Geometry.of(vectors, precision="float32")
    engine.curves(weights, geometry, [1, 2, 8], visible, keys)
    engine.row_measures(weights, visible, weights, weights)
    engine.row_measures(weights, visible[:1] | True, weights)
    engine.looks(weights, visible, 0, torch.arange(length), torch.ones(length))
    first, then = first_calls.calls("scan")
    assert called == _types(first)
    called.clear()
    cancelling = torch.stack([vectors[0], -vectors[0]])
    alike = engine.Geometry.of(cancelling, precision="float32")
    engine.curves(torch.full((2, 2), 0.5), alike, [1], torch.ones(1, 2, dtype=torch.bool), keys)
    assert called <= _types(first + then)
    assert called >= _types(then)


def test_the_other_kinds(called: set[Any]) -> None:
    weights, visible = torch.full((2, 4), 0.25), torch.ones(2, 4, dtype=torch.bool)
    engine.curves(weights, engine.Geometry.of(torch.eye(4)), [1], visible)
    engine.row_measures(weights, visible, weights, weights)
    engine.looks(weights, visible, 0, torch.arange(4), torch.ones(4))
    assert called == _types(first_calls.calls("scan-float64")[0])
    called.clear()
    engine.sensitivity(weights, visible, [1.0], [0.1], weights)
    assert called <= _types(first_calls.calls("reproduce")[1])


def test_how_many_kernels_there_are_to_compile() -> None:
    found = first_calls.kernels_in(first_calls.calls("scan")[0])
    names = {kernel.py_func.__name__ for kernel in found}
    assert {"measure", "select", "square", "_quickly", "_bucket"} <= names
    assert "changes" not in names


@pytest.mark.parametrize("hidden", [None, torch.tensor([[False, True]])])
def test_rules_of_the_paper_and_of_a_comparison(called: set[Any], hidden: Any) -> None:
    entmax_weights(torch.zeros(1, 3, 2), 1.5, hidden)
    assert called
    assert called <= _types(first_calls.calls("compare")[1])
    entmax_weights(torch.zeros(1, 3, 2).double(), 1.5, hidden)
    assert len(called) == 2
    assert called <= _types(first_calls.calls("reproduce")[1])


def test_a_simulation(called: set[Any]) -> None:
    (call,), rest = first_calls.calls("simulate")
    assert not rest
    call.make()
    assert {kernel for kernel, _ in called} == {gap_rows.steps, gap_rows.within}
    small, _ = set(called), called.clear()
    headgauge.simulate(
        parts=("swarms", "rates"), tokens=5, dim=6, seeds=2, horizon=2.0, schemes=("peri_ln",)
    )
    assert called == small
    assert first_calls.kernels_in([call]) >= {
        gap_rows.steps,
        gap_rows._steps,
        gap_rows._exp_of_minus,
    }
