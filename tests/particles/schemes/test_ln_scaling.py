import pytest
import torch

from headgauge.particles import starts
from headgauge.particles.equiangular import solve
from headgauge.particles.schemes import LnScaling, LnScalingPre, PostLn, PreLn


def test_at_the_start_it_is_post_ln_and_the_published_one_pre_ln():
    x = starts.uniform(4, 5, seed=0)
    assert torch.equal(
        LnScaling().step(x, x.flip(0), 0.3, 0.0), PostLn().step(x, x.flip(0), 0.3, 0.0)
    )
    published = LnScalingPre().step(x, x.flip(0), 0.3, 0.0)
    assert torch.equal(published, PreLn().step(x, x.flip(0), 0.3, 0.0))


@pytest.mark.usefixtures("unchecked")
def test_it_is_post_ln_on_a_slower_clock():
    """dt/√(t+1) = du with u = 2√(t+1) − 2: the same curve."""
    times = torch.tensor([0.5, 2.0, 8.0], dtype=torch.float64)
    slow = solve(LnScaling(), 8, 1.7, times)
    post = solve(PostLn(), 8, 1.7, 2 * (times + 1).sqrt() - 2)
    assert torch.allclose(slow.log_gap, post.log_gap, rtol=0, atol=1e-11)


@pytest.mark.usefixtures("unchecked")
def test_the_published_one_grows_as_twice_the_root_of_time():
    found = solve(LnScalingPre(), 8, 1.7, torch.tensor([1e4, 2e4], dtype=torch.float64))
    growth = found.radius.diff() / (2 * found.time.sqrt()).diff()
    assert float(growth) == pytest.approx(1, abs=1e-3)
