"""What the paper leaves open, each with a name: vectors, their length, keys, and the rule.

The paper says "token embeddings", normalised, and does not say which, nor whether keys under the
causal mask count. Which choice comes closest to the printed figures is measured, on the text that
is there for choosing, and judged on the others (`choice_table`, `reproducing`).
"""

import math
from dataclasses import dataclass
from itertools import product
from typing import Any

import torch
from torch import Tensor

from headgauge import normalizers
from headgauge.errors import InputError
from headgauge.measure.settings import check_among
from headgauge.models import VECTOR_KINDS
from headgauge.normalizers import Normalizer

SCALES = ("unit", "raw")
KEYS = ("all", "visible")


@dataclass(frozen=True)
class Choice:
    """One reading of the paper."""

    vectors: str = "embedding"
    scale: str = "unit"
    keys: str = "all"

    def __post_init__(self) -> None:
        for what, known in (("vectors", VECTOR_KINDS), ("scale", SCALES), ("keys", KEYS)):
            check_among(what, (getattr(self, what),), known)

    @property
    def name(self) -> str:
        """In a word: final/unit/all."""
        return f"{self.vectors}/{self.scale}/{self.keys}"

    def scaled(self, vectors: Tensor) -> Tensor:
        """In double precision, of the length it asks for."""
        exact = vectors.cpu().double()
        return torch.nn.functional.normalize(exact, dim=-1) if self.scale == "unit" else exact


CHOICES = tuple(
    Choice(vectors, scale, keys)
    for scale, vectors, keys in product(SCALES, ("embedding", "final", "hidden", "value"), KEYS)
)

# The model's own logits under other rules: what each would have made of the same scores.
RULES: dict[str, tuple[str, dict[str, Any]]] = {
    "softmax T=0.5": ("softmax", {"temperature": 0.5}),
    "softmax T=2": ("softmax", {"temperature": 2.0}),
    "ssmax": ("ssmax", {}),
    "sparsemax": ("sparsemax", {}),
    "1.5-entmax": ("entmax", {"alpha": 1.5}),
}
# What the guidelines are about: sharper than T = .1, and a factor that follows the length; the
# registry's `RULE_NOTES` say how SSMax was set.
COLD_RULES = ("softmax T=0.1", "softmax T=0.01")
LENGTH_AWARE = "ssmax from n=256"
GUIDELINE_RULES: dict[str, tuple[str, dict[str, Any]]] = {
    COLD_RULES[0]: ("softmax", {"temperature": 0.1}),
    COLD_RULES[1]: ("softmax", {"temperature": 0.01}),
    LENGTH_AWARE: ("ssmax", {"s": 1 / math.log(256)}),
}


def rule(name: str) -> Normalizer:
    """The rule under a name of `RULES`."""
    there = RULES | GUIDELINE_RULES
    if name not in there:
        raise InputError(f"no rule named {name!r} here; there are {', '.join(RULES)}")
    known, parameters = there[name]
    return normalizers.get(known, **parameters)
