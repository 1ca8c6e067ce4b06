"""Newton's iteration in torch against the compiled rows."""

import pytest
import torch

from headgauge import kernels
from headgauge.normalizers.entmax_function import entmax_weights, newton
from headgauge.normalizers.entmax_rows import entmax_forward

HIDDEN = ~torch.ones(40, 40, dtype=torch.bool).tril()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("alpha", [1.0, 1.001, 1.2, 1.5, 1.9, 2.0])
def test_both_paths_give_the_same_weights(alpha: float, dtype: torch.dtype) -> None:
    generator = torch.Generator().manual_seed(0)
    scores = (4 * torch.randn(3, 40, 40, generator=generator, dtype=torch.float64)).to(dtype)
    scores[0, 5] = 1e4
    scores[0, 6, 3] = 1e4
    number = torch.tensor(alpha, dtype=torch.float64)
    compiled = entmax_forward(scores, number, HIDDEN)
    plain = newton(scores, number, HIDDEN)
    close = 1e-13 if dtype == torch.float64 else 2e-6
    torch.testing.assert_close(compiled, plain, rtol=0, atol=close)


def test_both_paths_give_the_same_gradients() -> None:
    generator = torch.Generator().manual_seed(1)
    scores = torch.randn(3, 40, 40, generator=generator, dtype=torch.float64)
    gradient = torch.randn(3, 40, 40, generator=generator, dtype=torch.float64)
    results = []
    for compiled in (True, False):
        with kernels.use_compiled(compiled):
            z = scores.clone().requires_grad_()
            alpha = torch.tensor([[[1.0]], [[1.4]], [[2.0]]], dtype=torch.float64)
            alpha.requires_grad_()
            entmax_weights(z, alpha, HIDDEN).backward(gradient)
            results.append((z.grad, alpha.grad))
    torch.testing.assert_close(results[0][0], results[1][0], rtol=1e-9, atol=1e-12)
    torch.testing.assert_close(results[0][1], results[1][1], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("alpha", [1.0, 1.33, 1.5, 1.9, 2.0])
@pytest.mark.parametrize("keys", [1000, 100_000])
def test_flat_rows_sum_to_one_on_both_paths(alpha: float, keys: int) -> None:
    """In fp32 the threshold of a flat row has fewer digits than its weights."""
    generator = torch.Generator().manual_seed(2)
    rows = torch.stack([torch.full((keys,), 0.3), 1e-3 * torch.rand(keys, generator=generator)])
    number = torch.tensor(alpha, dtype=torch.float64)
    exact = entmax_forward(rows.double(), number, None)
    for weights in (newton(rows, number, None), entmax_forward(rows, number, None)):
        sums = weights.double().sum(-1)
        torch.testing.assert_close(sums, torch.ones_like(sums), rtol=0, atol=2e-6)
        torch.testing.assert_close(weights.double(), exact, rtol=0, atol=2e-5 / keys**0.5)
