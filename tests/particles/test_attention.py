import numpy as np
import pytest
import torch
from torch import Tensor

from headgauge import normalizers
from headgauge.errors import InputError
from headgauge.particles import sphere
from headgauge.particles.attention import Attention, Projections, Weights
from particles import reference
from particles.running import numbers


def swarms(batch: int = 3, n: int = 5, d: int = 6) -> Tensor:
    return torch.stack([sphere.uniform(n, d, 100 + seed) for seed in range(batch)])


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("normalised", [True, False])
def test_one_head_of_identity_is_the_formula(causal: bool, normalised: bool):
    directions, beta = swarms(), numbers(0.5, 1.7, 9.0)
    got = Attention(beta, causal=causal, normalised=normalised).output(directions, None)
    for theta, b, found in zip(directions.numpy(), beta.tolist(), got.numpy(), strict=True):
        expected = reference.attend(theta, b, causal=causal, normalised=normalised)
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
    weights = Weights(kind, 6, (1, 2, 3))
    matrices = None if weights.identity else weights.at(0.0)
    got = Attention(beta, weights, heads, causal).output(directions, matrices)
    for place in range(3):
        mine = [torch.eye(6, dtype=torch.float64)] * 3
        if matrices is not None:
            mine = [each[place] for each in (matrices.query, matrices.key, matrices.value)]
        expected = by_hand(directions[place], float(beta[place]), mine, heads, causal)
        assert torch.allclose(got[place], expected, rtol=1e-12, atol=1e-14)


def test_matrices_without_a_batch_serve_all():
    directions, beta = swarms(), numbers(0.5, 1.7, 3.0)
    shared = Weights("random", 6, (4,)).at(0.0)
    each = Projections(*(part.expand(3, 6, 6) for part in (shared.query, shared.key, shared.value)))
    for heads in (1, 2):
        attention = Attention(beta, heads=heads)
        one, many = attention.output(directions, shared), attention.output(directions, each)
        assert torch.allclose(one, many, rtol=1e-13, atol=1e-15)


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


def test_rows_take_their_beta_and_seeds():
    attention = Attention(numbers(1, 2, 3), Weights("random", 6, (7, 8, 9)), causal=True)
    some = attention.rows(torch.tensor([2, 0]))
    assert some.beta.tolist() == [3, 1]
    assert some.weights.seeds == (9, 7)
    assert some.causal


def test_pairs_suffice_for_one_head_of_identity_only():
    assert Attention(numbers(1.0), rule=normalizers.get("sigmoid"), causal=True).pairs_suffice
    assert not Attention(numbers(1.0), heads=2).pairs_suffice
    assert not Attention(numbers(1.0), Weights("random", 4, (1,))).pairs_suffice


def test_mistakes():
    with pytest.raises(InputError, match=r"^unnormalised attention has no rule"):
        Attention(numbers(1.0), rule=normalizers.get("relu"), normalised=False)
    with pytest.raises(InputError, match=r"^attention needs at least 1 head, got 0$"):
        Attention(numbers(1.0), heads=0)
    with pytest.raises(InputError, match=r"^6 dimensions cannot be split among 4 heads$"):
        Attention(numbers(1.0), heads=4).output(swarms(1), None)


def test_unnormalised_weights_are_powers_over_n():
    """At one point every token says e^β times the same."""
    point = torch.ones(1, 4, 1, dtype=torch.float64)
    got = Attention(numbers(1.3), normalised=False).output(point, None)
    assert got.flatten().numpy() == pytest.approx(np.full(4, np.exp(1.3)), rel=1e-14)
