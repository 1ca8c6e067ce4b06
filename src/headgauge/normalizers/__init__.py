"""Normalisation rules: what turns a row of attention logits into weights.

    rule = headgauge.normalizers.get("entmax", alpha=1.5)
    weights = rule(logits, mask)

One file per family of rules. To add one, write it, put the class in `named.RULES` and an instance
in the list of the tests. `asked_rules` reads rules as users write them.
"""

from headgauge.normalizers.asked import AskedRule, Scope, asked_rules
from headgauge.normalizers.base import Facts, Fit, Normalizer
from headgauge.normalizers.entmax import ASEntmaxScale
from headgauge.normalizers.jacobian import Jacobian
from headgauge.normalizers.named import RULES, describe, get, names

__all__ = [
    "RULES",
    "ASEntmaxScale",
    "AskedRule",
    "Facts",
    "Fit",
    "Jacobian",
    "Normalizer",
    "Scope",
    "asked_rules",
    "describe",
    "get",
    "names",
]
