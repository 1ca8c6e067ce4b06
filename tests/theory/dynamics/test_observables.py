import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from torch import Tensor
from torch.nn.functional import normalize

from headgauge.particles import sphere
from headgauge.theory.dynamics.observables import (
    clusters,
    energy,
    gaps_of,
    observe,
    pair_values,
    quantiles,
    time_to_collapse,
)
from particles.running import numbers


def swarms() -> Tensor:
    """Far apart, in two heaps, in one."""
    heaps = normalize(sphere.uniform(2, 5, 3)[[0, 0, 0, 1, 1, 1, 1]], dim=-1)
    heaps = normalize(heaps + 1e-3 * sphere.uniform(7, 5, 4), dim=-1)
    return torch.stack([sphere.uniform(7, 5, 1), heaps, sphere.cone(7, 5, 1e-4, 2)])


def test_gaps_by_brute_force():
    directions = swarms()
    exact = (directions[:, :, None] - directions[:, None]).square().sum(-1) / 2
    got = gaps_of(directions)
    assert torch.allclose(got, exact, rtol=1e-9, atol=1e-16)
    assert torch.equal(got, got.mT)
    assert torch.equal(got.diagonal(dim1=-2, dim2=-1), torch.zeros(3, 7).double())
    assert torch.allclose(gaps_of(directions[0]), got[0], rtol=1e-14)


def test_gaps_are_symmetric_where_a_matrix_product_is_not():
    gaps = gaps_of(torch.stack([sphere.uniform(37, 19, seed) for seed in range(5)]))
    assert torch.equal(gaps, gaps.mT)


@settings(max_examples=30)
@given(st.floats(-9, 0.3))
def test_the_gap_of_an_angle(power: float):
    """1 − cos φ = 2 sin²(φ/2), where 1 − cos φ in floating point is 0 already."""
    angle = 10**power
    pair = torch.tensor([[1.0, 0.0], [math.cos(angle), math.sin(angle)]], dtype=torch.float64)
    got = float(gaps_of(pair)[0, 1])
    assert got == pytest.approx(2 * math.sin(angle / 2) ** 2, rel=1e-10)


def test_one_close_pair_among_far_ones_keeps_its_digits():
    far = sphere.uniform(6, 4, 0)
    far[5] = normalize(far[2] + 1e-9 * far[3], dim=-1)
    apart = (far[2] - far[5]).square().sum() / 2
    got = gaps_of(far[None].repeat(2, 1, 1))[1, 5, 2]
    assert float(got) == pytest.approx(float(apart), rel=1e-12)


@pytest.mark.parametrize("beta", [0.5, 4.0])
def test_observables_by_brute_force(beta: float):
    directions = swarms()
    seen = observe(gaps_of(directions), beta)
    for place, theta in enumerate(directions.numpy()):
        gram = theta @ theta.T
        cosines = gram[np.triu_indices(7, 1)]
        expected = {
            "mean_cosine": cosines.mean(),
            "pair_low": np.quantile(cosines, 0.05),
            "pair_high": np.quantile(cosines, 0.95),
            "least_cosine": cosines.min(),
            "together": (cosines >= 0.999).mean(),
            "clusters": connected_components(csr_array(gram >= 0.999))[0],
            "energy": np.exp(beta * (gram - 1)).sum() / (2 * beta * 49),
            "variance": 1 - (theta.mean(0) ** 2).sum(),
        }
        assert expected.keys() == seen.keys()
        for name, value in expected.items():
            got = float(seen[name][place])
            assert got == pytest.approx(value, rel=1e-12, abs=1e-13), name
    assert seen["clusters"].tolist() == [7, 2, 1]


def test_each_swarm_has_its_own_beta():
    gaps, beta = gaps_of(swarms()), numbers(0.5, 2.0, 9.0)
    alone = [float(energy(each, float(b))) for each, b in zip(gaps, beta, strict=True)]
    assert energy(gaps, beta).tolist() == pytest.approx(alone, rel=1e-14)


@pytest.mark.parametrize("beta", [0.5, 3.0])
def test_the_energy_of_one_point_is_its_most(beta: float):
    assert float(energy(torch.zeros(4, 4).double(), beta)) == pytest.approx(1 / (2 * beta))


def test_a_late_variance_keeps_its_digits():
    gaps = gaps_of(sphere.cone(50, 8, 1e-9, 0))
    assert 1e-20 < float(observe(gaps)["variance"]) < 1e-17


@settings(max_examples=30)
@given(st.integers(1, 25), st.floats(0, 0.3), st.integers(0, 10**6))
def test_clusters_are_connected_components(n: int, density: float, seed: int):
    source = np.random.default_rng(seed)
    linked = source.random((3, n, n)) < density
    linked |= linked.transpose(0, 2, 1)
    expected = [connected_components(csr_array(each))[0] for each in linked]
    assert clusters(torch.tensor(linked)).tolist() == expected


def test_a_long_chain_is_one_cluster():
    """In an order that makes labels travel back and forth."""
    order = np.random.default_rng(0).permutation(200)
    linked = np.zeros((200, 200), dtype=bool)
    linked[order[:-1], order[1:]] = linked[order[1:], order[:-1]] = True
    assert int(clusters(torch.tensor(linked))) == 1


@settings(max_examples=30)
@given(st.integers(1, 40), st.lists(st.floats(0, 1), min_size=1, max_size=4), st.integers(0, 99))
def test_quantiles_are_numpys(many: int, shares: list[float], seed: int):
    values = np.random.default_rng(seed).normal(size=(2, many))
    got = quantiles(torch.tensor(values), numbers(*shares)).numpy()
    assert got == pytest.approx(np.quantile(values, shares, axis=-1).T, rel=1e-12, abs=1e-13)


def test_pairs_are_those_above_the_diagonal():
    table = torch.arange(9.0).reshape(3, 3)
    assert pair_values(table).tolist() == [1, 2, 5]


def test_time_to_collapse():
    """A gap of e^{−t} is .001 at log 1000, and log-linear between saved times: found exactly."""
    times = numbers(0.0, 2.0, 5.0, 9.0, 20.0)
    widest = torch.stack(
        [torch.exp(-times), torch.ones(5).double(), 1e-4 * torch.exp(-times), 0 * times], 1
    )
    widest[0, 3] = 0.5  # one that jumps to nothing at all
    found = time_to_collapse(times, widest)
    assert found[0].item() == pytest.approx(math.log(1000), rel=1e-12)
    assert found[1].isnan()
    assert found[2].item() == 0
    assert 0 < found[3].item() <= 2
    assert time_to_collapse(times, torch.exp(-times)).item() == pytest.approx(math.log(1000))


def test_a_collapse_counts_from_its_first_time():
    times, gaps = numbers(0, 1, 2, 3), numbers(1.0, 1e-4, 1.0, 1e-4)
    assert 0 < time_to_collapse(times, gaps).item() < 1


def test_a_collapse_at_a_saved_time():
    assert time_to_collapse(numbers(0, 1, 2), numbers(0.5, 1 - 0.999, 1e-9)).item() == 1


def test_nothing_is_made_on_another_device(elsewhere: None):
    with torch.device("cpu"):
        directions, times = swarms(), numbers(0.0, 1.0, 2.0)
    gaps = gaps_of(directions)
    assert observe(gaps, 2.0)["energy"].device.type == "cpu"
    assert time_to_collapse(times, gaps.amax((-2, -1))).device.type == "cpu"
