import math

import pytest
import torch

from headgauge.theory.normalization import concentration


def test_entropy_of_known_rows():
    rows = torch.tensor(
        [[0.25, 0.25, 0.25, 0.25], [1.0, 0.0, 0.0, 0.0], [0.5, 0.5, 0.0, 0.0]], dtype=torch.float64
    )
    assert concentration.entropy(rows).tolist() == pytest.approx([math.log(4), 0, math.log(2)])
    assert concentration.effective_n(rows).tolist() == pytest.approx([4, 1, 2])
    assert concentration.sink_weight(rows).tolist() == [0.25, 1.0, 0.5]


def test_zeros_do_not_matter(rows):
    weights, _ = rows
    padded = torch.cat([weights, torch.zeros_like(weights)], -1)
    assert torch.allclose(concentration.entropy(padded), concentration.entropy(weights))


def test_entropy_is_torchs(rows):
    weights, _ = rows
    assert torch.allclose(
        concentration.entropy(weights), torch.distributions.Categorical(weights).entropy()
    )


def test_max_logit():
    logits = torch.tensor([[1.0, -3.0, 2.5], [-1.0, -2.0, -7.0]])
    assert concentration.max_logit(logits).tolist() == [2.5, -1.0]
