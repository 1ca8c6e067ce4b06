from typing import Any

import pytest

from headgauge.paper.evidence import Evidence
from headgauge.paper.verdicts import assumptions
from headgauge.runs.paper_schema import (
    FEW_ROWS,
    NOT_REPRODUCED,
    REPRODUCED,
    UNDECIDED,
    UNTESTABLE,
)

LENGTHS = (32, 128, 1024)


def _vanishing(frames, slope: float, half: float = 0.0, rule: str = "model", **more) -> list[dict]:
    return [
        {"rule": rule, "length": length, "measure": "largest_weight", "heads": 8, "windows": 2,
         "rows": 32.0, "mean": mean, "low": mean * (1 - half), "high": mean * (1 + half)} | more
        for length in LENGTHS
        for mean in [3.0 * length**slope]
    ]  # fmt: skip


def _evidence(frames, *rows: dict) -> Evidence:
    return Evidence({"vanishing": frames.table("vanishing", *rows)}, frames.choice)


@pytest.mark.parametrize(
    ("slope", "half", "verdict"),
    [(-1.0, 0.0, REPRODUCED), (-1.24, 0.0, REPRODUCED), (-0.76, 0.0, REPRODUCED),
     (-0.74, 0.0, NOT_REPRODUCED), (-1.26, 0.0, NOT_REPRODUCED), (0.0, 0.1, NOT_REPRODUCED),
     (-0.76, 0.1, UNDECIDED), (-0.74, 0.1, UNDECIDED)],
)  # fmt: skip
def test_largest_vanishes(frames, slope, half, verdict):
    others = _vanishing(frames, -0.25, rule="sparsemax")
    top = _vanishing(frames, -0.5, measure="top_mass")
    row = assumptions.largest_vanishes(
        _evidence(frames, *_vanishing(frames, slope, half), *others, *top)
    )
    assert row.verdict == verdict
    assert row.printed.startswith(f"L^{slope:.2f}")
    assert "; the 16 heaviest L^-0.50" in row.printed
    assert row.comment.endswith("Other rules on the same logits: sparsemax L^-0.25.")


def test_few_rows_windows_or_lengths(frames):
    few: dict[str, Any]
    for few in ({"rows": 31.0}, {"windows": 1}):
        row = assumptions.largest_vanishes(_evidence(frames, *_vanishing(frames, -1.0, **few)))
        assert row.verdict == FEW_ROWS
    one = _evidence(frames, _vanishing(frames, -1.0)[0])
    assert assumptions.largest_vanishes(one).verdict == UNTESTABLE
    assert assumptions.corollary_1_near(one).verdict == UNTESTABLE


@pytest.mark.parametrize(
    ("weight", "bound", "half", "verdict"),
    [(0.05, 0.4, 0.0, REPRODUCED), (0.03, 0.4, 0.0, NOT_REPRODUCED),
     (0.9, 1.1, 0.0, NOT_REPRODUCED),  # above 1 a bound says nothing, however near
     (0.05, 1e30, 0.0, NOT_REPRODUCED), (0.05, 0.4, 0.2, UNDECIDED), (0.5, 0.95, 0.2, UNDECIDED)],
)  # fmt: skip
def test_corollary_1_near(frames, weight, bound, half, verdict):
    def at(measure: str, mean: float) -> dict:
        band = {"mean": mean, "low": mean * (1 - half), "high": mean * (1 + half)}
        return _vanishing(frames, 0.0, measure=measure, **band)[-1]

    rows = [at("largest_weight", weight), at("bound_printed", bound), at("bound_range", 0.6)]
    row = assumptions.corollary_1_near(_evidence(frames, *rows))
    assert row.verdict == verdict
    assert ("it says nothing" in row.printed) == (bound > 1)
    assert row.corrected == f"from the row's own range {0.6 / weight:.2g} times"
    few = assumptions.corollary_1_near(_evidence(frames, *(each | {"rows": 31.0} for each in rows)))
    assert few.verdict == FEW_ROWS


def _vectors(frames, **more) -> Evidence:
    row = {
        "vectors": "final", "dim": 64, "mean_cosine": 0.0, "effective_dim": 60.0, "delta": 0.1,
        "nearest": 0.5, "same": 0.0, "sets": 1, "tokens": 1024,
    }  # fmt: skip
    table = frames.table("vectors", row | more, row | {"vectors": "value", "delta": 0.0})
    return Evidence({"vectors": table}, frames.choice)


@pytest.mark.parametrize(
    ("change", "verdict"),
    [({}, REPRODUCED), ({"mean_cosine": 0.06}, NOT_REPRODUCED),
     ({"mean_cosine": -0.06}, NOT_REPRODUCED), ({"mean_cosine": 0.04}, REPRODUCED),
     # 1024 uniform vectors in 64 dimensions have 64·1024/1087 = 60.3, and half of it is 30.1.
     ({"effective_dim": 30.2}, REPRODUCED), ({"effective_dim": 30.1}, NOT_REPRODUCED)],
)  # fmt: skip
def test_vectors_isotropic(frames, change, verdict):
    row = assumptions.vectors_isotropic(_vectors(frames, **change))
    assert row.verdict == verdict
    assert "(uniform: 0 and 60); value: " in row.printed


@pytest.mark.parametrize(("delta", "verdict"), [(2e-6, REPRODUCED), (1e-6, NOT_REPRODUCED)])
def test_tokens_apart(frames, delta, verdict):
    row = assumptions.tokens_apart(_vectors(frames, delta=delta))
    assert row.verdict == verdict
    assert row.printed.endswith("; value: δ = 0, 0% coincide")
