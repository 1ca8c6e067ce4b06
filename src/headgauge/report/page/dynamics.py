"""The tables of a simulation for the page: lines over time, spheres, phase diagrams."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from headgauge.report.page.columns import column, columns, groups
from headgauge.report.page.schemes import by_scheme

CURVE = ("tokens", "beta")
SWARM = ("weights", "rule", "tokens", "dim", "heads", "causal", "beta")
PHASE = ("tokens", "dim")
_GAMMA = ("gamma", "log_gap", "radius", "attention_norm", "velocity")
_SEEN = (
    *("seeds", "mean_cosine", "low", "high", "pair_low", "pair_high", "least_cosine"),
    *("together", "clusters", "speed"),
)
MOST_TIMES = 300  # of a line: more are not told apart on a screen
MOST_COLUMNS = 64  # of a phase diagram


def dynamics_data(tables: dict[str, pl.DataFrame]) -> dict[str, Any]:
    """Every table of a simulation as what is drawn of it; an empty one is left out."""
    held = {name: by_scheme(frame) for name, frame in tables.items() if not frame.is_empty()}
    drawn: dict[str, Any] = {}
    if "curves" in held:
        drawn["curves"] = _lines(held["curves"], CURVE, _GAMMA)
    if "swarms" in held:
        drawn["swarms"] = _lines(held["swarms"], SWARM, _SEEN)
    if "sphere" in held:
        drawn["sphere"] = _spheres(held["sphere"])
    if "phase" in held:
        drawn["phase"] = _phases(held["phase"])
    for name in ("rates", "collapse"):
        if name in held:
            drawn[name] = columns(held[name])
    return drawn


def some_times(times: Sequence[float], most: int) -> list[float]:
    """At most so many of them, evenly along the list, the first and the last among them."""
    known = sorted(set(times))
    if len(known) <= most:
        return known
    return [known[int(place)] for place in np.linspace(0, len(known) - 1, most).round()]


def _lines(
    frame: pl.DataFrame, setting: Sequence[str], wanted: Sequence[str]
) -> list[dict[str, Any]]:
    """A group for each scheme in each setting."""
    by = (*setting, "scheme")
    parts = []
    for part in frame.select(*by, "time", *wanted).partition_by(by, maintain_order=True):
        times = some_times(part["time"].to_list(), MOST_TIMES)
        parts.append(part.filter(pl.col("time").is_in(times)).sort("time"))
    return groups(pl.concat(parts), by)


def _spheres(frame: pl.DataFrame) -> list[dict[str, Any]]:
    """By scheme and β the stored times, and at each the particles' places, in thousandths."""
    found = []
    for part in frame.partition_by("scheme", "beta", maintain_order=True):
        at_times = part.sort("time", "particle").partition_by("time", maintain_order=True)
        # A thousandth is a tenth of a pixel, and there are many places.
        places = {
            axis: [column((1000 * each[axis]).round()) for each in at_times]
            for axis in ("x", "y", "z")
        }
        fixed = {"scheme": part["scheme"][0], "beta": part["beta"][0]}
        times = pl.Series([each["time"][0] for each in at_times])
        found.append({"fixed": fixed, "times": column(times), **places})
    return found


def _phases(frame: pl.DataFrame) -> list[dict[str, Any]]:
    """By scheme and setting a list per β, from the largest, of a probability per time."""
    by = ("scheme", *PHASE)
    found = []
    for part in frame.partition_by(by, maintain_order=True):
        times = some_times(part["time"].to_list(), MOST_COLUMNS)
        betas = part["beta"].unique().sort(descending=True)
        known = {(beta, time): p for beta, time, p in part["beta", "time", "probability"].rows()}
        table = [pl.Series([known.get((beta, time)) for time in times]) for beta in betas]
        found.append(
            {
                "fixed": {name: part[name][0] for name in (*by, "seeds")},
                "times": column(pl.Series(times)),
                "betas": column(betas),
                "probability": [column(row) for row in table],
            }
        )
    return found
