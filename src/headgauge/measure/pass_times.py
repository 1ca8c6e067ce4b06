"""What a forward pass costs under each rule, beside the model's own kernels."""

import math
import time
from collections.abc import Mapping, Sequence

from torch import Tensor

from headgauge import models
from headgauge.measure.placed import PlacedRule, put
from headgauge.measure.settings import UnitSettings

ROUNDS = 3
PASS = "pass "  # before a kernel's or a rule's name among the seconds of a unit


def pass_times(
    loaded: models.LoadedModel,
    inputs: Mapping[str, Tensor],
    settings: UnitSettings,
    placed: Sequence[PlacedRule],
) -> dict[str, float]:
    """Seconds of a pass with nothing watched: plain, with each kernel that the model can have, and
    under each rule.

    They take turns, so that whatever else the machine does falls on all; the fastest of a few
    counts, which is seldom the first, in which memory is found and code compiled.
    """
    kernels = models.attention_kernels(loaded.model)
    found: dict[str, float] = {}
    for _ in range(ROUNDS):
        ways = {name: models.with_attention(loaded.model, name) for name in kernels}
        ways |= {rule.text: put(loaded, rule, settings) for rule in placed}
        for name, way in ways.items():
            with way:
                began = time.perf_counter()
                loaded.model(**inputs, **models.without_cache(loaded.model))
                spent = time.perf_counter() - began
            found[PASS + name] = min(spent, found.get(PASS + name, math.inf))
    return {name: round(spent, 6) for name, spent in found.items()}
