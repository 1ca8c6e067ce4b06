import math

import numpy as np
import pytest
import torch

from headgauge.errors import InputError
from headgauge.particles import sphere
from headgauge.particles.attention import Attention, Weights
from headgauge.particles.equiangular import solve_many
from headgauge.particles.schemes import LnScaling, MixLn, NGpt, PeriLn, PostLn, PreLn, Scheme
from headgauge.particles.systems import Particles
from particles import reference
from particles.running import numbers, rk4, states_at, uniform

MANY = len(reference.ALL)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("causal", [False, True])
def test_every_scheme_is_the_papers_equation_by_scipy(causal: bool):
    """All schemes in one batch, each with its own β and start; Mix-LN switches at 2."""
    n, d, times = 4, 3, [0.0, 1.0, 2.0, 2.5]
    directions = uniform(MANY, n, d)
    beta = torch.linspace(0.3, 2, MANY, dtype=torch.float64)
    attention = Attention(beta, causal=causal)
    system, state = Particles.of(directions, attention, reference.ALL, radius=1.3)
    kept = states_at(system, state, times, 1e-10)
    for place, scheme in enumerate(reference.ALL):
        b = float(beta[place])

        def attend(theta: np.ndarray, b: float = b) -> np.ndarray:
            return reference.attend(theta, b, causal=causal)

        start = np.concatenate([directions[place].numpy().ravel(), np.full(n, 1.3)])
        expected = reference.solve(
            lambda each, attend=attend: reference.particle_field(each, n, attend),
            scheme, start, times,
        )  # fmt: skip
        assert kept[:, place].numpy() == pytest.approx(expected, abs=2e-9), scheme.name


GOLDEN = [PostLn(), PreLn(), MixLn(2.0), PeriLn(), NGpt(0.6, 0.1), LnScaling()]
OTHER: list[Scheme] = [PostLn(), MixLn(1.1), PeriLn()]


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("schemes", "n", "d", "beta", "gamma", "radius", "end"),
    [(GOLDEN, 8, 12, 1.7, 0.0, 1.3, 6.0), (OTHER, 5, 5, 0.4, 0.3, 0.7, 3.0)],
    ids=["golden", "another"],
)
def test_particles_at_equal_angles_are_the_reduction(
    schemes: list[Scheme], n: int, d: int, beta: float, gamma: float, radius: float, end: float
):
    many, times = len(schemes), [end / 6, end / 3, end]
    directions = sphere.equiangular(n, d, gamma).expand(many, n, d)
    betas = torch.full((many,), beta, dtype=torch.float64)
    system, state = Particles.of(directions, Attention(betas), schemes, radius)
    kept = states_at(system, state, times, 1e-10)
    asked = torch.tensor(times, dtype=torch.float64)
    reduced = solve_many(schemes, [n] * many, [beta] * many, asked, gamma, radius)
    for number in range(len(times)):
        theta = system.directions(kept[number])
        off = theta @ theta.mT - reduced.gamma[:, number, None, None]
        off.diagonal(dim1=-2, dim2=-1).zero_()
        assert float(off.abs().max()) < 1e-8
        radii = system.radius(kept[number]) - reduced.radius[:, number, None]
        assert float(radii.abs().max()) < 1e-8


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(("switch", "steps"), [(2.0, 120), (0.7, 150)])
def test_rk4_comes_as_near_the_reduction_as_it_should(switch: float, steps: int):
    """4e-9 at n = 8, d = 12, β = 1.7, T = 6, wherever the switch falls among the steps."""
    schemes = [PreLn(), MixLn(switch)]
    directions = sphere.equiangular(8, 12).expand(2, 8, 12)
    system, state = Particles.of(directions, Attention(numbers(1.7, 1.7)), schemes, 1.3)
    theta = system.directions(rk4(system, state, 6.0, steps))
    exact = solve_many(schemes, [8, 8], [1.7, 1.7], numbers(6), radius0=1.3).gamma
    assert float(((theta[:, 0] * theta[:, 1]).sum(-1) - exact[:, 0]).abs().max()) < 4e-9


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(("tolerance", "kind"), [(1e-3, "random"), (1e-9, "identity")])
def test_the_sphere_is_kept(tolerance: float, kind: str):
    """At every saved time, within steps and at their ends, in single precision too."""
    directions = uniform(MANY, 5, 8)
    attention = Attention(numbers(*[3.0] * MANY), Weights(kind, 8))
    system, state = Particles.of(3 * directions, attention, reference.ALL)
    kept = states_at(system, state, [0.0, 0.01, 0.3, 2.0, 5.0], tolerance)
    norm = torch.stack([system.directions(each).norm(dim=-1) for each in kept])
    assert float((norm - 1).abs().max()) < 1e-12


@pytest.mark.usefixtures("unchecked")
def test_a_trajectory_does_not_notice_its_company():
    """Its scheme, β and the Mix-LN beside it."""
    schemes: list[Scheme] = [LnScaling(), MixLn(1.3), NGpt(0.6, 0.1), PreLn()]
    directions, beta, weights = uniform(4, 4, 6), numbers(1, 2, 3, 0.5), Weights("layers", 6, 3)
    times = [0.7, 1.3, 1.8]
    attention = Attention(beta, weights, heads=2)
    system, state = Particles.of(directions, attention, schemes)
    together = states_at(system, state, times, 1e-9)
    for place, scheme in enumerate(schemes):
        mine = Attention(beta[[place]], weights, heads=2)
        system, state = Particles.of(directions[[place]], mine, scheme)
        alone = states_at(system, state, times, 1e-9)
        # The others' break at 1.3 cuts one step in two; nothing else may differ.
        near = 1e-8 if place != 1 else 1e-12
        assert torch.allclose(together[:, place], alone[:, 0], rtol=0, atol=near)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("kind", ["random", "layers"])
def test_matrices_change_at_whole_times(kind: str):
    """Against scipy, unit by unit with the matrices of each."""
    n, d, beta, scheme = 3, 4, 1.5, PreLn()
    weights = Weights(kind, d, 11)
    system, state = Particles.of(uniform(1, n, d), Attention(numbers(beta), weights), scheme)
    kept = states_at(system, state, [1.0, 1.5, 2.0, 2.25], 1e-11)
    at, found = state[0].numpy(), []
    for layer, times in ((0, [1.0]), (1, [0.5, 1.0]), (2, [0.25])):
        drawn = weights.at(layer + 0.5)
        Q, K, V = (part.numpy() for part in (drawn.query, drawn.key, drawn.value))

        def attend(theta: np.ndarray, Q=Q, K=K, V=V) -> np.ndarray:
            power = np.exp(beta * (theta @ Q.T) @ (theta @ K.T).T)
            return power / power.sum(-1, keepdims=True) @ theta @ V.T

        # Pre-LN does not look at the time, so every unit may start at 0.
        states = reference.solve(
            lambda each, attend=attend: reference.particle_field(each, n, attend), scheme, at, times
        )
        found.extend(states)
        at = states[-1]
    assert kept[:, 0].numpy() == pytest.approx(np.stack(found), abs=1e-8)


def test_what_is_seen():
    """Gaps, radii, ‖A‖ and ‖θ'‖ by brute force, with matrices of their own."""
    n, d, beta, radius, time = 4, 5, 1.5, 2.0, 1.25
    weights = Weights("layers", d, 5)
    directions = uniform(1, n, d)
    system, state = Particles.of(directions, Attention(numbers(beta), weights), PeriLn(), radius)
    gaps, seen = system.see(time, state)
    drawn = weights.at(time)
    theta = directions[0]
    logits = beta * (theta @ drawn.query.mT) @ (theta @ drawn.key.mT).mT
    A = torch.softmax(logits.reshape(n, n), -1) @ theta @ drawn.value.reshape(d, d).mT
    turn = (A - (A * theta).sum(-1, keepdim=True) * theta).norm(dim=-1) / (radius * A.norm(dim=-1))
    assert torch.allclose(gaps[0], 1 - theta @ theta.T, atol=1e-15)
    assert torch.allclose(seen["attention_norm"][0], A.norm(dim=-1), rtol=1e-12)
    assert torch.allclose(seen["speed"][0], turn, rtol=1e-12)
    assert seen["radius"].tolist() == [[radius] * n]


def test_an_error_counts_in_radians_and_as_a_share_of_the_radius():
    system, state = Particles.of(uniform(2, 3, 4), Attention(numbers(1, 1)), PostLn(), 2.0)
    error = torch.zeros_like(state)
    error[0, 4:6] = torch.tensor([3e-3, 4e-3])  # of the second token
    error[1, -1] = -1e-3
    assert system.size(error, state).tolist() == pytest.approx([5e-3, 5e-4])


def test_mistakes():
    directions = uniform(2, 3, 4)
    with pytest.raises(InputError, match=r"^1 values of β for 2 trajectories$"):
        Particles.of(directions, Attention(numbers(1)), PostLn())
    with pytest.raises(InputError, match=r"^the matrices have 5 dimensions, the tokens 4$"):
        Particles.of(directions, Attention(numbers(1, 1), Weights("random", 5)), PostLn())
    with pytest.raises(InputError, match=r"^a token needs a length above 0, got 0$"):
        Particles.of(directions, Attention(numbers(1, 1)), PostLn(), 0.0)
    with pytest.raises(InputError, match=r"^1 schemes for 2 trajectories$"):
        Particles.of(directions, Attention(numbers(1, 1)), [PostLn()])


def test_nothing_is_made_on_another_device(elsewhere: None):
    with torch.device("cpu"):
        directions = uniform(2, 3, 4)
        attention = Attention(numbers(1, 2), causal=True)
    system, state = Particles.of(directions, attention, [MixLn(1.0), PeriLn()], radius=math.e)
    here = system.between(1.0, 2.0, torch.float64)
    assert isinstance(here, Particles)
    assert here.see(1.5, rk4(system, state, 2.0, 4))[1]["speed"].device.type == "cpu"
