import pytest
import torch

from headgauge.particles.equiangular import solve
from headgauge.particles.schemes import PreLn


@pytest.mark.usefixtures("unchecked")
def test_in_the_end_the_length_is_the_time():
    found = solve(PreLn(), 8, 1.7, torch.tensor([1e3, 1e4], dtype=torch.float64), radius0=1.3)
    assert (found.radius / found.time)[1].item() == pytest.approx(1, abs=1e-3)
    assert float(found.radius.diff() / found.time.diff()) == pytest.approx(1, abs=1e-5)
