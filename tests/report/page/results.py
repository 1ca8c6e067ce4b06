"""A small run for the page: numbers that say where they belong, tokens that try to break out."""

from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace
from typing import Any

import polars as pl

from headgauge.paper.result import Judging, Reproduction
from headgauge.registry.measures import ROLE_MEASURES
from headgauge.runs.schema import (
    CurveRow,
    HeadRow,
    MatrixRow,
    SampleRow,
    TokenRow,
    frame_schema,
)
from headgauge.scanning import ScanResult
from headgauge.simulation import Simulation
from report.page.dynamics_frames import depth_curves_frame, dynamics_frames
from report.page.paper_frames import TEXTS, paper_frames

LAYERS, HEADS, WINDOWS, LENGTH = 3, 4, 2, 64
NS = (1, 4, 16, 32)
CHOICES = (("value", "unit", "visible"), ("hidden", "unit", "all"), ("value", "unit", "off_sink"))
SCRIPT = "<script>window.hacked=1</script>"
TOKENS = (
    SCRIPT,
    "</td>",
    " the",
    "\n",
    "</script><img src=x onerror=window.hacked=2>",
    "\u2028&amp;",
)
TIMING = (
    {
        "algorithm": "Algorithm 2",
        "what": "distance over N",
        "paper_seconds": 5400.0,
        "ours_seconds": 63.25,
        "literal_seconds": 135987.5,
        "literal_share": 0.0006,
        "ratio": 2150.0,
        "note": None,
    },
)
MANIFEST = {
    "status": "finished",
    "model": {"name": f"small {SCRIPT}", "facts": {"layers": LAYERS, "sizes": [1, 2]}},
    "units": {"w0": {"loss": float("nan"), "text": SCRIPT}},
    "notes": [],
    "settings": {"quick": False},
}


@dataclass(frozen=True, eq=False, repr=False)
class FakeScan(ScanResult):
    """A scan whose words are known, so that a page can be asked for them."""

    def warnings(self) -> list[str]:
        return ["random weights: not a result"]

    def notes(self) -> list[str]:
        return [*self.warnings(), "a note"]

    def stands(self) -> list[str]:
        return [f"quick run: 32 of 1024 query rows per head {SCRIPT}", "text prose"]

    def caption(self) -> str:
        return f"small, prose, L = {LENGTH}, {WINDOWS} windows"

    def depth_curves(self) -> pl.DataFrame:
        return depth_curves_frame()

    def outlook(self, target: int) -> pl.DataFrame:
        return outlook_frame()

    def outlook_grounds(self, target: int) -> Any:
        return SimpleNamespace(notes=lambda: ["4 lengths leave 2 degrees <b>"])


def fake_scan(target: int | None = None, /, **tables: pl.DataFrame) -> FakeScan:
    """Heads, curves, samples and what else is given; with a `target` also an outlook."""
    manifest: Any = MANIFEST | ({} if target is None else {"outlook": {"target": target}})
    usual = {"heads": head_rows(), "curves": curve_rows(), "samples": sample_rows()}
    return FakeScan(manifest, usual | tables)


class FakeReproduction(Reproduction):
    """The words of its first text are those of all."""

    def warnings(self) -> list[str]:
        return self.scan.warnings()

    def notes(self) -> list[str]:
        return self.scan.notes()


def fake_reproduction(texts: tuple[str, ...] = TEXTS, chosen: bool = True) -> Reproduction:
    usual = {"vectors": "value", "scale": "unit", "keys": "visible"}
    stands = tuple(fake_scan().stands())
    judging = Judging(usual, texts[0] if chosen else None, ("random", "scaled"), stands)
    scans: Any = {text: fake_scan() for text in texts}
    return FakeReproduction(scans, paper_frames(texts), judging, TIMING)


def fake_simulation(*kept: str) -> Simulation:
    """No model, no heads; with names of tables the others are empty."""
    frames = {
        name: frame if not kept or name in kept else frame.clear()
        for name, frame in dynamics_frames().items()
    }
    manifest: Any = {"status": "finished", "notes": ["a note"], "settings": SIMULATED}
    return Simulation(manifest, frames)


SIMULATED = {"tokens": 32, "dim": 8, "beta": 5.0, "horizon": 20.0, "seeds": 10} | {
    "weights": ["identity", "random"],
    "causal": False,
    "rule": "softmax",
}


def sink_weight(layer: int, head: int, window: int) -> float:
    """Above the threshold in the last layer only."""
    return 0.6 + head / 100 if layer == LAYERS - 1 else 0.01 * (1 + head + window)


def effect(layer: int, head: int, window: int) -> float:
    """Of either sign; layer 0 has most of it."""
    return (1.0 if layer == 0 else 0.01 * (head - 1)) + window / 1000


def distance(layer: int, head: int, n: int, choice: int, window: int) -> float:
    return 100 / n + layer + head / 10 + 50 * choice + window / 100


def _places(windows: int):
    for window in range(windows):
        for layer in range(LAYERS):
            for head in range(HEADS):
                yield {
                    "window": window,
                    "length": LENGTH,
                    "layer": layer,
                    "occurrence": 0,
                    "module": f"model.layers.{layer}.attn",
                    "head": head,
                }


@cache
def head_rows(windows: int = WINDOWS, effects: bool = False) -> pl.DataFrame:
    rows = [
        place
        | {"kv_head": place["head"] // 2, "cross": False, "seen": "qkv", "rows": LENGTH}
        | {"entropy": 1.5 + place["layer"], "entropy_share": 0.3, "effective_n": 5.0}
        | {"sink_weight": sink_weight(place["layer"], place["head"], place["window"])}
        | {"max_logit": 3.0 + place["window"], "jacobian_norm": 0.25, "sharpness": 1.5}
        | {"sharp_rows": 0.5, "output_norm": 2.0, "output_ratio": 1.0 + place["head"] / 10}
        # Head 3 is induction's, the last layer rests, head 2 looks far: the others are mixed.
        | dict.fromkeys(ROLE_MEASURES, (1 + place["head"]) / 10)
        | {"first_value_ratio": 0.0, "sink_output_share": 0.05}
        | {"effect": effect(place["layer"], place["head"], place["window"]) if effects else None}
        for place in _places(windows)
    ]
    return pl.DataFrame(rows, schema=frame_schema(HeadRow))


@cache
def curve_rows() -> pl.DataFrame:
    rows = []
    for place in _places(WINDOWS):
        for number, (vectors, scale, keys) in enumerate(CHOICES):
            for n in NS:
                value = distance(place["layer"], place["head"], n, number, place["window"])
                rows.append(
                    place
                    | {"top_n": n, "vectors": vectors, "scale": scale, "keys": keys, "rows": 32}
                    | {"rule": "model", "distance": value, "expected_printed": 8 * value}
                    | {"expected_appendix": 0.6 * value, "radius": 0.1}
                    | {"separability": 0.3 if place["layer"] == 0 else 0.8}
                )
    held = frame_schema(CurveRow)
    return pl.DataFrame(
        [{name: row[name] for name in row if name in held} for row in rows], schema=held
    )


@cache
def sample_rows() -> pl.DataFrame:
    rows = [
        place
        | {"row": 40, "query_id": 2, "query_text": TOKENS[place["head"]], "visible": 41}
        | {"rank": rank, "key": rank * 3, "key_id": rank}
        | {"key_text": TOKENS[rank - 1] if rank <= len(TOKENS) else None}
        | {"weight": 0.5 / rank + place["head"] / 1000}
        for place in _places(1)
        for rank in range(1, 8)
    ]
    return pl.DataFrame(rows, schema=frame_schema(SampleRow))


def matrix_frames() -> dict[str, pl.DataFrame]:
    """Of layer 1, head 2: a query looks at itself, at the one before (in the second window less)
    and at the first."""
    places = [each for each in _places(2) if (each["layer"], each["head"]) == (1, 2)]
    rows = [
        place | {"row": row, "key": key, "weight": weight}
        for place, most in zip(places, (0.5, 0.3), strict=True)
        for row in range(1, LENGTH)
        for key, weight in {0: 0.25 - row / 1000, row: 0.0014, row - 1: most}.items()
    ]
    tokens = [
        place | {"side": side, "place": at, "id": at, "text": (*TOKENS, None)[at % 7]}
        for place in places
        for side in ("key", "query")
        for at in range(LENGTH)
    ]
    return {
        "matrices": pl.DataFrame(rows, schema=frame_schema(MatrixRow)),
        "tokens": pl.DataFrame(tokens, schema=frame_schema(TokenRow)),
    }


def outlook_frame() -> pl.DataFrame:
    """One verdict with a span, one without a trend."""
    return pl.DataFrame(
        {
            "verdict": ["idle sink", "inactive"],
            "heads": [270, 270],
            "now": [138, 11],
            "target": [108, 16],
            "certainly": [90, 0],
            "possibly": [150, 0],
            "unknown": [3, 270],
        }
    )
