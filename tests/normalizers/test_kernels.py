"""The compiled kernels: threads, switches, and life without them."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from headgauge import normalizers
from headgauge.normalizers import kernels

WITHOUT_NUMBA = """
import sys
sys.modules["numba"] = None
import torch
from headgauge import normalizers
from headgauge.normalizers import kernels
assert not kernels.serves(torch.zeros(3))
z = torch.tensor([-2.0, 0.0, 0.5], requires_grad=True)
weights = normalizers.get("sparsemax")(z)
weights[1].backward()
assert weights.tolist() == [0.0, 0.25, 0.75], weights
assert z.grad.tolist() == [0.0, 0.5, -0.5], z.grad
"""


def test_the_switch() -> None:
    tensor = torch.zeros(3)
    assert kernels.serves(tensor)
    with kernels.use_compiled(False):
        assert not kernels.serves(tensor)
    assert kernels.serves(tensor)


def test_everything_works_where_numba_is_missing() -> None:
    subprocess.run([sys.executable, "-c", WITHOUT_NUMBA], check=True)


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
