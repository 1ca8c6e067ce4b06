"""A window under each of several rules: its loss, how far its predictions are from the original
model's, and every head's measures inside the swapped model."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor

from headgauge import models
from headgauge.measure.measuring import Progress
from headgauge.measure.passes import MeasuredPass, measured_pass
from headgauge.measure.placed import PlacedRule, put
from headgauge.measure.requests import OWN, Task, of_swapped
from headgauge.measure.settings import UnitSettings
from headgauge.runs import UnitKey

_AT_ONCE = 1 << 21  # logits in float64 of each of the two: 16 MB


@dataclass
class SwappedPasses:
    """Modules of the swapped models that could not be measured, each with the rule in it."""

    unseen: list[str] = field(default_factory=list)
    distrusted: dict[str, float] = field(default_factory=dict)


def under_rules(
    loaded: models.LoadedModel,
    key: UnitKey,
    ids: Int[Tensor, "1 length"],
    settings: UnitSettings,
    task: Task,
    placed: Sequence[PlacedRule],
    original: MeasuredPass,
    progress: Progress | None,
) -> SwappedPasses:
    """A pass for each rule; what comes of it goes to what the original's pass gathered."""
    parts, found = original.measurer.gathered.parts, SwappedPasses()
    inputs = models.model_inputs(loaded, ids)
    rows = parts["window_rules"]
    rows.append(_row(loaded, vars(key), 0, OWN, ids, original.output, original.output))
    for place, rule in enumerate(placed, start=1):
        with put(loaded, rule, settings):
            made = measured_pass(loaded, key, inputs, settings, of_swapped(task, rule))
        rows.append(_row(loaded, vars(key), place, rule.text, ids, original.output, made.output))
        for name in ("rule_heads", "rule_curves"):
            parts[name] += made.measurer.gathered.parts[name]
        found.unseen += [f"{name} under {rule.text}" for name in made.unseen]
        found.distrusted |= {f"{name} under {rule.text}": e for name, e in made.distrusted.items()}
        del made
        if progress is not None:
            progress((1 + place) / (1 + len(placed)))
    for row in rows:
        both = row["loss"], rows[0]["loss"]
        row["difference"] = None if None in both else both[0] - both[1]
    return found


def _row(
    loaded: models.LoadedModel,
    where: dict[str, Any],
    place: int,
    rule: str,
    ids: Int[Tensor, "1 length"],
    own: models.Predicted,
    other: models.Predicted,
) -> dict[str, Any]:
    loss = models.next_token_loss(loaded, other, ids)
    both = [models.predictions(loaded, each, ids) for each in (own, other)]
    assert loss is not None  # a model without one is refused before it runs
    assert both[0] is not None
    assert both[1] is not None
    kl, agreement = divergence(both[0][0], both[1][0])
    row = {"place": place, "rule": rule, "tokens": both[0][1].numel()}
    return where | row | {"loss": _finite(loss[0]), "kl": kl, "agreement": agreement}


def divergence(own: models.Logits, other: models.Logits) -> tuple[float | None, float | None]:
    """KL(p ‖ q) = Σ p·(log p − log q) and whether p and q agree on the likeliest word, means over
    tokens, with p and q the softmax of these logits; None where they are not finite."""
    kls, same = [], 0
    for a, b in zip(own.pieces(_AT_ONCE), other.pieces(_AT_ONCE), strict=True):
        same += int((a.argmax(-1) == b.argmax(-1)).sum())
        log_p, log_q = (torch.log_softmax(each.cpu().double(), -1) for each in (a, b))
        kls += (log_p.exp() * (log_p - log_q)).sum(-1).flatten().tolist()
    kl = _finite(math.fsum(kls) / len(kls))
    return (None, None) if kl is None else (kl, same / len(kls))


def _finite(value: Any) -> float | None:
    return float(value) if math.isfinite(value) else None
