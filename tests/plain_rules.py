"""A tiny model under a rule, in float64 and with nothing of ours: transformers' own modules around
an attention function that is written out here."""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from transformers import AttentionInterface

Rule = Callable[[Tensor, Tensor], Tensor]  # of logits and which keys are seen


def softmax(logits: Tensor, seen: Tensor, temperature: float = 1.0) -> Tensor:
    return torch.softmax((logits / temperature).masked_fill(~seen, -math.inf), -1)


def ssmax(logits: Tensor, seen: Tensor, s: float) -> Tensor:
    return softmax(logits * s * seen.sum(-1, keepdim=True).log(), seen)


def softmax_one(logits: Tensor, seen: Tensor) -> Tensor:
    powers = logits.exp() * seen
    return powers / (1 + powers.sum(-1, keepdim=True))


def sparsemax(logits: Tensor, seen: Tensor) -> Tensor:
    """Sort, find the support, take the threshold off."""
    z = logits.masked_fill(~seen, -1e9)
    ordered = z.sort(-1, descending=True).values
    sums, k = ordered.cumsum(-1), torch.arange(1, z.shape[-1] + 1, dtype=z.dtype)
    size = (1 + k * ordered > sums).sum(-1, keepdim=True)
    return (z - (sums.gather(-1, size - 1) - 1) / size).clamp(min=0)


class PlainPass:
    """Logits of the next tokens, and of every layer what its attention had and made."""

    def __init__(self, model: Any, ids: Tensor, rule: Rule = softmax, layers: Any = None):
        self.attention: list[dict[str, Tensor]] = []
        chosen = range(1000) if layers is None else layers

        def attend(module: Any, query: Tensor, key: Tensor, value: Tensor, mask: Any, **more: Any):
            count = query.shape[1] // key.shape[1]
            key, value = (each.repeat_interleave(count, 1) for each in (key, value))
            logits = query @ key.mT * more["scaling"]
            seen = torch.ones(logits.shape[-2:], dtype=torch.bool).tril().expand(logits.shape)
            mine = rule if len(self.attention) in chosen else softmax
            weights = mine(logits, seen)
            made = {"logits": logits[0], "seen": seen[0], "weights": weights[0], "value": value[0]}
            self.attention.append(made)
            return (weights @ value).transpose(1, 2), None

        entries = AttentionInterface._global_mapping
        own, used = entries["sdpa"], next(model.parameters()).dtype
        try:
            entries["sdpa"] = attend
            with torch.no_grad():
                self.logits = model.double()(ids[None], use_cache=False).logits[0, :-1]
        finally:
            entries["sdpa"] = own
            model.to(used)
        self.loss = torch.nn.functional.cross_entropy(self.logits, ids[1:]).item()

    def kl(self, other: "PlainPass") -> float:
        """KL(self ‖ other), mean over tokens."""
        p, q = (torch.log_softmax(each.logits, -1) for each in (self, other))
        return (p.exp() * (p - q)).sum(-1).mean().item()

    def agreement(self, other: "PlainPass") -> float:
        return (self.logits.argmax(-1) == other.logits.argmax(-1)).double().mean().item()
