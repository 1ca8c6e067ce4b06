import itertools

import pytest
import torch
from torch import Tensor

from headgauge.theory.normalization import isotropy


def _unit(seed: int, tokens: int, dim: int, shift: float = 0.0) -> Tensor:
    source = torch.Generator().manual_seed(seed)
    x = torch.randn(tokens, dim, dtype=torch.float64, generator=source) + shift
    return torch.nn.functional.normalize(x, dim=-1)


CASES = {
    "wide": _unit(0, 7, 20),
    "many": _unit(1, 40, 5),
    "a cone": _unit(2, 30, 8, shift=3.0),
    "two": _unit(3, 2, 4),
    "opposite": torch.cat([_unit(4, 6, 3), -_unit(4, 6, 3)]),
    "in one dimension": torch.tensor([[1.0], [-1.0], [1.0]], dtype=torch.float64),
}


@pytest.mark.parametrize("name", CASES)
def test_all_pairs(name):
    x = CASES[name]
    pairs = list(itertools.permutations(range(len(x)), 2))
    cosines = [float(x[i] @ x[j]) for i, j in pairs]
    assert float(isotropy.mean_cosine(x)) == pytest.approx(sum(cosines) / len(pairs), abs=1e-12)
    nearest = isotropy.nearest_distances(x)
    for i in range(len(x)):
        wanted = min(float((x[i] - x[j]).norm()) for j in range(len(x)) if j != i)
        assert float(nearest[i]) == pytest.approx(wanted, abs=3e-8)
    eigenvalues = torch.linalg.eigvalsh(x.mT @ x)
    wanted = float(eigenvalues.sum() ** 2 / eigenvalues.square().sum())
    assert float(isotropy.effective_dimension(x)) == pytest.approx(wanted, rel=1e-12)


def test_sets_of_a_batch_are_looked_at_one_by_one():
    sets = torch.stack([_unit(seed, 9, 4, shift=seed) for seed in range(3)])
    for measure in (
        isotropy.mean_cosine, isotropy.effective_dimension, isotropy.nearest_distances,
    ):  # fmt: skip
        found = measure(sets)
        for at in range(3):
            assert torch.allclose(found[at], measure(sets[at]), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("apart", [1e-2, 1e-4, 1e-6])
def test_near_duplicates_keep_their_digits(apart):
    """1 − cos is 5e-13 at a distance of 1e-6, of which float64 would leave three digits."""
    x = _unit(5, 12, 6)
    away = _unit(6, 1, 6)[0]
    away = away - (away @ x[3]) * x[3]
    away = away / away.norm()
    angle = torch.asin(torch.tensor(apart / 2, dtype=torch.float64)) * 2
    near = torch.cat([x, (torch.cos(angle) * x[3] + torch.sin(angle) * away)[None]])
    found = isotropy.nearest_distances(near)
    assert float(found.amin()) == pytest.approx(apart, rel=1e-9)
    assert float(found[3]) == float(found[12])


def test_a_repeated_vector_is_at_distance_0():
    x = torch.cat([_unit(7, 10, 16), _unit(7, 10, 16)[4:5]])
    found = isotropy.nearest_distances(x)
    assert float(found[4]) == float(found[10]) == 0.0
    assert float(found[:4].amin()) > 0.1


def test_uniform_vectors_have_no_cosine_and_nearly_all_dimensions():
    """As the docstring has it: about dL/(d + L − 1), and a mean cosine of 0 ± 1/(L√d)·√2."""
    tokens, dim = 400, 48
    sets = torch.stack([_unit(seed, tokens, dim) for seed in range(20)])
    cosines = isotropy.mean_cosine(sets)
    spread = (2 / (tokens * (tokens - 1) * dim)) ** 0.5
    assert float(cosines.square().mean().sqrt()) == pytest.approx(spread, rel=0.5)
    assert float(cosines.mean()) == pytest.approx(0.0, abs=4 * spread / 20**0.5)
    wanted = dim * tokens / (dim + tokens - 1)
    assert float(isotropy.effective_dimension(sets).mean()) == pytest.approx(wanted, rel=0.01)


def test_the_extremes():
    line = torch.tensor([[1.0, 0.0], [1.0, 0.0], [-1.0, 0.0]], dtype=torch.float64)
    assert float(isotropy.effective_dimension(line)) == pytest.approx(1.0)
    assert float(isotropy.mean_cosine(line)) == pytest.approx(-1 / 3)
    assert float(isotropy.effective_dimension(torch.eye(5, dtype=torch.float64))) == 5.0
    assert float(isotropy.mean_cosine(torch.ones(4, 1, dtype=torch.float64))) == 1.0


def test_a_single_vector_has_no_pair():
    with pytest.raises(ValueError, match="needs 2 vectors or more, got 1"):
        isotropy.mean_cosine(_unit(0, 1, 3))
    with pytest.raises(ValueError, match="needs 2 vectors or more, got 1"):
        isotropy.nearest_distances(_unit(0, 1, 3))
