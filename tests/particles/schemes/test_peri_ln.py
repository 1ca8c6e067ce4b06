import torch

from headgauge.particles import starts
from headgauge.particles.schemes import PeriLn


def test_the_size_of_attention_does_not_matter():
    x = starts.uniform(4, 5, seed=0)
    attention = torch.randn(4, 5, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    step = PeriLn().step(x, attention, 0.5, 0.0)
    assert torch.allclose(step, PeriLn().step(x, 1e-9 * attention, 0.5, 0.0), rtol=1e-14)
    assert torch.allclose((step - x).norm(dim=-1), torch.full((4,), 0.5, dtype=torch.float64))
