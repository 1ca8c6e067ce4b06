"""The compiled kernels: the cache, threads, switches, and life without them."""

import importlib
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType

import numpy as np
import pytest
import torch

from headgauge import kernels, normalizers
from headgauge.engine.loading_rows import root
from headgauge.normalizers import entmax_rows


def test_the_switch() -> None:
    tensor = torch.zeros(3)
    assert kernels.serves(tensor)
    with kernels.use_compiled(False):
        assert not kernels.serves(tensor)
    assert kernels.serves(tensor)


@pytest.fixture
def no_numba(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The package can be imported anew, and finds no numba; what was imported comes back."""

    def taken() -> dict[str, ModuleType]:
        ours = [name for name in sys.modules if name.split(".")[0] == "headgauge"]
        return {name: sys.modules.pop(name) for name in ours}

    before = taken()
    monkeypatch.setitem(sys.modules, "numba", None)
    yield
    taken()
    sys.modules.update(before)


@pytest.mark.usefixtures("no_numba", "unchecked")
def test_everything_works_where_numba_is_missing() -> None:
    engine, rules = map(importlib.import_module, ("headgauge.engine", "headgauge.normalizers"))
    assert not sys.modules["headgauge.kernels"].serves(torch.zeros(3))
    z = torch.tensor([-2.0, 0.0, 0.5], requires_grad=True)
    weights = rules.get("sparsemax")(z)
    weights[1].backward()
    assert weights.tolist() == [0.0, 0.25, 0.75]
    assert z.grad is not None
    assert z.grad.tolist() == [0.0, 0.5, -0.5]
    found = engine.curves(weights.detach()[None], engine.Geometry.of(torch.eye(3)), [1])
    assert found.separability.tolist() == [[1.0]]


@kernels.fused
def _loop(numbers, out):
    for i in range(numbers.shape[0]):
        out[i] = root(numbers[i])


@kernels.compiled
def _roots(numbers, out, start, stop):
    _loop(numbers[start:stop], out[start:stop])


@pytest.mark.parametrize(("real", "off"), [(np.float32, 3e-7), (np.float64, 1e-15)])
def test_roots_are_right_to_the_last_bits(real: type, off: float) -> None:
    smallest, largest = float(np.finfo(np.float32).tiny), float(np.finfo(np.float32).max)
    some = np.geomspace(smallest, largest, 100_003)
    numbers = np.concatenate([[0.0, smallest, 1.0, largest], some]).astype(real)
    found = np.full_like(numbers, np.nan)
    _roots(numbers, found, 0, len(numbers))
    assert found[0] == 0.0
    assert np.allclose(found, np.sqrt(numbers.astype(np.float64)), rtol=off, atol=0)


def test_rows_split_over_threads_are_the_same_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    logits = torch.randn(2, 67, 131, dtype=torch.float64)
    mask = torch.rand(67, 131) > 0.3
    gradient = torch.randn_like(logits)
    alpha = torch.linspace(1, 2, 67, dtype=torch.float64).requires_grad_()
    rule = normalizers.get("entmax", alpha=alpha)

    def results() -> list[torch.Tensor]:
        z = logits.clone().requires_grad_()
        weights = rule(z, mask)
        return [weights.detach(), *torch.autograd.grad(weights, (z, alpha), gradient)]

    inline = results()
    monkeypatch.setattr(kernels, "_SMALL", 1)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 3)
    for one, other in zip(inline, results(), strict=True):
        assert torch.equal(one, other)


def test_concurrent_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "_SMALL", 1)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    rule = normalizers.get("entmax")
    logits = torch.randn(8, 50, 60)
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(rule, logits))
    for row, weights in zip(logits, together, strict=True):
        assert torch.equal(weights, rule(row))


def test_what_other_kernels_call_has_no_way_in_from_python() -> None:
    """Numba itself would end the process."""
    z = torch.randn(2, 3)
    normalizers.get("entmax")(z)  # now it is compiled
    for _ in range(2):
        with pytest.raises(TypeError, match=r"_weight is for other kernels; .* _weight.py_func"):
            entmax_rows._weight(0.0, 0.0, 1.0)
