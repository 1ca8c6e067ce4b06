"""Logs to read, whose every number can be worked out again."""

import math
from pathlib import Path
from typing import Any

from headgauge.training import LogWriter

HEADS = (3, 2)  # of each layer
LAYERS = [
    {"module": f"model.layers.{layer}.self_attn", "heads": heads, "kv_heads": 1}
    for layer, heads in enumerate(HEADS)
]
HEADER: dict[str, Any] = {
    "model": "Small",
    "layers": LAYERS,
    "every": 10,
    "budget": 0.02,
    "alarms": {"logit growth": {"measure": "max_logit", "above": 100.0, "clear": 80.0}},
    "settings": {"seed": 0},
}
MEASURES = {"entropy_share": 0.5, "max_logit": 10.0, "separability": 0.7}


def value(measure: str, step: int, layer: int, head: int) -> float:
    """Of three digits, so that a line holds it whole."""
    return round(MEASURES[measure] * (1 + 0.1 * layer + 0.01 * head + 0.001 * (step % 7)), 3)


def heads(step: int) -> dict[str, list[list[float | None]]]:
    return {
        name: [
            [value(name, step, layer, head) for head in range(count)]
            for layer, count in enumerate(HEADS)
        ]
        for name in MEASURES
    }


def record(step: int, **more: Any) -> dict[str, Any]:
    return {"step": step, "loss": loss(step), "cost": 0.01, "heads": heads(step), **more}


def loss(step: int) -> float:
    return round(2 + 3 * math.exp(-step / 50), 4)


def alarm(step: int, head: int, state: str = "raised", name: str = "logit growth") -> dict:
    return {"alarm": name, "layer": 1, "head": head, "value": 100.0 + step, "state": state}


def write_log(folder: Path, lines: int = 12, finished: bool = True, **more: Any) -> Path:
    """Steps 10, 20, …: an alarm of L1H0 from step 40 to 80, one of L1H1 from step 90 on, L0H2
    without a finite number at the last step; `more` is said of the last."""
    writer = LogWriter(folder, HEADER)
    for place in range(1, lines + 1):
        step = 10 * place
        alarms = {40: [alarm(40, 0)], 80: [alarm(80, 0, "cleared")], 90: [alarm(90, 1)]}
        line = record(step, alarms=alarms.get(step, []))
        if place == 2:
            line["spectra"] = {"qk_largest": [[1.0, 2.0, 3.0], [4.0, 5.0]]}
            line["notes"] = ["logging every 10 steps from here"]
        if place == 5:
            line["clipped"] = [{"layer": 1, "head": 0, "factor": 0.5}]
        if place == lines:
            line["heads"]["max_logit"][0][2] = math.nan
            line["heads"]["entropy_share"][0][1] = None
            line |= more
        writer.write(line)
    writer.close(finished)
    return folder
