"""Small runs with known numbers: the value of a cell says where it belongs."""

from typing import Any

import polars as pl
import pytest

from headgauge.runs.schema import CurveRow, HeadRow, frame_schema

HEAD_NUMBERS = [name for name, kind in frame_schema(HeadRow).items() if kind == pl.Float64]


def panels(figure) -> list[Any]:
    """Charts and maps alike: a test knows which it has asked for."""
    return list(figure.panels)


def run_frames(
    layers=3, heads=4, windows=2, ns=(1, 4, 16), calls=1, kinds=("model.layers.{}.attn",)
):
    """Heads and curves: in window w a head's measures are (layer + head/100 + w)/10."""
    head_rows, curve_rows = [], []
    for window in range(windows):
        for layer in range(layers):
            for call in range(calls):
                for head in range(heads):
                    value = (layer + head / 100 + call / 1000 + window) / 10
                    place = {
                        "window": window,
                        "length": 64,
                        "layer": layer,
                        "occurrence": call,
                        "module": kinds[layer % len(kinds)].format(layer // len(kinds)),
                        "head": head,
                    }
                    known = {"kv_head": head, "cross": False, "seen": "qkv", "rows": 64}
                    head_rows.append(dict.fromkeys(HEAD_NUMBERS, value) | place | known)
                    for n in ns:
                        choice = {
                            "top_n": n,
                            "vectors": "value",
                            "scale": "unit",
                            "keys": "visible",
                        }
                        measured = {"distance": n + value, "radius": value, "separability": value}
                        curve_rows.append(place | choice | {"rows": 60} | measured)
    return (
        pl.DataFrame(head_rows, schema=frame_schema(HeadRow)),
        pl.DataFrame(curve_rows, schema=frame_schema(CurveRow)),
    )


def verdict_frame(heads, told):
    """Verdicts as diagnostics gives them: `told` by (layer, head), every other head healthy."""
    rows = []
    for layer, call, module, head in sorted(
        heads.select("layer", "occurrence", "module", "head").unique().rows()
    ):
        for verdict in told.get((layer, head), ["healthy"]):
            rows.append(
                {
                    "layer": layer,
                    "occurrence": call,
                    "module": module,
                    "head": head,
                    "length": 64,
                    "verdict": verdict,
                    "measure": None if verdict == "healthy" else "sink_weight",
                    "what": None if verdict == "healthy" else "sink_weight",
                    "threshold": None if verdict == "healthy" else 0.3,
                    "direction": "above",
                    "source": "a source",
                    "remedy": f"do something about {verdict}.",
                }
            )
    return pl.DataFrame(
        rows, schema_overrides={"measure": pl.String, "what": pl.String, "threshold": pl.Float64}
    )


@pytest.fixture
def make_run():
    return run_frames


@pytest.fixture
def make_verdicts():
    return verdict_frame


@pytest.fixture
def frames():
    heads, curves = run_frames()
    return (
        heads,
        curves,
        verdict_frame(heads, {(0, 1): ["idle sink"], (2, 3): ["saturated", "idle sink"]}),
    )


@pytest.fixture
def head_table():
    """Ten heads, the worst first, as diagnostics.summary gives them."""
    told = ["saturated, idle sink, inactive", "idle sink", "unstable"] + ["healthy"] * 7
    names = "entropy entropy_share rest_entropy_share effective_n sink_weight separability"
    names += " jacobian_norm max_logit output_ratio severity flips"
    numbers = {name: [0.123456] * 10 for name in names.split()}
    return pl.DataFrame(
        {
            "layer": range(10),
            "occurrence": [0] * 10,
            "module": [f"model.layers.{layer}.self_attn" for layer in range(10)],
            "head": [layer % 3 for layer in range(10)],
            "length": [64] * 10,
            "verdicts": told,
            "role": pl.Series([None] * 10, dtype=pl.String),
            "effect": pl.Series([None] * 10, dtype=pl.Float64),
            "effect_error": pl.Series([None] * 10, dtype=pl.Float64),
            **numbers,
        }
    )
