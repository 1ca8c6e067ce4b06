import math

import pytest
import torch

from headgauge.theory.normalization import finite_difference as fd
from headgauge.theory.normalization import sensitivity


@pytest.fixture
def source() -> torch.Generator:
    return torch.Generator().manual_seed(11)


@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 10.0])
@pytest.mark.parametrize("temperature", [0.01, 0.3, 1.0, 100.0])
def test_nothing_exceeds_the_sharp_bound(source, epsilon, temperature):
    scale = torch.logspace(-2, 1, 60, dtype=torch.float64)[:, None]
    logits = scale * torch.randn(60, 15, dtype=torch.float64, generator=source)
    logits[:5] = 0
    direction = fd.random_direction(logits, source)
    assert torch.allclose(direction.norm(dim=-1), torch.ones(60, dtype=torch.float64))
    bound = fd.sharp_bound(epsilon, temperature)
    random = fd.sensitivity(logits, direction, epsilon, temperature)
    worst = fd.worst_sensitivity(logits, epsilon, temperature)
    per_row = fd.direction_bound(direction, epsilon, temperature)
    assert (random <= per_row * (1 + 1e-9)).all()
    assert (per_row <= bound * (1 + 1e-12)).all()
    assert (worst <= bound * (1 + 1e-9)).all()
    assert bound <= min(1 / (2 * temperature), math.sqrt(2) / epsilon) * (1 + 1e-12)


@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 10.0])
@pytest.mark.parametrize("temperature", [0.1, 1.0])
def test_two_keys_attain_the_sharp_bound(epsilon, temperature):
    half = epsilon / (2 * math.sqrt(2))
    logits = torch.tensor([-half, half], dtype=torch.float64)
    direction = torch.tensor([1.0, -1.0], dtype=torch.float64) / math.sqrt(2)
    reached = fd.sensitivity(logits, direction, epsilon, temperature).item()
    assert reached == pytest.approx(fd.sharp_bound(epsilon, temperature), rel=1e-9)


def test_the_worst_direction_finds_the_norm_and_the_random_one_does_not(source):
    logits = torch.randn(30, 256, dtype=torch.float64, generator=source)
    norm = sensitivity.spectral_norm(torch.softmax(logits, -1))
    worst = fd.worst_sensitivity(logits, 1e-5)
    assert torch.allclose(worst, norm, rtol=1e-4)
    random = fd.sensitivity(logits, fd.random_direction(logits, source), 1e-5)
    assert (norm / random).median() > 4


def test_the_better_of_two_signs(source):
    logits = torch.randn(50, 6, dtype=torch.float64, generator=source)
    worst = fd.worst_sensitivity(logits, 5.0)
    direction = sensitivity.leading_direction(torch.softmax(logits, -1))
    forward = fd.sensitivity(logits, direction, 5.0)
    backward = fd.sensitivity(logits, -direction, 5.0)
    assert torch.equal(worst, torch.maximum(forward, backward))
    assert not torch.allclose(forward, backward)


@pytest.mark.parametrize("sharpness", [0.0, 1.0, 4.0, 15.0])
@pytest.mark.parametrize("dim", [None, 40])
def test_the_exact_mean_over_directions_matches_simulation(source, sharpness, dim):
    """`dim` larger than the row: the direction also covers keys that are masked."""
    length, draws = 12, 40_000
    logits = sharpness * torch.randn(length, dtype=torch.float64, generator=source)
    weights = torch.softmax(logits, -1)
    size = dim or length
    v = torch.randn(draws, size, dtype=torch.float64, generator=source)
    v = v / v.norm(dim=-1, keepdim=True)
    jacobian = torch.diag(weights) - torch.outer(weights, weights)
    lengths = (v[:, :length] @ jacobian).norm(dim=-1) / 0.5
    mean = fd.mean_over_directions(weights, temperature=0.5, dim=dim)
    error = lengths.std().item() / math.sqrt(draws)
    assert mean.item() == pytest.approx(lengths.mean().item(), abs=4 * error)
    root = fd.root_mean_square_over_directions(weights, temperature=0.5, dim=dim)
    assert root.item() == pytest.approx((lengths**2).mean().sqrt().item(), rel=0.02)
    assert mean <= root


def test_the_integral_has_converged_and_survives_one_hot_rows(source):
    scale = torch.logspace(-1, 1.5, 40, dtype=torch.float64)[:, None]
    logits = scale * torch.randn(40, 20, dtype=torch.float64, generator=source)
    weights = torch.softmax(logits, -1)
    coarse = fd.mean_over_directions(weights)
    fine = fd.mean_over_directions(weights, nodes=500)
    assert torch.allclose(coarse, fine, rtol=1e-11, atol=0)
    # Next to one-hot C is q(e₁e₁ᵀ + …): the mean scales with q, down to the smallest q.
    for q in (1e-5, 1e-12):
        row = torch.tensor([1 - q, q], dtype=torch.float64)
        # C = 2q(1−q) vvᵀ: E|v·u| over the circle is 2/π.
        expected = 2 * q * (1 - q) * 2 / math.pi
        assert fd.mean_over_directions(row).item() == pytest.approx(expected, rel=1e-10)
    assert fd.mean_over_directions(torch.eye(5, dtype=torch.float64)).tolist() == [0] * 5


@pytest.mark.parametrize(("dtype", "q"), [(torch.float32, 1e-14), (torch.float64, 1e-160)])
def test_the_integral_does_not_overflow(dtype, q):
    row = torch.tensor([1 - q, q, q, 0.0], dtype=dtype)
    small = torch.tensor([1 - 1e-6, 5e-7, 5e-7, 0.0], dtype=torch.float64)
    # Linear in q next to one-hot.
    expected = fd.mean_over_directions(small).item() * (2 * q / 1e-6)
    assert fd.mean_over_directions(row).double().item() == pytest.approx(expected, rel=1e-4)


def test_the_mean_of_rows_that_sum_to_less_than_one(source):
    weights = torch.tensor([0.5, 0.2, 0.05], dtype=torch.float64)
    v = torch.randn(200_000, 3, dtype=torch.float64, generator=source)
    v = v / v.norm(dim=-1, keepdim=True)
    lengths = (v @ (torch.diag(weights) - torch.outer(weights, weights))).norm(dim=-1)
    error = lengths.std().item() / math.sqrt(len(lengths))
    assert fd.mean_over_directions(weights).item() == pytest.approx(
        lengths.mean().item(), abs=4 * error
    )


@pytest.mark.parametrize("length", [2, 1001])
@pytest.mark.parametrize("lead", [0.0, 5.0, 30.0, 100.0, 600.0])
def test_the_worst_direction_keeps_its_digits_next_to_one_hot(length, lead):
    logits = torch.zeros(length, dtype=torch.float64)
    logits[0] = lead
    norm = sensitivity.spectral_norm(torch.softmax(logits, -1)).item()
    worst = fd.worst_sensitivity(logits, 1e-6).item()
    assert worst == pytest.approx(norm, rel=1e-5)


@pytest.mark.parametrize("size", [1e-4, 1.0, 50.0, 2000.0])
def test_the_change_of_weights_is_the_difference(source, size):
    logits = 3 * torch.randn(40, 9, dtype=torch.float64, generator=source)
    step = size * torch.randn(40, 9, dtype=torch.float64, generator=source)
    change = fd.change_of_weights(logits, step, 0.7)
    plain = torch.softmax((logits + step) / 0.7, -1) - torch.softmax(logits / 0.7, -1)
    # The plain difference itself rounds logits of thousands.
    assert torch.allclose(change, plain, rtol=0, atol=1e-16 * (100 + 10 * size))
    assert change.sum(-1).abs().max() < 1e-16 * (100 + 10 * size)
