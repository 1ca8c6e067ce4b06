"""How concentrated a row is: entropy, effective N, sink weight, largest logit.

The paper's discussion asks to watch the entropy; alone it cannot tell a sink from a sharp
retrieval head, so the weight of the first token is read beside it.
"""

import torch

from headgauge.theory.checks import PerKey, PerRow, check_keys


def entropy(weights: PerKey) -> PerRow:
    """−Σ α log α in nats, 0·log 0 = 0. Weights that do not sum to one are used as they are."""
    check_keys(weights)
    return -torch.special.xlogy(weights, weights).sum(-1)


def effective_n(weights: PerKey) -> PerRow:
    """exp(entropy): n for n equal weights, 1 for a one-hot row. A head's is the mean over rows."""
    return torch.exp(entropy(weights))


def sink_weight(weights: PerKey) -> PerRow:
    """The weight on the first token of the sequence."""
    check_keys(weights)
    return weights[..., 0]


def max_logit(logits: PerKey) -> PerRow:
    """max_j l_j, where l is q·k·scale: what the model computes before it caps or biases logits."""
    check_keys(logits)
    return logits.amax(-1)
