import pytest
import torch
from scipy.integrate import quad

from headgauge.errors import InputError
from headgauge.particles.schemes import NGpt


@pytest.mark.parametrize(("alpha", "decay"), [(0.6, 0.1), (1.0, 0.0), (2.0, 3.0), (0.6, 1e-9)])
def test_the_clock_is_the_integral_of_alpha(alpha: float, decay: float):
    expected = quad(lambda t: alpha / (1 + decay * t), 0, 5, epsabs=0, epsrel=1e-13)[0]
    got = NGpt(alpha, decay).clock(torch.tensor(5.0, dtype=torch.float64))
    assert float(got) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("alpha", "decay"), [(0.0, 0.0), (-1.0, 0.0), (1.0, -0.1)])
def test_a_schedule_that_would_turn_round_is_refused(alpha: float, decay: float):
    with pytest.raises(InputError, match="nGPT needs alpha above 0 and decay of 0 or more, got"):
        NGpt(alpha, decay)
