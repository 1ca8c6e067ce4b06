import pytest
import torch

from headgauge import normalizers
from headgauge.errors import InputError
from headgauge.particles.attention import Attention, Weights
from headgauge.particles.inner_products import InnerProducts
from headgauge.particles.schemes import MixLn, PeriLn, PostLn, PreLn
from headgauge.particles.systems import Particles
from headgauge.theory.dynamics.observables import gaps_of
from particles import reference
from particles.running import numbers, rk4, states_at, uniform

MANY = len(reference.ALL)
RULES = [
    normalizers.get("sparsemax"),
    normalizers.get("entmax", alpha=1.5),
    normalizers.get("ssmax", s=0.43),
    normalizers.get("softmax"),
    normalizers.get("topk", k=3),
    normalizers.get("sigmoid"),
    normalizers.get("softmax_one"),
    normalizers.get("relu"),
]


def both(attention: Attention, n: int = 5, d: int = 6):
    directions = uniform(MANY, n, d)
    pairs = InnerProducts.of(gaps_of(directions), attention, reference.ALL, 1.3)
    return pairs, Particles.of(directions, attention, reference.ALL, 1.3)


def attentions() -> list[tuple[str, Attention]]:
    beta = torch.linspace(0.3, 2.5, MANY, dtype=torch.float64)
    rules = [(rule.name, Attention(beta, rule=rule)) for rule in RULES]
    causal = [(f"causal {rule.name}", Attention(beta, rule=rule, causal=True)) for rule in RULES]
    plain = [("none", Attention(beta)), ("causal", Attention(beta, causal=True))]
    return plain + rules + causal


@pytest.mark.parametrize("attention", [case[1] for case in attentions()], ids=dict(attentions()))
def test_they_move_and_are_seen_as_the_particles(attention: Attention):
    """D' = −(θ'_i·θ_j + θ_i·θ'_j) and r', for every scheme, before and after Mix-LN's switch."""
    (pairs, gaps), (particles, state) = both(attention)
    for time in (1.0, 3.0):
        now = torch.full((MANY,), time, dtype=torch.float64)
        field = particles.field(now, state)
        turn = particles.directions(field) @ particles.directions(state).mT
        got = pairs.field(now, gaps)
        assert torch.allclose(pairs.gaps(got), -(turn + turn.mT), rtol=1e-11, atol=1e-13)
        assert torch.allclose(pairs.radius(got), particles.radius(field), rtol=1e-11, atol=1e-14)
    (gaps, mine), (seen, theirs) = pairs.see(1.0, gaps), particles.see(1.0, state)
    assert torch.allclose(gaps, seen, rtol=1e-7, atol=1e-9)
    assert mine.keys() == {"radius", "attention_norm", "speed"} == theirs.keys()
    for name in mine:
        assert torch.allclose(mine[name], theirs[name], rtol=1e-7, atol=1e-9), name


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("causal", [False, True])
def test_trajectories_are_those_of_the_particles(causal: bool):
    beta = torch.linspace(0.3, 2.5, MANY, dtype=torch.float64)
    (pairs, gaps), (particles, state) = both(Attention(beta, causal=causal))
    times = [0.0, 0.5, 2.0, 2.5]
    mine, theirs = states_at(pairs, gaps, times, 1e-10), states_at(particles, state, times, 1e-10)
    for number in range(len(times)):
        seen = gaps_of(particles.directions(theirs[number]))
        assert torch.allclose(pairs.gaps(mine[number]), seen, rtol=0, atol=2e-9)
        radius = particles.radius(theirs[number])
        assert torch.allclose(pairs.radius(mine[number]), radius, rtol=1e-9)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("tolerance", [1e-5, 1e-9])
def test_gaps_stay_symmetric_and_their_diagonal_zero(tolerance: float):
    (pairs, gaps), _ = both(Attention(numbers(*[2.0] * MANY)))
    for state in states_at(pairs, gaps, [0.3, 2.0, 4.0], tolerance):
        found = pairs.gaps(state)
        assert torch.equal(found, found.mT)
        assert torch.equal(found.diagonal(dim1=-2, dim2=-1), torch.zeros(MANY, 5).double())
        assert bool((found > -1e-12).all())


@pytest.mark.usefixtures("unchecked")
def test_a_collapse_keeps_its_digits():
    """Two tokens under Post-LN: D' = −2D(2 − D)e^{β(1−D)}/(e^β + e^{β(1−D)}), down to 1e-20."""
    directions = torch.tensor([[[1.0, 0.0], [0.0, 1.0]]], dtype=torch.float64)
    pairs, state = InnerProducts.of(gaps_of(directions), Attention(numbers(1.7)), PostLn())
    late = states_at(pairs, state, [20.0, 25.0], 1e-9)
    one, two = pairs.gaps(late[0])[0, 0, 1], pairs.gaps(late[1])[0, 0, 1]
    assert float(two) < 1e-20
    assert float((two / one).log()) == pytest.approx(-10, abs=1e-7)


def test_late_speeds_keep_their_digits():
    """Gaps of 1e-20: ‖A‖ and ⟨θ, A⟩ are equal to the last digit, and yet tokens move."""
    gap = torch.tensor([[[0, 1e-20], [1e-20, 0]]], dtype=torch.float64)
    pairs, state = InnerProducts.of(gap, Attention(numbers(1.0)), PostLn())
    # Half way to the other one, whose angle is √(2·gap).
    expected = (2e-20) ** 0.5 / 2
    assert pairs.see(0.0, state)[1]["speed"][0].tolist() == pytest.approx([expected] * 2, rel=1e-9)


def test_below_the_floor_errors_count_as_shares_of_it():
    gap = torch.tensor([[[0, 1e-6], [1e-6, 0]]], dtype=torch.float64)
    error = torch.tensor([[0, 1e-8, 1e-8, 0, 0, 0]], dtype=torch.float64)
    for floor, size in ((0.0, 1e-2), (1e-7, 1e-2), (0.1, 1e-7)):
        pairs, state = InnerProducts.of(gap, Attention(numbers(1.0)), PreLn(), floor=floor)
        assert pairs.size(error, state).tolist() == pytest.approx([size])


def test_mistakes():
    gaps = gaps_of(uniform(2))
    for attention in (
        Attention(numbers(1, 1), heads=2),
        Attention(numbers(1, 1), Weights("random", 6)),
    ):
        with pytest.raises(InputError, match=r"^inner products suffice for one head and Q = K = V"):
            InnerProducts.of(gaps, attention, PostLn())
    with pytest.raises(InputError, match=r"^3 values of β for 2 trajectories$"):
        InnerProducts.of(gaps, Attention(numbers(1, 1, 1)), PostLn())


def test_nothing_is_made_on_another_device(elsewhere: None):
    with torch.device("cpu"):
        gaps = gaps_of(uniform(2))
        attention = Attention(numbers(1, 2), causal=True)
    system, state = InnerProducts.of(gaps, attention, [MixLn(1.0), PeriLn()])
    assert system.see(2.0, rk4(system, state, 2.0, 4))[1]["speed"].device.type == "cpu"
