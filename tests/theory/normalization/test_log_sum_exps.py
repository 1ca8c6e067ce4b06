"""What log-sum-exps tell, against the weights themselves."""

import math

import pytest
import torch
from torch import Tensor

from headgauge.theory import roles
from headgauge.theory.normalization import concentration, log_sum_exps, sensitivity
from theory.conftest import at_most

SINKS = (None, -2.0, 0.0, 3.0)


def told(logits: Tensor, sink: float | None) -> tuple[Tensor, Tensor, Tensor]:
    """(l(1), L, weights) with weights as their definition has them."""
    one = log_sum_exps.log_sum_exp(logits)
    whole = one if sink is None else log_sum_exps.with_sink(one, sink)
    extra = logits.new_full((*logits.shape[:-1], 0 if sink is None else 1), sink or 0.0)
    weights = torch.softmax(torch.cat([logits, extra], -1), -1)[..., : logits.shape[-1]]
    return one, whole, weights


@pytest.fixture
def logits(rows: tuple[Tensor, Tensor]) -> Tensor:
    return rows[0].clamp(min=1e-300).log() + torch.arange(len(rows[0]))[:, None] % 3 - 1.0


@pytest.mark.parametrize("sink", SINKS)
def test_entropies_are_those_of_the_weights(logits: Tensor, sink: float | None):
    one, whole, weights = told(logits, sink)
    mean = (torch.softmax(logits, -1) * logits).sum(-1)
    found = log_sum_exps.entropy(one, mean, whole)
    torch.testing.assert_close(found, concentration.entropy(weights), atol=1e-12, rtol=1e-12)
    found = log_sum_exps.collision_entropy(log_sum_exps.log_sum_exp(logits, 2.0), whole)
    everything = torch.ones_like(weights, dtype=torch.bool)
    right = roles.collision_entropy(weights, everything)
    torch.testing.assert_close(found, right, atol=1e-12, rtol=1e-12)


@pytest.mark.parametrize("sink", SINKS)
def test_the_bracket_holds(logits: Tensor, sink: float | None):
    _, whole, weights = told(logits, sink)
    largest = log_sum_exps.largest_weight(logits.amax(-1), whole)
    torch.testing.assert_close(largest, weights.amax(-1), atol=1e-14, rtol=1e-12)
    lower, upper = log_sum_exps.jacobian_bracket(largest)
    norm = sensitivity.largest_eigenvalue(weights)
    assert at_most(lower, norm)
    assert at_most(norm, upper)


def test_the_bracket_is_sharp():
    alone, equal, pair = (torch.full((n,), p) for n, p in ((1, 0.3), (7, 1 / 7), (2, 0.5)))
    uneven = torch.tensor([0.9, 0.1])
    for weights, end in ((alone, 0), (equal, 1), (pair, 1), (uneven, 1)):
        bracket = log_sum_exps.jacobian_bracket(weights.amax(-1, keepdim=True))
        norm = sensitivity.largest_eigenvalue(weights)
        torch.testing.assert_close(bracket[end][0], norm)


def test_the_largest_logit_is_too_high_by_log_n_over_c_at_most(logits: Tensor):
    n, right = logits.shape[-1], logits.amax(-1)
    for c in (8.0, 1024.0, 2.0**16):
        found = log_sum_exps.largest_logit(log_sum_exps.log_sum_exp(logits, c), c)
        error = log_sum_exps.largest_logit_error(n, c)
        assert (found >= right - 1e-12).all()
        assert (found <= right + error + 1e-12).all()
    alike = torch.zeros(n, dtype=torch.float64)
    found = log_sum_exps.largest_logit(log_sum_exps.log_sum_exp(alike, 8.0), 8.0)
    assert float(found) == pytest.approx(math.log(n) / 8)


def test_the_difference_errs_by_the_third_cumulant(logits: Tensor):
    def cumulant(beta: float) -> Tensor:
        weights = torch.softmax(beta * logits, -1)
        away = logits - (weights * logits).sum(-1, keepdim=True)
        return (weights * away**3).sum(-1)

    mean = (torch.softmax(logits, -1) * logits).sum(-1)
    for h in (2.0**-3, 2.0**-6):
        above, below = (log_sum_exps.log_sum_exp(logits, 1 + each) for each in (h, -h))
        error = (log_sum_exps.mean_by_difference(above, below, h) - mean).abs()
        several = torch.stack([cumulant(1 + h * at / 16) for at in range(-16, 17)])
        curved = several.abs().amax(0) * 1.01 * h**2 / 6
        rounding = torch.finfo(torch.float64).eps * torch.maximum(above.abs(), below.abs()) / h
        assert (error <= curved + rounding + 1e-12).all()


def test_rounding_leaves_no_impossible_numbers():
    just, more = torch.tensor([10.0]), torch.tensor([10.001])
    assert float(log_sum_exps.entropy(just, more, just)) == 0
    assert float(log_sum_exps.collision_entropy(2 * more, just)) == 0
    assert float(log_sum_exps.largest_weight(more, just)) == 1


def test_what_is_refused():
    row = torch.zeros(1)
    for wrong in (
        lambda: log_sum_exps.log_sum_exp(torch.zeros(2, 0)),
        lambda: log_sum_exps.mean_by_difference(row, row, 0.0),
        lambda: log_sum_exps.largest_logit(row, -1.0),
        lambda: log_sum_exps.largest_logit_error(5, 0.0),
    ):
        with pytest.raises(ValueError, match=r"needs at least one key|must be positive"):
            wrong()
