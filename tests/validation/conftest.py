"""Scans whose heads have effects that are known: the output ratio drives them, nothing else."""

from typing import Any

import numpy as np
import polars as pl
import pytest

from headgauge.runs.schema import CurveRow, HeadRow, SampleRow, frame_schema
from headgauge.scanning import ScanResult

LAYERS, HEADS, WINDOWS, LENGTH = 25, 9, 2, 64
NOISE = ("sink_weight", "max_logit", "jacobian_norm", "previous_mass")


def scan(seed: int, layers: int = LAYERS, windows: int = WINDOWS) -> ScanResult:
    """The smaller the output, the smaller the effect; in layer 0 the other way round. Each
    layer has effects of its own size, so that heads of two layers cannot be compared."""
    same, own = np.random.default_rng(0), np.random.default_rng(seed)
    rows = []
    for layer in range(layers):
        for head, ratio in enumerate(2 * same.random(HEADS)):
            worth = (2 - ratio if layer == 0 else ratio) * 10.0 ** -(layer % 5)
            numbers: dict[str, Any] = dict.fromkeys(frame_schema(HeadRow))
            numbers |= {name: 0.5 * own.random() for name in NOISE}
            for window in range(windows):
                effect = worth * (1 + 0.2 * own.normal())
                rows.append(
                    numbers
                    | {"window": window, "length": LENGTH, "layer": layer, "occurrence": 0}
                    | {"module": f"layer.{layer}", "head": head, "kv_head": head, "cross": False}
                    | {"seen": "qkv", "rows": LENGTH, "entropy": 2.0, "entropy_share": 0.5}
                    | {"output_ratio": float(ratio), "effect": effect}
                )
    heads = pl.DataFrame(rows, schema=frame_schema(HeadRow))
    empty = {"curves": CurveRow, "samples": SampleRow}
    tables = {name: pl.DataFrame(schema=frame_schema(row)) for name, row in empty.items()}
    manifest: Any = {
        "model": {"name": "made", "quantisation": None, "facts": {"kind": "decoder"}},
        "data": {"name": f"text {seed}", "origin": "drawn"},
        "splits": {"offset": 0},
        "units": {},
        "notes": [],
    }
    return ScanResult(manifest, {"heads": heads} | tables)


@pytest.fixture(scope="session")
def scans() -> dict[str, ScanResult]:
    return {"choosing": scan(1), "judging": scan(2), "second text": scan(3)}
