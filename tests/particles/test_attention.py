import pytest
import torch
from torch import Tensor
from torch.nn.functional import normalize

from headgauge import normalizers
from headgauge.errors import InputError
from headgauge.particles import sphere
from headgauge.particles.attention import Attention, Weights
from particles import reference
from particles.running import numbers


def swarms(batch: int = 3, n: int = 5, d: int = 6) -> Tensor:
    return torch.stack([sphere.uniform(n, d, 100 + seed) for seed in range(batch)])


@pytest.mark.parametrize("causal", [False, True])
def test_one_head_of_identity_is_the_formula(causal: bool):
    directions, beta = swarms(), numbers(0.5, 1.7, 9.0)
    got = Attention(beta, causal=causal).output(directions, None)
    for theta, b, found in zip(directions.numpy(), beta.tolist(), got.numpy(), strict=True):
        expected = reference.attend(theta, b, causal=causal)
        assert found == pytest.approx(expected, rel=1e-12, abs=1e-15)


def by_hand(theta: Tensor, beta: float, matrices: list[Tensor], heads: int, causal: bool) -> Tensor:
    """Head by head and token by token; Q, K and V applied to each token."""
    n, d = theta.shape
    each = d // heads
    out = torch.zeros_like(theta)
    for head in range(heads):
        rows = slice(head * each, (head + 1) * each)
        query, key, value = (matrix[rows] for matrix in matrices)
        for j in range(n):
            seen = theta[: j + 1] if causal else theta
            logits = torch.stack([beta * (query @ theta[j]) @ (key @ other) for other in seen])
            weights = torch.softmax(logits, 0)
            out[j, rows] = sum(
                (w * (value @ other) for w, other in zip(weights, seen, strict=True)),
                torch.zeros(each, dtype=torch.float64),
            )
    return out


@pytest.mark.parametrize("heads", [1, 2, 3, 6])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("kind", ["identity", "random"])
def test_heads_are_those_of_a_transformer(heads: int, causal: bool, kind: str):
    """The path through M = QᵀK for one head included."""
    directions, beta = swarms(), numbers(0.5, 1.7, 3.0)
    attention = Attention(beta, Weights(kind, 6, 3), heads, causal)
    matrices = attention.matrices(0.0)
    got = attention.output(directions, matrices)
    mine = [torch.eye(6, dtype=torch.float64)] * 3
    if matrices is not None:
        mine = [matrices.query, matrices.key, matrices.value]
    for place in range(3):
        expected = by_hand(directions[place], float(beta[place]), mine, heads, causal)
        assert torch.allclose(got[place], expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("rule", ["sparsemax", "entmax", "ssmax", "sigmoid", "topk"])
@pytest.mark.parametrize("causal", [False, True])
def test_any_rule_on_the_same_logits(rule: str, causal: bool):
    directions, beta = swarms(), numbers(0.5, 1.7, 3.0)
    instance = normalizers.get(rule, **({"k": 3} if rule == "topk" else {}))
    got = Attention(beta, causal=causal, rule=instance).output(directions, None)
    for place, theta in enumerate(directions):
        for j in range(5):
            seen = theta[: j + 1] if causal else theta
            weights = instance((beta[place] * (seen @ theta[j]))[None])[0]
            assert torch.allclose(got[place, j], weights @ seen, rtol=1e-10, atol=1e-12)


def test_a_token_under_a_causal_mask_does_not_see_the_later_ones():
    directions = swarms(1)
    changed = directions.clone()
    changed[:, 3:] = changed[:, 3:].flip(-1)
    attention = Attention(numbers(2.0), causal=True)
    before, after = attention.output(directions, None), attention.output(changed, None)
    assert torch.equal(before[:, :3], after[:, :3])
    assert not torch.allclose(before[:, 3:], after[:, 3:])


def test_large_beta_does_not_overflow():
    got = Attention(numbers(1e5)).output(swarms(1), None)
    assert torch.allclose(got, swarms(1), atol=1e-12)  # each token sees itself alone


def test_rows_take_their_beta():
    attention = Attention(numbers(1, 2, 3), Weights("random", 6, 7), causal=True)
    some = attention.only(torch.tensor([2, 0]))
    assert some.beta.tolist() == [3, 1]
    assert some.weights == attention.weights
    assert some.causal


def test_pairs_suffice_for_one_head_of_identity_only():
    assert Attention(numbers(1.0), rule=normalizers.get("sigmoid"), causal=True).pairs_suffice
    assert not Attention(numbers(1.0), heads=2).pairs_suffice
    assert not Attention(numbers(1.0), Weights("random", 4)).pairs_suffice


def test_mistakes():
    with pytest.raises(InputError, match=r"^attention needs at least 1 head, got 0$"):
        Attention(numbers(1.0), heads=0)
    with pytest.raises(InputError, match=r"^6 dimensions cannot be split among 4 heads$"):
        Attention(numbers(1.0), heads=4).output(swarms(1), None)


def test_the_three_matrices_and_the_seeds_differ():
    drawn = [Weights("random", 8, seed).at(0.0) for seed in range(4)]
    every = [part for each in drawn for part in (each.query, each.key, each.value)]
    flat = torch.stack([part.flatten() for part in every])
    cosine = normalize(flat, dim=-1) @ normalize(flat, dim=-1).T
    assert float(cosine.fill_diagonal_(0).abs().max()) < 0.6


@pytest.mark.parametrize("seed", [0, 1, 7])
def test_tokens_of_the_same_seed_are_not_the_rows_of_a_matrix(seed: int):
    """Both are normal numbers from a seed; were they the same ones, ⟨q_j, θ_j⟩ would be √2."""
    tokens = sphere.uniform(32, 64, seed)
    for other in range(8):
        query = normalize(Weights("random", 64, other).at(0.0).query, dim=-1)
        assert float((query[:32] * tokens).sum(-1).abs().max()) < 0.7


def test_kaiming():
    drawn = Weights("random", 200, 3).at(0.0)
    for part in (drawn.query, drawn.key, drawn.value):
        assert part.dtype == torch.float64
        assert float(part.mean()) == pytest.approx(0, abs=3 * 0.1 / 200)
        assert float(part.var()) == pytest.approx(2 / 200, rel=0.03)


def test_random_weights_stay_and_layers_change_at_whole_times():
    stay, change = Weights("random", 4), Weights("layers", 4)
    assert torch.equal(stay.at(0.5).query, stay.at(7.5).query)
    assert torch.equal(change.at(2.01).query, change.at(2.99).query)
    assert not torch.allclose(change.at(2.99).query, change.at(3.01).query)
    assert torch.equal(stay.at(0.5).query, change.at(0.5).query)


@pytest.mark.parametrize(
    ("end", "breaks"), [(3.0, (1.0, 2.0)), (3.5, (1.0, 2.0, 3.0)), (1.0, ()), (0.5, ())]
)
def test_breaks_are_the_whole_times_within(end: float, breaks: tuple[float, ...]):
    assert Weights("layers", 4).breaks(end) == breaks
    assert Weights("random", 4).breaks(end) == ()


def test_weights_that_cannot_be():
    with pytest.raises(InputError, match=r"^no weights named 'orthogonal'; there are identity, "):
        Weights("orthogonal")
