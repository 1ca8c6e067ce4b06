"""Real scans of a small model: three checkpoints on one text, the last on another text too."""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

import headgauge
from headgauge.scanning import ScanResult
from model_families import LENGTH, case
from shape_checks import shapes_unchecked

WINDOWS = 3
HEADS = 8
SIZES: dict[str, Any] = {"top_n": [1, 4, 16], "threads": 1}


def tokens(seed: int = 5, windows: int = WINDOWS) -> Tensor:
    return torch.randint(3, 50, (windows, LENGTH), generator=torch.Generator().manual_seed(seed))


def make_runs(folder: Path) -> dict[str, ScanResult]:
    """`step0` to `step2`, each with its weights farther from the first, and `other`."""
    model: Any = case("llama", "sdpa").model
    noise = torch.Generator().manual_seed(0)
    found = {}
    with shapes_unchecked():
        for step in range(3):
            out = folder / f"step{step}"
            found[f"step{step}"] = headgauge.scan(model, tokens(), out=out, **SIZES)
            with torch.no_grad():
                for weight in model.parameters():
                    if weight.ndim > 1:
                        weight += 0.3 * weight.std() * torch.randn(weight.shape, generator=noise)
        out = folder / "other"
        found["other"] = headgauge.scan(model, tokens(6, windows=4), out=out, **SIZES)
    return found
