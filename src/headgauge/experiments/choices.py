"""What the paper leaves open, each with a name: vectors, their length, keys, and the rule.

The paper says "token embeddings", normalised, and does not say which, nor whether keys under the
causal mask count. `CLOSEST` is the choice whose figures come closest to the printed ones on the
default model (docs/findings.md): the last hidden states, of unit length, masked keys counted.
"""

from dataclasses import dataclass
from itertools import product
from typing import Any

from headgauge import normalizers
from headgauge.errors import InputError
from headgauge.models import VECTOR_KINDS
from headgauge.normalizers import Normalizer

SCALES = ("unit", "raw")
KEYS = ("all", "visible")


@dataclass(frozen=True)
class Choice:
    """One reading of the paper."""

    vectors: str = "final"
    scale: str = "unit"
    keys: str = "all"

    def __post_init__(self) -> None:
        for what, given, known in (
            ("vectors", self.vectors, VECTOR_KINDS),
            ("scale", self.scale, SCALES),
            ("keys", self.keys, KEYS),
        ):
            if given not in known:
                raise InputError(f"no {what} named {given!r}; there are {', '.join(known)}")


CLOSEST = Choice()
CHOICES = tuple(
    Choice(vectors, scale, keys)
    for scale, vectors, keys in product(SCALES, ("final", "embedding", "hidden", "value"), KEYS)
)

# The model's own logits under other rules: what each would have made of the same scores.
RULES: dict[str, tuple[str, dict[str, Any]]] = {
    "softmax T=0.5": ("softmax", {"temperature": 0.5}),
    "softmax T=2": ("softmax", {"temperature": 2.0}),
    "ssmax": ("ssmax", {}),
    "sparsemax": ("sparsemax", {}),
    "1.5-entmax": ("entmax", {"alpha": 1.5}),
}


def rule(name: str) -> Normalizer:
    """The rule under a name of `RULES`."""
    if name not in RULES:
        raise InputError(f"no rule named {name!r} here; there are {', '.join(RULES)}")
    known, parameters = RULES[name]
    return normalizers.get(known, **parameters)
