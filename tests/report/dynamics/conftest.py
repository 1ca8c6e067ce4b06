"""A simulation with plausible numbers, as large or as poor as a test wants it."""

import math

import numpy as np
import polars as pl
import pytest

from headgauge.runs import DepthCurveRow, DepthRow
from headgauge.runs.dynamics_schema import DYNAMICS_TABLES
from headgauge.runs.schema import frame_schema

SCHEMES = ("post_ln", "pre_ln", "mix_ln", "peri_ln", "ngpt", "ln_scaling")
ALL = (*SCHEMES, "unnormalised")
KINDS = {"identity": (64, 16, 3.0), "random": (64, 512, math.sqrt(512)), "layers": (64, 128, 4.0)}
INITIAL = {"post_ln": 0.0098, "pre_ln": 0.0098, "mix_ln": 0.0098, "peri_ln": 0.0134}
LAWS = {
    "post_ln": ("1 − γ ~ e^{−2t}", "t", -2.0),
    "pre_ln": ("1 − γ ~ C/t^2", "log t", -2.0),
    "mix_ln": ("1 − γ ~ C/t^2", "log t", -2.0),
    "peri_ln": ("1 − γ ~ C/t^2", "log t", -2.0),
    "ngpt": ("1 − γ ~ e^{−2∫α}", "∫α", -2.0),
    "ln_scaling": ("1 − γ ~ e^{−4√(t+1)}", "√(t+1)", -4.0),
}


def reduced(scheme, n=256, beta=5.0, horizon=30.0, steps=3000):
    """γ, log(1 − γ), r, ‖A‖ and γ' of the equiangular reduction, by Euler's rule."""
    log_gap, r, rows = 0.0, 1.0, []
    step = horizon / steps
    for place in range(steps + 1):
        t = place * step
        gamma = -math.expm1(log_gap)
        e = math.exp(beta * (gamma - 1))
        z = 1 + (n - 1) * e
        along = (1 + (n - 1) * gamma * e) / z
        square = 1 + 2 * (n - 1) * gamma * e + (n - 1) * e**2 * (1 + (n - 2) * gamma)
        norm = math.sqrt(square) / z
        late = scheme == "mix_ln" and t > 5
        grows = scheme in ("pre_ln", "peri_ln") or late
        s = {"peri_ln": r * norm, "ngpt": norm, "ln_scaling": math.sqrt(t + 1)}.get(
            scheme, r if grows else 1.0
        )
        if scheme == "unnormalised":
            s = n / z * math.exp(-beta) * 8
        slope = 2 * e * (1 + (n - 1) * gamma) / z / s  # of −log(1 − γ)
        rows.append((t, gamma, log_gap, r, norm, slope * math.exp(log_gap)))
        log_gap -= step * slope
        r += step * (along / norm if scheme == "peri_ln" else along) * grows
    return rows


def simulation(schemes=ALL, kinds=KINDS, dims=(8, 128, 1024), seeds=20):
    """Every table; what is not told apart by theory is made up so that a mix-up is seen."""
    tables = {name: [] for name in DYNAMICS_TABLES}
    for place, scheme in enumerate(schemes):
        _curves(tables, scheme)
        for kind, setup in kinds.items():
            _swarm(tables, kind, setup, scheme, seeds)
        for dim in dims:
            _phase(tables, scheme, dim, place, seeds)
        if scheme in LAWS:
            _rates(tables, scheme, place)
        _particles(tables, scheme, place)
    return {
        name: pl.DataFrame(tables[name], schema=frame_schema(row), orient="row")
        for name, row in DYNAMICS_TABLES.items()
    }


def _curves(tables, scheme):
    for t, *numbers in reduced(scheme)[::20]:
        tables["curves"].append((scheme, 256, 5.0, t, *numbers))


def _swarm(tables, kind, setup, scheme, seeds):
    tokens, dim, beta = setup
    pace = {"identity": 1.0, "random": 0.4, "layers": 0.2}[kind]
    late = math.nan
    for t, gamma, _, r, norm, velocity in reduced(scheme, 64, 3.0, 10.0, 600)[::10]:
        mean, spread = gamma**2 * (0.4 + 0.6 * pace), 0.12 * math.sqrt(gamma * (1 - gamma) + 1e-9)
        together = max(0.0, 2 * gamma - 1)
        late = t if math.isnan(late) and gamma > 0.97 else late
        tables["swarms"].append(
            {"weights": kind, "scheme": scheme, "rule": "softmax", "tokens": tokens, "dim": dim}
            | {"heads": 1, "causal": False, "beta": beta, "time": t, "seeds": seeds}
            | {"mean_cosine": mean, "low": mean - spread, "high": min(mean + spread, 1.0)}
            | {"pair_low": mean - 2 * spread, "pair_high": min(mean + 2 * spread, 1.0)}
            | {"least_cosine": mean - 3 * spread, "together": together}
            | {"clusters": 1 + (tokens - 1) * (1 - together), "energy": 0.1, "variance": 1 - mean}
            | {"radius": r, "attention_norm": norm * pace, "speed": velocity * pace + 1e-4}
        )
    never = math.isnan(late)
    row = {"weights": kind, "scheme": scheme, "seeds": seeds, "collapsed": 0.25 if never else 1.0}
    ends = {"time": late, "low": late * 0.8, "high": late * 1.3}
    tables["collapse"].append(row | dict.fromkeys(ends) if never else row | ends)


def _phase(tables, scheme, dim, place, seeds):
    pace = 1.6 - 0.2 * place
    for beta in np.linspace(0.0, 9.0, 19):
        for t in np.linspace(0.0, 30.0, 31):
            late = 4 + math.exp(0.35 * beta) * math.log2(dim) / 6 / pace
            share = 1 / (1 + math.exp(-(t - late) * 0.8))
            tables["phase"].append((scheme, 32, dim, float(beta), float(t), share, seeds))


def _rates(tables, scheme, place):
    start = INITIAL.get(scheme) or 0.003 * place
    law, against, slope = LAWS[scheme]
    measured = (None, None) if scheme == "ngpt" else (start * 1.01, slope * 0.99)
    first = (scheme, "initial velocity", "2/(e^β + n − 1)", "t", start, start * 1.0001)
    tables["rates"].append((*first, measured[0]))
    last = (scheme, "final rate", law, against, slope, slope * 1.002)
    tables["rates"].append((*last, measured[1]))


def _particles(tables, scheme, place, particles=40, frames=20):
    """They glide on great circles to one of three places, in each scheme at its own pace."""
    draw = np.random.default_rng(3)
    start = draw.normal(size=(particles, 3))
    start /= np.linalg.norm(start, axis=1, keepdims=True)
    goals = np.array([[0.8, 0.5, 0.33], [0.5, 0.8, 0.33], [0.8, -0.3, 0.52]])
    goal = goals[np.argmax(start @ goals.T, axis=1)]
    for frame in range(frames):
        t = frame * 0.75
        share = -math.expm1(-t / (1.5 + 0.8 * place))
        at = (1 - share) * start + share * goal
        at /= np.linalg.norm(at, axis=1, keepdims=True)
        r = 1.0 if scheme in ("post_ln", "ngpt", "ln_scaling") else 1 + t
        for index, (x, y, z) in enumerate(at.tolist()):
            tables["sphere"].append((scheme, 4.0, t, index, x, y, z, r))


def layers(windows=4, count=30, scheme="pre_ln", length=1024):
    """A model by layer, and what each scheme predicts from its start."""
    known = scheme in SCHEMES
    measured, predicted = [], []
    for window in range(windows):
        wiggle = 0.01 * (window - (windows - 1) / 2)
        for layer in range(count + 1):
            last = layer == count
            mean = 0.12 + 0.5 * layer / count + 0.05 * math.sin(layer) + wiggle
            radius = 1.5 * 1.12**layer * (1 + wiggle)
            measured.append(
                {"window": window, "length": length, "layer": layer, "scheme": scheme}
                | {"module": "" if last else f"model.layers.{layer}", "tokens": length - 1}
                | {"mean_cosine": mean, "pair_low": mean - 0.2, "pair_high": mean + 0.15}
                | {"least_cosine": mean - 0.4, "together": 0.0, "clusters": length - 1}
                | {"energy": 0.2, "variance": 1 - mean, "radius": radius}
                | {"radius_low": radius * 0.7, "radius_high": radius * 1.4}
                | {"attention_norm": None if last else 0.3 * radius}
                | {"other_norm": None if last else 0.5 * radius * (1 + math.sin(layer) / 3)}
                | {"speed": None if last else 0.4 + wiggle + 0.1 * math.cos(layer)}
                | {"speed_low": None if last else 0.25, "speed_high": None if last else 0.6}
                | {"attention_speed": None if last else 0.2 + wiggle}
                | {"effective_n": None if last else 40.0}
            )
    for name in SCHEMES:
        for layer, (_, gamma, _, r, *_) in enumerate(
            reduced(name, 64, 2.5, float(count), 20 * count)[::20]
        ):
            row = {"scheme": name, "recognised": known and name == scheme, "layer": layer}
            row |= {"gamma": 0.1 + 0.9 * gamma, "radius": 1.5 * r, "beta": 2.5, "tokens": length}
            predicted.append(row)
    return (
        pl.DataFrame(measured, schema=frame_schema(DepthRow)),
        pl.DataFrame(predicted, schema=frame_schema(DepthCurveRow)),
    )


@pytest.fixture(scope="session")
def whole():
    return simulation()


@pytest.fixture(scope="session")
def make_simulation():
    return simulation


@pytest.fixture(scope="session")
def make_layers():
    return layers
