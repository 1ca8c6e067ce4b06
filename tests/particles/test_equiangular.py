import math

import numpy as np
import pytest
import torch

from headgauge.errors import InputError
from headgauge.particles.equiangular import Equiangular, solve, solve_many
from headgauge.particles.schemes import (
    LnScaling,
    MixLn,
    NGpt,
    PeriLn,
    PostLn,
    PreLn,
    Scheme,
    SchemeBatch,
)
from particles import reference
from particles.running import numbers

# The golden case: orthonormal start, n = 8, β = 1.7, r₀ = 1.3; γ to five digits, r to four.
NGPT = NGpt(alpha=0.6, decay=0.1)
AT_SIX: list[tuple[Scheme, float, float]] = [
    (PostLn(), 0.99987, 1.3),
    (PreLn(), 0.83805, 5.1591),
    (MixLn(2.0), 0.98039, 5.0371),
    (PeriLn(), 0.89985, 6.6156),
    (NGPT, 0.98403, 1.3),
    (LnScaling(), 0.97153, 1.3),
]
AT_TWO: list[tuple[Scheme, float]] = [
    (PostLn(), 0.725883),
    (PreLn(), 0.344009),
    (PeriLn(), 0.558958),
    (NGPT, 0.621694),
    (LnScaling(), 0.484257),
]


@pytest.mark.usefixtures("unchecked")
def test_golden_values():
    found = solve_many([case[0] for case in AT_SIX], [8] * 6, [1.7] * 6, numbers(6), radius0=1.3)
    assert found.gamma[:, 0].tolist() == pytest.approx([case[1] for case in AT_SIX], abs=5.1e-6)
    assert found.radius[:, 0].tolist() == pytest.approx([case[2] for case in AT_SIX], abs=5.1e-5)

    found = solve_many([case[0] for case in AT_TWO], [8] * 5, [1.7] * 5, numbers(2), radius0=1.3)
    assert found.gamma[:, 0].tolist() == pytest.approx([case[1] for case in AT_TWO], abs=5.1e-7)
    mix = solve(MixLn(switch=1.0), 8, 1.7, numbers(2))
    assert mix.gamma.item() == pytest.approx(0.638241, abs=5.1e-7)


SETTINGS = [(8, 1.7, 0.0, 1.3, True), (5, 0.4, -0.2, 0.7, True), (3, 1.0, 0.1, 1.0, False)]


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(("n", "beta", "gamma", "radius", "normalised"), SETTINGS)
def test_every_scheme_is_the_papers_equation_by_scipy(
    n: int, beta: float, gamma: float, radius: float, normalised: bool
):
    """γ, r, ‖A‖ and γ' of all schemes in one batch, before, at and after Mix-LN's switch."""
    times, many = [0.0, 0.5, 2.0, 2.5], len(reference.ALL)
    asked = torch.tensor(times, dtype=torch.float64)
    found = solve_many(reference.ALL, [n] * many, [beta] * many, asked, gamma, radius, normalised)
    for place, scheme in enumerate(reference.ALL):

        def field_of(each: Scheme) -> reference.Field:
            return reference.reduced_field(each, n, beta, normalised=normalised)

        expected = reference.solve(field_of, scheme, np.array([gamma, radius]), times)
        assert found.gamma[place].numpy() == pytest.approx(expected[:, 0], abs=1e-10)
        assert found.radius[place].numpy() == pytest.approx(expected[:, 1], rel=1e-10)
        velocity = [field_of(scheme)(t, y)[0] for t, y in zip(times, expected, strict=True)]
        assert found.velocity[place].numpy() == pytest.approx(velocity, rel=1e-9, abs=1e-11)
        gap = np.exp(found.log_gap[place].numpy())
        assert gap == pytest.approx(1 - expected[:, 0], abs=1e-10)


def test_attention_norm_is_that_of_vectors():
    found = solve(PreLn(), 6, 1.2, numbers(0.0, 1.0, 3.0), gamma0=-0.1)
    for gamma, norm in zip(found.gamma.tolist(), found.attention_norm.tolist(), strict=True):
        gram = np.full((6, 6), gamma) + (1 - gamma) * np.eye(6)
        weights = np.exp(1.2 * gram[0]) / np.exp(1.2 * gram[0]).sum()
        assert norm == pytest.approx(math.sqrt(weights @ gram @ weights), rel=1e-12)


@pytest.mark.usefixtures("unchecked")
def test_late_in_post_ln_every_unit_of_time_takes_two_off_the_log_gap():
    """γ has been 1 to the last digit since t = 18; e^{log gap} is below the smallest number."""
    times = torch.arange(100, 501, 100, dtype=torch.float64)
    found = solve(PostLn(), 8, 1.7, times)
    assert torch.allclose(found.log_gap.diff(), numbers(*[-200.0] * 4), rtol=1e-14)
    assert torch.equal(found.gamma, torch.ones_like(times))


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("scheme", [PreLn(), PeriLn()], ids=reference.name_of)
def test_late_gaps_keep_their_digits(scheme: Scheme):
    """Against the same equation in (log(1 − γ), r), written with the gap."""
    n, beta, end = 8, 1.7, 300.0

    def field(t: float, y: np.ndarray) -> np.ndarray:
        gap, r = math.exp(y[0]), y[1]
        fall = math.exp(-beta * gap)
        own = 1 / (1 + (n - 1) * fall)
        radial = own * (1 + (n - 1) * (1 - gap) * fall)
        square = 1 + 2 * (n - 1) * (1 - gap) * fall + (n - 1) * fall**2 * (1 + (n - 2) * (1 - gap))
        norm = np.array(own * math.sqrt(square))
        s = float(reference.speed(scheme, t, np.array(r), norm))
        pull = own * fall * (n - (n - 1) * gap)
        return np.array([-2 * pull / s, reference.growth(scheme, t, np.array(radial), norm)])

    expected = reference.solve(lambda _: field, scheme, np.array([0.0, 1.3]), [end])[0]
    found = solve(scheme, n, beta, numbers(end), radius0=1.3)
    assert found.log_gap.item() == pytest.approx(expected[0], abs=1e-9)
    assert found.radius.item() == pytest.approx(expected[1], rel=1e-9)


@pytest.mark.usefixtures("unchecked")
def test_a_batch_over_n_beta_and_schemes_is_each_alone():
    schemes = [PostLn(), MixLn(1.5), PeriLn(), PostLn()]
    tokens, beta, times = [4, 256, 9, 4], [0.1, 5.0, 2.0, 3.0], numbers(0.0, 1.0, 4.0)
    many = solve_many(schemes, tokens, beta, times)
    for place in range(4):
        one = solve(schemes[place], tokens[place], beta[place], times)
        # Not to the last digits: all stop where Mix-LN jumps.
        assert torch.allclose(many.log_gap[place], one.log_gap, rtol=5e-12, atol=1e-13)
        assert torch.allclose(many.radius[place], one.radius, rtol=5e-12)


def test_large_beta_does_not_overflow():
    """e^β itself would: the start stands still, as it should."""
    found = solve(PostLn(), 8, 2000.0, numbers(10.0))
    assert found.gamma.item() == 0
    assert found.attention_norm.item() == 1


def test_the_simplex_stands_still():
    found = solve(PostLn(), 5, 1.0, numbers(3.0), gamma0=-0.25)
    assert found.gamma.item() == pytest.approx(-0.25, abs=1e-12)


def test_mistakes():
    with pytest.raises(InputError, match=r"^a swarm needs at least 2 tokens, got 1$"):
        solve(PostLn(), 1, 1.0, numbers(1))
    with pytest.raises(InputError, match=r"^8 tokens cannot all have the cosine -0.5$"):
        solve(PostLn(), 8, 1.0, numbers(1), gamma0=-0.5)
    with pytest.raises(InputError, match=r"cannot all have the cosine 1$"):
        solve(PostLn(), 8, 1.0, numbers(1), gamma0=1.0)
    with pytest.raises(InputError, match=r"^a token needs a length above 0, got 0$"):
        solve(PostLn(), 8, 1.0, numbers(1), radius0=0.0)
    with pytest.raises(InputError, match=r"^1 schemes, 2 values of n and 1 of β$"):
        solve_many([PostLn()], [8, 8], [1.0], numbers(1))


def test_nothing_is_made_on_another_device(elsewhere: None):
    with torch.device("cpu"):
        which = SchemeBatch.of(PeriLn(), 2)
        system = Equiangular(numbers(8, 9), numbers(1, 2), schemes=which)
        time, state = numbers(0, 1), torch.zeros(2, 2, dtype=torch.float64)
    assert system.field(time, state).device.type == "cpu"
