"""The table, for every scheme: s_j, r'_j and the residual step; then what is each one's own."""

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from torch import Tensor

from headgauge.particles import sphere
from headgauge.particles.equiangular import solve, solve_many
from headgauge.theory.dynamics.schemes import (
    LnScaling,
    LnScalingPre,
    MixLn,
    NGpt,
    PeriLn,
    PostLn,
    PreLn,
    Scheme,
    rates,
)
from particles import reference

TIMES = [0.0, 0.3, 2.0, 2.0000001, 7.5]  # the Mix-LN of `reference.ALL` switches at 2


def swarm(seed: int, n: int = 4, d: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Unit directions and something for attention to have said."""
    source = np.random.default_rng(seed)
    theta = source.normal(size=(n, d))
    return theta / np.linalg.norm(theta, axis=-1, keepdims=True), source.normal(size=(n, d))


def rates_of(
    scheme: Scheme, time: Tensor, radius: Tensor, radial: Tensor, norm: Tensor
) -> tuple[Tensor, Tensor]:
    return rates(scheme.gain(time, norm), scheme.grows(time), radius, radial)


def test_speed_and_growth_are_the_tables(scheme: Scheme):
    r, norm = np.array([0.5, 1.0, 3.0]), np.array([0.2, 1.0, 1.7])
    radial = np.array([-0.1, 0.9, 0.4])
    for time in TIMES:
        now = torch.full((3,), time, dtype=torch.float64)
        speed = reference.speed(scheme, time, r, norm)
        got = scheme.speed_factor(now, torch.tensor(r), torch.tensor(norm))
        assert got.numpy() == pytest.approx(speed, rel=1e-14)
        pace, growth = rates_of(scheme, now, *map(torch.tensor, (r, radial, norm)))
        assert pace.numpy() == pytest.approx(1 / speed, rel=1e-14)
        expected = reference.growth(scheme, time, radial, norm)
        assert growth.numpy() == pytest.approx(expected, rel=1e-14)


def test_step_is_the_tables(scheme: Scheme):
    theta, attention = swarm(1)
    for time, size in itertools.product(TIMES, (0.01, 1.0, 3.0)):
        got = scheme.step(torch.tensor(theta), torch.tensor(attention), size, time)
        expected = reference.layer(scheme, theta, attention, size, time)
        assert got.numpy() == pytest.approx(expected, rel=1e-13, abs=1e-15)


@pytest.mark.parametrize("time", TIMES)
def test_a_step_that_does_not_grow_keeps_any_length(scheme: Scheme, time: float):
    """Where the table's N gives length 1, a stream of length 1.7 keeps 1.7 and turns as much."""
    theta, attention = map(torch.tensor, swarm(2))
    longer = scheme.step(1.7 * theta, attention, 0.4, time)
    if bool(scheme.grows(torch.tensor(time, dtype=torch.float64))):
        added = scheme.step(theta, attention, 0.4, time) - theta
        assert torch.allclose(longer - 1.7 * theta, added, rtol=1e-13, atol=1e-15)
    else:
        unit = scheme.step(theta, attention, 0.4, time)
        assert torch.allclose(longer, 1.7 * unit, rtol=1e-14)


@pytest.mark.parametrize("time", TIMES)
def test_a_small_step_is_the_field(scheme: Scheme, time: float):
    """(x(h) − x)/h tends to r'θ + rθ', and what is missing halves with h."""
    theta, attention = swarm(3)
    r = np.array([0.7, 1.0, 1.4, 2.0])
    radial, norm = (theta * attention).sum(-1), np.linalg.norm(attention, axis=-1)
    turn = attention - radial[:, None] * theta
    turn = turn / reference.speed(scheme, time, r, norm)[:, None]
    field = reference.growth(scheme, time, radial, norm)[:, None] * theta + r[:, None] * turn
    x, A = torch.tensor(r[:, None] * theta), torch.tensor(attention)

    def missing(h: float) -> float:
        return float((((scheme.step(x, A, h, time) - x) / h).numpy() - field).__abs__().max())

    large, small = missing(1e-3), missing(5e-4)
    if bool(scheme.grows(torch.tensor(time, dtype=torch.float64))):
        assert small < 1e-11  # adding has no higher orders
    else:
        assert small < 1e-2
        assert large / small == pytest.approx(2, rel=0.02)


@settings(max_examples=20)
@given(
    st.floats(0, 1e3), st.floats(1e-3, 1e3), st.floats(1e-6, 1e2), st.floats(-1, 1),
)  # fmt: skip
def test_speed_and_growth_belong_to_one_step(time: float, radius: float, norm: float, cos: float):
    """A stream that grows moves by gA: r'/⟨θ, A⟩ = g = r/s."""
    values = [torch.tensor([each], dtype=torch.float64) for each in (time, radius, norm)]
    now, r, size = values
    for scheme in reference.ALL:
        gain = r / scheme.speed_factor(now, r, size)
        _, rate = rates_of(scheme, now, r, size * cos, size)
        if bool(scheme.grows(now)):
            assert float(rate) == pytest.approx(float(gain * size * cos), rel=1e-12, abs=1e-300)
        else:
            assert float(rate) == 0


@pytest.mark.parametrize("scheme", [PeriLn(), NGpt()], ids=reference.name_of)
def test_attention_that_cancels_moves_nothing(scheme: Scheme):
    zero = torch.zeros(1, 2, 3, dtype=torch.float64)
    x = torch.tensor([[[1.0, 0, 0], [0, 1, 0]]], dtype=torch.float64)
    assert torch.equal(scheme.step(x, zero, 1.0, 0.0), x)
    now, one = torch.zeros(1, dtype=torch.float64), torch.ones(1, dtype=torch.float64)
    none = zero[0, 0, :1]
    assert math.isfinite(float(1 / scheme.speed_factor(now, one, none)))
    pace, growth = rates_of(scheme, now, one, none, none)
    assert math.isfinite(float(pace))
    assert float(growth) == 0


@pytest.mark.parametrize(("tokens", "beta", "radius"), [(8, 1.7, 1.3), (3, 0.2, 0.5), (50, 4.0, 2)])
def test_initial_velocity_is_that_of_orthogonal_particles(
    scheme: Scheme, tokens: int, beta: float, radius: float
):
    theta = np.eye(tokens)
    field = reference.particle_field(scheme, tokens, lambda each: reference.attend(each, beta))
    turn = field(0.0, np.concatenate([theta.ravel(), np.full(tokens, radius)]))[:-tokens]
    turn = turn.reshape(tokens, tokens)
    cosine_grows = turn[0] @ theta[1] + theta[0] @ turn[1]
    got = scheme.initial_velocity(tokens, beta, float(radius))
    assert got == pytest.approx(cosine_grows, rel=1e-12)


def test_without_breaks_a_scheme_is_itself(scheme: Scheme):
    if not scheme.breaks():
        assert scheme.between(0.0, 1.0) is scheme


def test_neither_time_nor_length_nor_attention_matter():
    many = torch.logspace(-3, 3, 7, dtype=torch.float64)
    assert torch.equal(PostLn().speed_factor(many, many, many), torch.ones_like(many))
    assert not PostLn().grows(many).any()


@pytest.mark.usefixtures("unchecked")
def test_in_the_end_the_length_is_the_time_or_twice_its_root():
    times, pair = torch.tensor([1e4, 2e4], dtype=torch.float64), [PreLn(), LnScalingPre()]
    plain, published = solve_many(pair, [8, 8], [1.7, 1.7], times, tolerance=1e-7).radius
    assert (plain / times)[1].item() == pytest.approx(1, abs=1e-3)
    assert float(plain.diff() / times.diff()) == pytest.approx(1, abs=1e-5)
    assert float(published.diff() / (2 * times.sqrt()).diff()) == pytest.approx(1, abs=1e-3)


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
    with pytest.raises(ValueError, match=r"^Mix-LN switches at a time after 0, got"):
        MixLn(switch)


def test_the_size_of_attention_does_not_matter():
    x = sphere.uniform(4, 5, seed=0)
    attention = torch.randn(4, 5, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    step = PeriLn().step(x, attention, 0.5, 0.0)
    assert torch.allclose(step, PeriLn().step(x, 1e-9 * attention, 0.5, 0.0), rtol=1e-14)
    assert torch.allclose((step - x).norm(dim=-1), torch.full((4,), 0.5, dtype=torch.float64))


@pytest.mark.parametrize(("alpha", "decay"), [(0.6, 0.1), (1.0, 0.0), (2.0, 3.0), (0.6, 1e-9)])
def test_the_clock_is_the_integral_of_alpha(alpha: float, decay: float):
    expected = quad(lambda t: alpha / (1 + decay * t), 0, 5, epsabs=0, epsrel=1e-13)[0]
    got = NGpt(alpha, decay).clock(torch.tensor(5.0, dtype=torch.float64))
    assert float(got) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("alpha", "decay"), [(0.0, 0.0), (-1.0, 0.0), (1.0, -0.1)])
def test_a_schedule_that_would_turn_round_is_refused(alpha: float, decay: float):
    with pytest.raises(ValueError, match="nGPT needs alpha above 0 and decay of 0 or more, got"):
        NGpt(alpha, decay)


def test_at_the_start_it_is_post_ln_and_the_published_one_pre_ln():
    x = sphere.uniform(4, 5, seed=0)
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
