import pytest
import torch

from headgauge.theory.normalization import general_normalizer as general
from headgauge.theory.normalization import sensitivity

FUNCTIONS = {
    "exp": (torch.exp, torch.exp),
    "cold exp": (lambda z: torch.exp(z / 0.3), lambda z: torch.exp(z / 0.3) / 0.3),
    "softplus": (torch.nn.functional.softplus, torch.sigmoid),
    "square": (lambda z: 1 + z**2, lambda z: 2 * z),
    "sigmoid": (torch.sigmoid, lambda z: torch.sigmoid(z) * torch.sigmoid(-z)),
}


@pytest.fixture(params=FUNCTIONS)
def function(request):
    return FUNCTIONS[request.param]


@pytest.fixture
def logits() -> torch.Tensor:
    source = torch.Generator().manual_seed(12)
    scale = torch.logspace(-1, 0.7, 30, dtype=torch.float64)[:, None]
    return scale * torch.randn(30, 12, dtype=torch.float64, generator=source)


def test_the_jacobian_is_autograds(function, logits):
    f, df = function
    for row in logits[::10]:
        automatic = torch.autograd.functional.jacobian(lambda z: general.normalise(f, z), row)
        assert torch.allclose(general.jacobian(f(row), df(row)), automatic, atol=1e-12)


def test_the_corrected_bounds_hold(function, logits):
    values, slopes = function[0](logits), function[1](logits)
    norm = general.spectral_norm(values, slopes) * (1 - 1e-12)
    assert (norm <= general.logarithmic_bound(values, slopes)).all()
    assert (norm <= general.projector_bound(values, slopes)).all()
    assert (norm <= general.euclidean_bound(values, slopes)).all()
    smallest = general.smallest_value_bound(values, slopes)
    assert (general.projector_bound(values, slopes) <= smallest * (1 + 1e-12)).all()


def test_the_logarithmic_bound_is_exact_for_softmax(logits):
    values = torch.exp(logits / 0.7)
    bound = general.logarithmic_bound(values, values / 0.7)
    norm = sensitivity.spectral_norm(torch.softmax(logits / 0.7, -1), 0.7)
    assert torch.allclose(bound, norm, rtol=1e-10)
    assert torch.allclose(general.spectral_norm(values, values / 0.7), norm, rtol=1e-9)


def test_the_projector_bound_is_attained_for_a_constant_slope():
    values = torch.tensor([1.0, 2.0, 7.0, 4.0], dtype=torch.float64)
    slopes = torch.full_like(values, 3.0)
    norm = general.spectral_norm(values, slopes).item()
    assert norm == pytest.approx(general.projector_bound(values, slopes).item(), rel=1e-12)


def test_lemma_2_is_false():
    length = 400
    values = torch.full((length,), 10.0, dtype=torch.float64)
    values[0] = 5 * length
    slopes = -torch.expm1(-values)
    assert general.spectral_norm(values, slopes).item() == pytest.approx(1.12e-3, rel=0.01)
    assert general.lemma_2_printed(values, slopes).item() == pytest.approx(3.75e-4, rel=0.01)


def test_a_small_f_does_not_make_a_large_jacobian():
    values = torch.exp(torch.tensor([0.0, 0.3, -60.0], dtype=torch.float64))
    assert general.spectral_norm(values, values).item() == pytest.approx(0.489, abs=1e-3)
    assert general.uncapped_lemma_2_printed(values, values) > 1e51


def test_f_may_be_zero():
    values = torch.tensor([1.0, 0.0, 3.0], dtype=torch.float64)
    slopes = torch.tensor([1.0, 0.5, 1.0], dtype=torch.float64)
    dense = general.jacobian(values, slopes)
    assert dense.isfinite().all()
    assert dense.sum(0).abs().max() < 1e-15
