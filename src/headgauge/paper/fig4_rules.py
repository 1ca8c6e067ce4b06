"""Figure 4 under other rules: ‖rule((l + εv)/T) − rule(l/T)‖/ε on the model's own logits.

Drawn from fewer rows than the figure itself, so that its largest head is a noisier maximum.

A softmax at another temperature is the same figure shifted along T, so only the others are here.
No bound of the figure holds for them: sparsemax moves by at most 1/T, entmax by less, and SSMax by
up to ½ s log n/T.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from headgauge.measure.requests import Probe, Vectors
from headgauge.paper.choices import RULES, rule
from headgauge.paper.fig4_sensitivity import DrawnRows, drawn_rows, sensitivity_rows

NAME = "random under {}"  # the direction's name in the tables


@dataclass(frozen=True)
class Config:
    """A coarser grid than the figure's own, and fewer rows."""

    rules: tuple[str, ...] = tuple(name for name in RULES if not name.startswith("softmax"))
    temperatures: tuple[float, ...] = (0.01, 0.0316228, 0.1, 0.316228, 1.0, 3.16228, 10.0, 100.0)
    epsilons: tuple[float, ...] = (1e-3, 1e-1, 10.0)
    rows: int = 16


def probe(config: Config, seed: tuple[int, ...]) -> Probe:
    """The measurement of one head."""

    def measure(head: Any, vectors: Vectors) -> list[dict[str, Any]]:
        blocks = list(drawn_rows(head, config.rows, seed))
        found: list[dict[str, Any]] = []
        for name in config.rules if blocks else ():
            values = np.concatenate([_changes(rows, name, config) for rows in blocks], axis=-1)
            where = head.where | {"logits": "scaled", "direction": NAME.format(name)}
            found += sensitivity_rows(where, values, config.temperatures, config.epsilons)
        return found

    return Probe("sensitivity", "rules", (), measure)


def _changes(rows: DrawnRows, name: str, config: Config) -> np.ndarray:
    """(T, ε, rows)."""
    normalizer = rule(name)
    # ε = 0 first: the weights that the others are compared with.
    steps = torch.tensor([0.0, *config.epsilons], dtype=torch.float64, device=rows.seen.device)
    moved = rows.logits.double() + steps[:, None, None] * rows.seen
    mask = rows.visible.expand(moved.shape)
    scale = steps[1:, None]
    found = []
    for temperature in config.temperatures:
        weights = normalizer(moved / temperature, mask)
        change = torch.linalg.vector_norm(weights[1:] - weights[:1], dim=-1) / scale
        found.append(change.cpu().numpy())
    return np.stack(found)
