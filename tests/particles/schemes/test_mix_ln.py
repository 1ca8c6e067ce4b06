import pytest
import torch

from headgauge.errors import InputError
from headgauge.particles.schemes import MixLn, PostLn, PreLn


def test_at_the_switch_it_is_still_post_ln():
    scheme = MixLn(switch=0.7)
    times = torch.tensor([0.0, 0.7, 0.7 + 1e-12, 5.0], dtype=torch.float64)
    assert scheme.grows(times).tolist() == [False, False, True, True]


def test_between_its_breaks_it_is_one_of_the_two():
    """So that no rounding of a time can put a stage on the wrong side."""
    scheme = MixLn(switch=0.7)
    assert scheme.breaks() == (0.7,)
    assert scheme.between(0.0, 0.7) == PostLn()
    assert scheme.between(0.7, 9.0) == PreLn()
    assert scheme.between(0.2, 0.5) == PostLn()


@pytest.mark.parametrize("switch", [0.0, -1.0, float("nan")])
def test_a_switch_that_never_comes_is_refused(switch: float):
    with pytest.raises(InputError, match=r"^Mix-LN switches at a time after 0, got"):
        MixLn(switch)
