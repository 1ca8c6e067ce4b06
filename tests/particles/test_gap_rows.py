"""Steps that compiled rows make, against the field they stand for and the tableau by hand."""

import math

import numpy as np
import pytest
import torch
from scipy.integrate import RK45
from torch import Tensor

from headgauge import kernels
from headgauge.errors import InputError
from headgauge.particles import gap_rows, schemes
from headgauge.particles.attention import Attention
from headgauge.particles.inner_products import InnerProducts
from headgauge.particles.systems import Step
from headgauge.particles.tableaus import FIFTH
from headgauge.theory.dynamics.observables import gaps_of
from headgauge.threads import one_thread
from particles import reference
from particles.running import states_at, uniform

MANY = len(reference.ALL)
SINGLE = float(np.finfo(np.float32).eps)


def system_of(n: int, time: float = 1.0, beta: float = 2.5) -> tuple[InnerProducts, Tensor]:
    """Every scheme at once, Mix-LN as it is at a time, from radii that are not one."""
    betas = torch.linspace(0.3, beta, MANY, dtype=torch.float64)
    gaps = gaps_of(uniform(MANY, n))
    system, state = InnerProducts.of(gaps, Attention(betas), reference.ALL, 1.3)
    here = system.between(time, time + 0.5, torch.float32)
    assert isinstance(here, InnerProducts)
    return here, state


def by_hand(system: InnerProducts, time: Tensor, size: Tensor, state: Tensor) -> tuple[Tensor, ...]:
    """h·k of each stage, the state at the end and the error, in double precision."""
    changes = torch.zeros(7, *state.shape, dtype=torch.float64)
    rows = [*RK45.A, RK45.B]
    for stage, row in enumerate(rows):
        weights = torch.from_numpy(row[:stage])
        point = state + torch.einsum("s,sbm->bm", weights, changes[:stage])
        share = RK45.C[stage] if stage < len(RK45.C) else 1.0
        changes[stage] = size[:, None] * system.field(time + share * size, point)
    # The last is at the end itself, whose row is that of the method.
    end = state + torch.einsum("s,sbm->bm", torch.from_numpy(RK45.B), changes[:6])
    return changes, end, torch.einsum("s,sbm->bm", torch.from_numpy(RK45.E), changes)


def stepped(
    system: InnerProducts, time: Tensor, size: Tensor, state: Tensor
) -> tuple[Tensor, Step]:
    changes = torch.full((7, *state.shape), torch.nan)
    slope = system.field(time, state.float())
    step = system.step(FIFTH.whole, time, size, state, slope, changes)
    assert step is not None
    return changes, step


@pytest.mark.parametrize("time", [1.0, 3.0])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 18, 67])
def test_a_step_is_that_of_the_field(n: int, time: float):
    """Also where tokens are no multiple of four, and where a state is several pieces."""
    system, state = system_of(n, time)
    now = torch.full((MANY,), time, dtype=torch.float64)
    size = torch.linspace(0.3, 1.5, MANY, dtype=torch.float64)
    changes, end, error = by_hand(system, now, size, state)
    mine, step = stepped(system, now, size, state)
    # Sums over the tokens are rounded once for each of them.
    rounding = (8 + 2 * n) * SINGLE * float((changes / size[:, None]).abs().max())
    assert torch.allclose(mine.double(), changes, rtol=0, atol=float(size.max()) * rounding)
    assert step.state.dtype == torch.float64
    assert torch.allclose(step.state, end, rtol=0, atol=float(size.max()) * rounding)
    assert torch.allclose(step.slope.double(), system.field(now + size, end), atol=rounding)
    off = (step.error - system.size(error, end)).abs()
    assert float(off.max()) < 0.02 * rounding
    assert n == 1 or float(step.error.max()) > 20 * float(off.max())


def test_gaps_stay_symmetric_and_their_diagonal_zero():
    system, state = system_of(7)
    now = torch.ones(MANY, dtype=torch.float64)
    step = stepped(system, now, 0.1 * now, state)[1]
    for numbers in (step.state, step.slope):
        gaps = system.gaps(numbers)
        assert torch.equal(gaps, gaps.mT)
        assert not gaps.diagonal(dim1=-2, dim2=-1).any()


def test_within_a_step_states_are_those_of_the_dense_output():
    system, state = system_of(66)
    now = torch.ones(MANY, dtype=torch.float64)
    changes, _ = stepped(system, now, 0.1 * now, state)
    which, share = torch.tensor([5, 0, 3]), torch.tensor([0.25, 0.5, 1.0])
    expected = state[which] + FIFTH.dense(changes[:, which], None, share)
    seen = system.within(which, FIFTH.weights(share), state, changes)
    assert seen is not None
    assert torch.allclose(seen, expected, rtol=0, atol=4 * SINGLE)


@pytest.mark.parametrize("wrong", [math.nan, math.inf])
def test_what_is_not_a_number_has_no_small_error(wrong: float):
    system, state = system_of(5)
    state[2, -1], state[4, 3] = wrong, wrong
    now = torch.ones(MANY, dtype=torch.float64)
    error = stepped(system, now, 0.1 * now, state)[1].error
    # A radius without end is one at which nothing moves, under the schemes that have it.
    assert not bool(error[4] <= 1)
    if math.isnan(wrong):
        assert not bool(error[2] <= 1)
    assert bool((error[[0, 1, 3, 5, 6]] < 1e-2).all())


def test_a_state_that_is_lost_ends_with_a_message():
    system, state = system_of(5)
    state[1, 7] = math.nan
    with pytest.raises(InputError, match=r"^a trajectory cannot be followed to this tolerance"):
        states_at(system, state, [1.0], 1e-5)


@pytest.mark.usefixtures("unchecked")
def test_long_steps_that_fail_are_made_again():
    """β = 200: fields that jump at the start of a collapse."""
    gaps = gaps_of(uniform(2, 12, 3))
    beta = torch.tensor([200.0, 1.0], dtype=torch.float64)
    system, state = InnerProducts.of(gaps, Attention(beta), schemes.get("post_ln"), floor=1.0)
    times = [0.5, 4.0]
    exact = states_at(system, state, times, 1e-9)
    assert float((states_at(system, state, times, 1e-5) - exact).abs().max()) < 5e-4


@pytest.mark.usefixtures("unchecked")
def test_trajectories_are_those_of_the_field():
    """The compiled rows and the plain ones, both held against double precision."""
    betas = torch.linspace(0.3, 2.5, MANY, dtype=torch.float64)
    gaps = gaps_of(uniform(MANY, 9))
    system, state = InnerProducts.of(gaps, Attention(betas), reference.ALL, 1.3, floor=1.0)
    assert system.compiled(torch.float32, state)
    times = [0.0, 0.5, 2.0, 2.5]
    exact = states_at(system, state, times, 1e-10)
    mine = states_at(system, state, times, 1e-5)
    with kernels.use_compiled(False):
        assert not system.compiled(torch.float32, state)
        plain = states_at(system, state, times, 1e-5)
    assert not torch.equal(mine, plain)
    for found in (mine, plain):
        assert float((found - exact).abs().max()) < 1e-4
    assert torch.allclose(mine, plain, rtol=0, atol=2e-5)


@pytest.mark.usefixtures("unchecked")
def test_no_digit_depends_on_the_threads():
    system, state = system_of(130)
    now = torch.ones(MANY, dtype=torch.float64)
    with one_thread():
        alone = stepped(system, now, 0.1 * now, state)
        with kernels.helped(2):
            helped = stepped(system, now, 0.1 * now, state)
    assert torch.equal(alone[0], helped[0])
    assert all(torch.equal(a, b) for a, b in zip(alone[1], helped[1], strict=True))


def test_the_power_is_right_to_the_last_bits():
    t = np.float32([0.0, 1e-8, 0.3, math.log(2) / 2, 1.0, 5.5, 20.0, 86.9, 87.0])
    found = np.array([gap_rows._exp_of_minus.py_func(each) for each in t])
    assert np.allclose(found, np.exp(-t.astype(np.float64)), rtol=2 * SINGLE, atol=0)
    assert found[0] == 1.0
    assert 0 < gap_rows._exp_of_minus.py_func(np.float32(1e9)) < 1e-37


def test_what_else_there_is_goes_the_plain_way():
    """Another rule, a causal swarm, double precision: the field serves."""
    gaps = gaps_of(uniform(2))
    beta = torch.ones(2, dtype=torch.float64)
    system, state = InnerProducts.of(gaps, Attention(beta, causal=True), schemes.get("pre_ln"))
    assert not system.compiled(torch.float32, state)
    system, state = InnerProducts.of(gaps, Attention(beta), schemes.get("pre_ln"))
    assert not system.compiled(torch.float64, state)
    assert system.compiled(torch.float32, state)
