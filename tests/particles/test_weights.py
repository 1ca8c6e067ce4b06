import pytest
import torch
from torch.nn.functional import normalize

from headgauge.errors import InputError
from headgauge.particles import sphere
from headgauge.particles.attention import Weights


def test_a_trajectory_draws_the_same_in_any_company():
    many = Weights("random", 6, (5, 9, 5, 2)).at(0.0)
    for place, seed in enumerate((5, 9, 5, 2)):
        alone = Weights("random", 6, (seed,)).at(0.0)
        for part in ("query", "key", "value", "query_key"):
            one = getattr(alone, part).reshape(6, 6)
            assert torch.allclose(getattr(many, part)[place], one, rtol=1e-14, atol=1e-15)


def test_the_three_matrices_and_the_seeds_differ():
    drawn = [Weights("random", 8, (seed,)).at(0.0) for seed in range(4)]
    every = [part for each in drawn for part in (each.query, each.key, each.value)]
    flat = torch.stack([part.flatten() for part in every])
    cosine = normalize(flat, dim=-1) @ normalize(flat, dim=-1).T
    assert float(cosine.fill_diagonal_(0).abs().max()) < 0.6


@pytest.mark.parametrize("seed", [0, 1, 7])
def test_tokens_of_the_same_seed_are_not_the_rows_of_a_matrix(seed: int):
    """Both are normal numbers from a seed; were they the same ones, ⟨q_j, θ_j⟩ would be √2."""
    tokens = sphere.uniform(32, 64, seed)
    for other in range(8):
        query = normalize(Weights("random", 64, (other,)).at(0.0).query.reshape(64, 64), dim=-1)
        assert float((query[:32] * tokens).sum(-1).abs().max()) < 0.7


def test_kaiming():
    drawn = Weights("random", 200, (3,)).at(0.0)
    for part in (drawn.query, drawn.key, drawn.value):
        assert part.dtype == torch.float64
        assert float(part.mean()) == pytest.approx(0, abs=3 * 0.1 / 200)
        assert float(part.var()) == pytest.approx(2 / 200, rel=0.03)


def test_random_weights_stay_and_layers_change_at_whole_times():
    stay, change = Weights("random", 4, (1,)), Weights("layers", 4, (1,))
    assert torch.equal(stay.at(0.5).query, stay.at(7.5).query)
    assert torch.equal(change.at(2.01).query, change.at(2.99).query)
    assert not torch.allclose(change.at(2.99).query, change.at(3.01).query)
    assert torch.equal(stay.at(0.5).query, change.at(0.5).query)


@pytest.mark.parametrize(
    ("end", "breaks"), [(3.0, (1.0, 2.0)), (3.5, (1.0, 2.0, 3.0)), (1.0, ()), (0.5, ())]
)
def test_breaks_are_the_whole_times_within(end: float, breaks: tuple[float, ...]):
    assert Weights("layers", 4, (1,)).breaks(end) == breaks
    assert Weights("random", 4, (1,)).breaks(end) == ()


def test_rows_keep_their_seeds():
    some = torch.tensor([2, 0])
    weights = Weights("random", 4, (5, 6, 7))
    assert weights.rows(some).seeds == (7, 5)
    assert torch.equal(weights.at(0.0).rows(some).value, weights.rows(some).at(0.0).value)
    assert Weights().rows(some).identity


def test_mistakes():
    with pytest.raises(InputError, match=r"^no weights named 'orthogonal'; there are identity, "):
        Weights("orthogonal")
    with pytest.raises(InputError, match=r"^layers weights need a seed for every trajectory$"):
        Weights("layers", 4)
