"""`headgauge.simulate`: curves, rates, swarms, the phase diagram and the sphere.

    found = headgauge.simulate(tokens=64, dim=128, seeds=4)
    found.tables["rates"]            # polars: theory beside measured
    found = headgauge.simulate(out="runs/mine")

With `out` every table is written when it is finished, and a simulation that is started again in the
same folder does what is left.
"""

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import psutil

from headgauge import first_use
from headgauge.devices import check_device, chosen
from headgauge.errors import InputError
from headgauge.options import takes
from headgauge.runs import SIMULATION, RunFolder, frame_schema, manifest
from headgauge.runs.manifest import first_manifest
from headgauge.simulation import tables
from headgauge.simulation.result import Simulation
from headgauge.simulation.settings import PARTS, SimulationSettings
from headgauge.simulation.swarms import swarms
from headgauge.threads import begin

SWARM_TIMES = 51
PSEUDOCODE = (
    "arXiv 2510.22026: the continuous systems of six normalisation schemes, their equiangular "
    "reduction, swarms of particles, the phase diagram over time and β"
)

Progress = Callable[[str, float], object]
"""Called with the name of a part and the share of it that is done."""


@takes(SimulationSettings)
def simulate(
    *,
    out: str | Path | None = None,
    device: str = "auto",
    progress: Progress | None = None,
    **choices: Any,
) -> Simulation:
    """Tokens as particles on the sphere under several schemes; with `out` kept in a folder."""
    return run_settings(SimulationSettings(**choices), out, device, progress)


def run_settings(
    settings: SimulationSettings,
    out: str | Path | None = None,
    device: str = "auto",
    progress: Progress | None = None,
) -> Simulation:
    """Compute the tables that are not there yet."""
    begin()
    device = chosen(device, double=True)
    check_device(device, double=True)
    if device == "cpu":
        first_use.start("simulate")
    _check_memory(settings, device)
    report = progress or (lambda part, share: None)
    made: dict[str, pl.DataFrame] = {}
    folder = None
    if out is not None:
        folder = RunFolder.open(out, settings.as_dict(), SIMULATION)
        told = {"research_type": "simulation", "pseudocode": PSEUDOCODE}
        folder.describe(manifest(settings.as_dict(), device, **told))
    for part in PARTS:
        names = ("collapse", "swarms") if part == "swarms" else (part,)
        if folder is not None and all(folder.has(name) for name in names):
            continue
        report(part, 0.0)
        began = time.perf_counter()
        how = settings, device, partial(report, part)
        rows = _rows(part, *how) if part in settings.parts else {}
        for name in names:
            schema = frame_schema(SIMULATION.tables[name])
            made[name] = pl.DataFrame(rows.get(name, []), schema=schema)
            if folder is not None:
                folder.write(name, made[name], time.perf_counter() - began)
    if folder is None or out is None:
        return Simulation(
            first_manifest(settings.as_dict()), {name: made[name] for name in SIMULATION.tables}
        )
    folder.finish(_notes(settings, folder.read("rates")))
    return Simulation.load(out)


def _check_memory(settings: SimulationSettings, device: str) -> None:
    """Refuse what this machine could never hold, before it is tried: every pair is simulated."""
    tokens, dim, drawn = settings.tokens, settings.dim, settings.weights != ("identity",)
    pairs = (25 if drawn else 100) * len(settings.schemes) * tokens**2
    needed = pairs + 8 * tokens * dim + (64 * dim**2 if drawn else 0)  # bytes, at the least
    there = psutil.virtual_memory().total
    if "swarms" in settings.parts and device == "cpu" and needed > there:
        raise InputError(
            f"swarms of {tokens} tokens in {dim} dimensions need "
            f"{needed / 1e9:.3g} GB of memory or more, there are {there / 1e9:.3g}: use fewer"
        )


def _rows(
    part: str, settings: SimulationSettings, device: str, progress: Callable[[float], object]
) -> dict[str, tables.Rows]:
    """By name the rows of the tables that a part makes."""
    match part:
        case "curves":
            return {part: tables.curve_rows(settings)}
        case "rates":
            return {part: tables.rate_rows(settings)}
        case "phase":
            return {part: tables.phase_rows(settings, device, progress)}
        case "sphere":
            return {part: tables.sphere_rows(settings)}
    times, kinds = settings.times(settings.horizon, SWARM_TIMES), settings.kinds()
    rows: dict[str, tables.Rows] = {"swarms": [], "collapse": []}
    for place, kind in enumerate(kinds):

        def done(share: float, place: int = place) -> None:
            progress((place + share) / len(kinds))

        found = swarms(settings.chosen(), kind, times, settings.tolerance, device, done)
        rows["swarms"] += found.rows()
        rows["collapse"] += found.collapse()
    return rows


def _notes(settings: SimulationSettings, rates: pl.DataFrame) -> list[str]:
    """What a reader must know."""
    notes = []
    if settings.rule != "softmax" or settings.causal or settings.heads > 1:
        notes.append(
            "the rule, the mask and the heads are those of the swarms; curves, rates, phase "
            "diagram and sphere are those of softmax, one head, without a mask"
        )
    ended = set(rates.filter(quantity="final rate")["scheme"])
    late = [scheme.title for scheme in settings.chosen() if scheme.name not in ended]
    if len(rates) and late:
        notes.append(f"no final rate of {', '.join(late)}: its end is not reached by t = 10⁶")
    if "ln_scaling" in settings.schemes:
        notes.append(
            "LN-Scaling is the paper's model of it, Post-LN with a gain of 1/√(t+1); the published "
            "method is Pre-LN with the norm's output divided by √l, here ln_scaling_pre"
        )
    return notes
