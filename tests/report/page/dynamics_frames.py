"""A simulation's and a depth scan's tables with known numbers, in the shape of the real ones."""

import math
from functools import cache

import polars as pl

from headgauge.registry.names import SCHEMES
from headgauge.runs import DepthCurveRow, DepthRow
from headgauge.runs.dynamics_schema import DYNAMICS_TABLES
from headgauge.runs.schema import frame_schema

SIX = list(SCHEMES)[:6]
SEVEN = [*SIX, "unnormalised"]
HOSTILE = "<img src=x onerror=window.hacked=4>"  # where a table holds words
TIMES = [0.5 * place for place in range(41)]
SPHERE_TIMES = [0.25 * place for place in range(41)]
PARTICLES = 24
WEIGHTS = ("identity", "random")
BETAS = [0.5, 1.0, 2.0, 4.0, 8.0]
PHASE_TIMES = [float(place) for place in range(12)]
DIMS = (8, 128)
LAYERS, WINDOWS = 12, 2
BETA, DEPTH_TOKENS = 1.625, 63


def rate(scheme: str) -> float:
    return (1 + list(SCHEMES).index(scheme)) / 4


def log_gap(scheme: str, time: float) -> float:
    return -rate(scheme) * time


def mean_cosine(scheme: str, weights: str, time: float) -> float:
    return (1 - math.exp(-rate(scheme) * time)) * (1.0 if weights == "identity" else 0.5)


def probability(scheme: str, dim: int, beta: float, time: float) -> float:
    return 1 - math.exp(-rate(scheme) * time / beta * 8 / dim)


def clusters(scheme: str, time: float) -> float:
    return 1 + 31 * math.exp(-rate(scheme) * time)


@cache
def dynamics_frames() -> dict[str, pl.DataFrame]:
    """All of DYNAMICS_TABLES, with exactly their schemas."""
    rows = {
        "curves": _curves(),
        "swarms": _swarms(),
        "rates": _rates(),
        "collapse": _collapse(),
        "phase": _phase(),
        "sphere": _sphere(),
    }
    return {
        name: pl.DataFrame(rows[name], schema=frame_schema(row))
        for name, row in DYNAMICS_TABLES.items()
    }


def _curves():
    return [
        {"scheme": scheme, "tokens": 256, "beta": 5.0, "time": time}
        | {"gamma": -math.expm1(gap), "log_gap": gap, "velocity": rate(scheme) * math.exp(gap)}
        | {"radius": 1 + rate(scheme) * time, "attention_norm": 0.5 + 0.5 * -math.expm1(gap)}
        for scheme in SEVEN
        for time in TIMES
        for gap in [log_gap(scheme, time)]
    ]


def _swarms():
    fixed = {"rule": "softmax", "tokens": 32, "dim": 16, "heads": 1, "causal": False, "beta": 4.0}
    return [
        {"weights": weights, "scheme": scheme, "time": time, "seeds": 10, **fixed}
        | {"mean_cosine": mean, "low": mean - 0.05, "high": mean + 0.04}
        | {"pair_low": mean - 0.2, "pair_high": mean + 0.2, "least_cosine": mean - 0.5}
        | {"together": mean**2, "clusters": clusters(scheme, time), "energy": 0.1}
        | {"variance": 1 - mean, "radius": 1.0, "attention_norm": 0.5, "speed": 0.3}
        for weights in WEIGHTS
        for scheme in SIX
        for time in TIMES[:21]
        for mean in [mean_cosine(scheme, weights, time)]
    ]


def _rates():
    rows = [
        {"scheme": scheme, "quantity": quantity, "law": law, "against": "t"}
        | {"theory": -2.0 * rate(scheme), "reduced": -1.99 * rate(scheme)}
        | {"particles": None if quantity == "final rate" else -1.9 * rate(scheme)}
        for scheme in SIX
        for quantity, law in (
            ("initial velocity", "2/(e^β + n − 1)"),
            ("final rate", "1 − γ ~ e^{−2t}"),
        )
    ]
    return [*rows, rows[0] | {"scheme": HOSTILE, "law": HOSTILE}]


def _collapse():
    return [
        {"weights": weights, "scheme": scheme, "seeds": 10}
        | {"collapsed": 0.25 if never else 1.0, "time": None if never else 8 / rate(scheme)}
        | {"low": 7 / rate(scheme), "high": None if never else 9.5 / rate(scheme)}
        for weights in WEIGHTS
        for scheme in SIX
        for never in [weights == "random" and scheme == "pre_ln"]
    ]


def _phase():
    return [
        {"scheme": scheme, "tokens": 32, "dim": dim, "beta": beta, "time": time, "seeds": 10}
        | {"probability": probability(scheme, dim, beta, time)}
        for scheme in SIX
        for dim in DIMS
        for beta in BETAS
        for time in PHASE_TIMES
        if (scheme, dim) != ("ngpt", 128)
    ]


def start(particle: int) -> tuple[float, float, float]:
    """Places spread evenly over the sphere."""
    height = 1 - 2 * (particle + 0.5) / PARTICLES
    angle = math.pi * (3 - math.sqrt(5)) * particle
    wide = math.sqrt(1 - height**2)
    return wide * math.cos(angle), wide * math.sin(angle), height


def sphere_place(scheme: str, particle: int, time: float) -> tuple[float, float, float]:
    """On the way from its start to one place for all."""
    left = math.exp(-rate(scheme) * time / 2)
    mixed = [left * a + (1 - left) * b for a, b in zip(start(particle), (0.6, 0, 0.8), strict=True)]
    size = math.hypot(*mixed)
    x, y, z = (each / size for each in mixed)
    return x, y, z


def _sphere():
    return [
        {"scheme": scheme, "beta": 1.0, "time": time, "particle": particle, "radius": 1 + time}
        | dict(zip("xyz", sphere_place(scheme, particle, time), strict=True))
        for scheme in SIX
        for time in SPHERE_TIMES
        for particle in range(PARTICLES)
    ]


def depth_cosine(layer: int, window: int) -> float:
    return 0.1 + 0.05 * layer + 0.01 * window


def depth_frame() -> pl.DataFrame:
    """Two windows of 64 tokens, and one of 32 that is not shown."""
    rows = []
    for window, length in [*((window, 64) for window in range(WINDOWS)), (0, 32)]:
        for layer in range(LAYERS + 1):
            cosine = depth_cosine(layer, window) if length == 64 else 0.99
            last = layer == LAYERS
            rows.append(
                {"window": window, "length": length, "layer": layer, "tokens": length - 1}
                | {"module": "" if last else f"layers.{layer} {HOSTILE}"}
                | {"scheme": None if last else "pre_ln" if layer else "other"}
                | {"mean_cosine": cosine, "pair_low": cosine - 0.1, "pair_high": cosine + 0.1}
                | {"least_cosine": cosine - 0.3, "together": 0.01, "clusters": 60 - layer}
                | {"energy": 0.2, "variance": 1 - cosine, "radius": 2.0 + layer}
                | {"radius_low": 1.5 + layer, "radius_high": 3.0 + 2 * layer}
                | {"attention_norm": None if last else 1.0 + layer / 10}
                | {"other_norm": None if last else 2.0 + layer / 5}
                | {"speed": None if last else 0.6 - layer / 40}
                | {"speed_low": None if last else 0.4 - layer / 40}
                | {"speed_high": None if last else 0.8 - layer / 40}
                | {"attention_speed": None if last else 0.3 - layer / 50}
                | {"effective_n": None if last else 12.0}
            )
    return pl.DataFrame(rows, schema=frame_schema(DepthRow))


def predicted_cosine(scheme: str, layer: int) -> float:
    return 1 - 0.9 * math.exp(-rate(scheme) * layer / 3)


def depth_curves_frame() -> pl.DataFrame:
    rows = [
        {"scheme": scheme, "recognised": scheme == "pre_ln", "layer": layer}
        | {"gamma": predicted_cosine(scheme, layer), "radius": 2.0 + rate(scheme) * layer}
        | {"beta": BETA, "tokens": DEPTH_TOKENS}
        for scheme in SIX
        for layer in range(LAYERS + 1)
    ]
    return pl.DataFrame(rows, schema=frame_schema(DepthCurveRow))
