import itertools
import math

import numpy as np
import pytest

from headgauge.theory.dynamics.long_context import limit, limit_stated, output_cosine, threshold


def one_layer(n: int, rho: float, gamma: float) -> float:
    """cos(A_1, A_2) with coordinates and a softmax written out."""
    gram = np.full((n, n), rho) + (1 - rho) * np.eye(n)
    weights = np.exp(gamma * math.log(n) * (gram - 1))
    weights /= weights.sum(1, keepdims=True)
    outputs = weights @ np.linalg.cholesky(gram)
    return outputs[0] @ outputs[1] / (np.linalg.norm(outputs[0]) * np.linalg.norm(outputs[1]))


def test_the_exact_form_is_a_layer():
    for at in itertools.product([2, 5, 60], [0.0, 0.2, 0.9], [0.1, 0.5, 1.25, 6.0]):
        assert output_cosine(*at) == pytest.approx(one_layer(*at), abs=1e-12), at


@pytest.mark.parametrize(
    ("rho", "gamma", "expected"),
    [
        (0.5, 1.9, 1.0),
        (0.5, 2.0, 0.8),  # 4ρ/(1+3ρ)
        (0.5, 2.1, 0.5),
        (0.0, 0.45, 1.0),
        (0.0, 0.5, 0.5),
        (0.0, 0.55, 0.0),
        (0.0, 1.0, 0.0),
    ],
)
def test_a_very_long_context_is_at_the_limit(rho, gamma, expected):
    assert limit(rho, gamma) == pytest.approx(expected)
    assert output_cosine(1e300, rho, gamma) == pytest.approx(expected, abs=1e-9)


def test_only_orthogonal_tokens_have_another_threshold():
    assert threshold(0.0) == 0.5
    assert limit_stated(0.0, 0.7) == 1.0
    assert limit(0.0, 0.7) == 0.0
    for rho in (0.01, 0.3, 0.9):
        assert threshold(rho) == pytest.approx(1 / (1 - rho))
        for gamma in (0.9 * threshold(rho), threshold(rho), 1.1 * threshold(rho)):
            assert limit(rho, gamma) == limit_stated(rho, gamma)


@pytest.mark.parametrize("call", [lambda: limit(1.0, 1.0), lambda: limit_stated(-0.1, 1.0)])
def test_a_cosine_out_of_range_is_named(call):
    with pytest.raises(ValueError, match="cosine of at least 0 and below 1"):
        call()


def test_other_mistakes_are_named():
    with pytest.raises(ValueError, match="at least 2 tokens, got 1"):
        output_cosine(1, 0.5, 1.0)
    with pytest.raises(ValueError, match="γ above 0, got 0"):
        output_cosine(8, 0.5, 0.0)
