import math

import numpy as np
import pytest
import torch

from headgauge.particles import schemes
from headgauge.theory.dynamics import theorems

GRID = [(2, 0.3), (2, 4.0), (7, 1.0), (7, 0.0), (50, 0.7), (50, 2.0), (50, 9.0), (1000, 3.0)]


def radial_rate(cosines: np.ndarray, beta: float) -> np.ndarray:
    """⟨θ_1, A_1⟩ from the cosines to the others, the last axis."""
    others = np.exp(beta * (cosines - 1))
    return (1 + (cosines * others).sum(-1)) / (1 + others.sum(-1))


@pytest.mark.parametrize(("n", "beta"), GRID)
def test_no_configuration_grows_slower_than_the_least_and_one_grows_so(n, beta):
    least = theorems.least_radial_rate(n, beta)
    drawn = np.random.default_rng(1).uniform(-1, 1, (500, n - 1))
    assert (radial_rate(drawn, beta) >= least).all()
    # A fine search over common cosines finds it: all others are alike at the minimum.
    common = np.linspace(-1, 1, 20001)[:, None]
    others = (n - 1) * np.exp(beta * (common[:, 0] - 1))
    rates = (1 + common[:, 0] * others) / (1 + others)
    assert least <= rates.min() + 1e-12
    assert rates.min() == pytest.approx(least, abs=1e-6)
    at = theorems.least_radial_cosine(n, beta)
    assert radial_rate(np.full(n - 1, at), beta) == pytest.approx(least, abs=1e-12)


@pytest.mark.parametrize("beta", [0.2, 1.0, 1.5, 4.0])
def test_the_least_rate_changes_sign_at_the_allowed_number(beta):
    allowed = theorems.tokens_allowed(beta)
    assert theorems.least_radial_rate(math.ceil(allowed) - 1, beta) > 0
    assert theorems.least_radial_rate(math.floor(allowed) + 1, beta) < 0


def test_the_stated_rate_is_below_the_least_where_it_is_claimed():
    assert theorems.radial_rate_stated(5, 2.0) == pytest.approx(
        (math.exp(2) - 4) / (5 * math.exp(2))
    )
    for beta in (0.8, 2.0, 4.0):
        for n in range(2, math.floor(math.exp(beta)) + 1):
            stated = theorems.radial_rate_stated(n, beta)
            assert 0 < stated < theorems.least_radial_rate(n, beta)


def test_theorem_4_2_in_numbers():
    assert theorems.attention_bound_stated(100, 50, 2.0) == pytest.approx(
        2 * (math.sqrt(math.log(100) / 100) + math.log(100) / 50)
    )
    assert theorems.attention_size(100, 5, 2.0) == pytest.approx(math.sqrt(0.01 + 0.16))


def test_the_bound_across_holds_as_often_as_it_says_and_is_close():
    broken, ratios = 0, []
    n, d = 60, 40
    source = torch.Generator().manual_seed(4)
    for _ in range(40):
        directions = torch.randn(n, d, dtype=torch.float64, generator=source)
        directions = directions / directions.norm(dim=-1, keepdim=True)
        weights = torch.softmax(directions @ directions.mT, -1)
        output = weights @ directions
        across = output - (output * directions).sum(-1, keepdim=True) * directions
        bound = theorems.across_bound(weights, d, failure=0.5)
        broken += int((across.norm(dim=-1) > bound).any())
        ratios.append((bound / across.norm(dim=-1)).median().item())
    assert broken <= 20
    assert max(ratios) < 2


def test_the_bound_across_is_written_out():
    weights = torch.full((4, 4), 0.25, dtype=torch.float64)
    expected = 0.5 * (1 + math.sqrt(2 * math.log(4 / 0.01) / 3))
    assert torch.allclose(theorems.across_bound(weights, 5), torch.tensor(expected).double())


def spread(directions: np.ndarray) -> float:
    return 1 - float(np.linalg.norm(directions.mean(0))) ** 2


@pytest.mark.parametrize("n", [3, 100])
@pytest.mark.parametrize("beta", [0.0, 1.0, 8.0])
@pytest.mark.parametrize("width", [0.02, 0.2])
def test_a_cones_variance_falls_within_the_bounds(n, beta, width):
    random = np.random.default_rng(n)
    directions = np.eye(1, 5) + width * random.normal(size=(n, 5)) / math.sqrt(5)
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    slowness = random.uniform(0.9, 1.1, n)
    gram = directions @ directions.T
    weights = np.exp(beta * (gram - 1))
    output = weights / weights.sum(1, keepdims=True) @ directions
    turn = output - (output * directions).sum(1, keepdims=True) * directions
    moved = directions + 1e-6 * slowness[:, None] * turn
    back = directions - 1e-6 * slowness[:, None] * turn
    moved, back = (each / np.linalg.norm(each, axis=1, keepdims=True) for each in (moved, back))
    rate = -(spread(moved) - spread(back)) / 2e-6 / spread(directions)
    low, high = theorems.cone_rates(float((1 - gram).max()), beta, torch.tensor(slowness))
    assert low.item() - 1e-6 <= rate <= high.item() + 1e-6
    if width < 0.1 and beta < 2:
        assert high.item() < 1.3 * low.item()  # 1.1/0.9 of it is the tokens' own


def pair_rate(gap: float, beta: float) -> float:
    """−V'/V of two tokens under Post-LN, from γ' of the pair itself."""
    weight = math.exp(-beta * gap) / (1 + math.exp(-beta * gap))
    return 2 * weight * (2 - gap)


@pytest.mark.parametrize("beta", [0.0, 0.7, 5.0])
def test_a_pair_shows_that_the_cones_lower_bound_is_sharp(beta):
    for gap in (0.3 / (1 + beta), 0.01 / (1 + beta)):
        low, high = theorems.cone_rates(gap, beta, torch.ones(2, dtype=torch.float64))
        assert low.item() <= pair_rate(gap, beta) + 1e-14
        assert pair_rate(gap, beta) - low.item() <= ((1 + beta) * gap) ** 2
        assert high.item() - 2 <= 1.1 * beta * gap


def test_a_small_beta_is_no_narrow_cone():
    assert pair_rate(2.0, 0.01) == 0
    low, _ = theorems.cone_rates(2.0, 0.01, torch.ones(2, dtype=torch.float64))
    assert -0.1 < low.item() <= 0


def test_the_bounds_of_a_cone_are_written_out():
    low, high = theorems.cone_rates(0.1, 3.0, torch.tensor([0.5, 0.4, 0.3]).double())
    assert low.item() == pytest.approx(2 * (0.3 * (1 - 0.2 / 3) - 0.5 * math.sinh(0.15)))
    assert high.item() == pytest.approx(1 + math.sinh(0.15))


def test_scales_of_theorem_4_3():
    expected = {"post_ln": 1, "pre_ln": 9, "mix_ln": 9, "peri_ln": 9, "ln_scaling": 3}
    for name, scale in expected.items():
        scheme = schemes.get(name)
        assert theorems.cone_scale(scheme, 9.0) == pytest.approx(scale)
        assert theorems.cone_scale_stated(scheme, 9.0) == pytest.approx(scale)
    ngpt = schemes.get("ngpt", alpha=0.5, decay=1.0)
    assert theorems.cone_scale(ngpt, 9.0) == pytest.approx(20.0)
    assert theorems.cone_scale_stated(ngpt, 9.0) == pytest.approx(0.05)


def test_mistakes_are_named():
    with pytest.raises(ValueError, match="at least 2 tokens, got 1"):
        theorems.least_radial_rate(1, 1.0)
    with pytest.raises(ValueError, match="β must be 0 or more, got -1"):
        theorems.least_radial_rate(3, -1.0)
    with pytest.raises(ValueError, match="3 dimensions or more, got 2"):
        theorems.across_bound(torch.eye(3, dtype=torch.float64), 2)
