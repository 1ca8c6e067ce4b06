"""What the paper leaves open, each with a name: vectors, their length, keys, and the rule.

The paper says "token embeddings", normalised, and does not say which, nor whether keys under the
causal mask count. Which choice comes closest to the printed figures is measured, on the text that
is there for choosing, and judged on the others (`choice_table`, `reproducing`).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import torch
from torch import Tensor

from headgauge.measure.settings import check_among
from headgauge.models import VECTOR_KINDS
from headgauge.normalizers import AskedRule, Normalizer, asked_rules

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

# The model's own logits under other rules: what each would have made of the same scores. Usual ones
# have a label; any other rule is called as it is written.
RULES = {
    "softmax T=0.5": "softmax:temperature=0.5",
    "softmax T=2": "softmax:temperature=2",
    "ssmax": "ssmax",
    "sparsemax": "sparsemax",
    "1.5-entmax": "entmax:alpha=1.5",
}
# What the guidelines are about: sharper than T = .1, and a factor that follows the length; the
# registry's `RULE_NOTES` say how SSMax was set.
COLD_RULES = ("softmax T=0.1", "softmax T=0.01")
LENGTH_AWARE = "ssmax from n=256"
GUIDELINE_RULES = {
    COLD_RULES[0]: "softmax:temperature=0.1",
    COLD_RULES[1]: "softmax:temperature=0.01",
    LENGTH_AWARE: f"ssmax:s={1 / math.log(256)!r}",
}
_LABELLED = RULES | GUIDELINE_RULES


def rule_labels(given: str | Sequence[str | Normalizer]) -> tuple[str, ...]:
    """What rules as users write them are called in tables and figures; a label stays what it is."""
    each = given.split(",") if isinstance(given, str) else given
    texts = [_LABELLED.get(one.strip(), one) if isinstance(one, str) else one for one in each]
    asked = asked_rules(texts)
    for one in asked:
        one.rule()  # nothing can be fitted to the paper's figures
    known = {label: asked_rule(label) for label in _LABELLED}
    return tuple(
        next((label for label, other in known.items() if other.same(one)), one.text)
        for one in asked
    )


def asked_rule(label: str) -> AskedRule:
    """The rule under a label, its parameters told apart."""
    (found,) = asked_rules(_LABELLED.get(label, label))
    return found


def rule(label: str) -> Normalizer:
    """The rule under a label."""
    return asked_rule(label).rule()
