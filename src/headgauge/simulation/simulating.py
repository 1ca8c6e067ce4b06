"""`headgauge.simulate`: curves, rates, swarms, the phase diagram and the sphere.

    found = headgauge.simulate(tokens=64, dim=128, seeds=4)
    found.tables["rates"]            # polars: theory beside measured
    found = headgauge.simulate(out="runs/mine")

With `out` every table is written when it is finished, and a simulation that is started again in the
same folder does what is left.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import psutil
import torch

from headgauge.devices import check_device
from headgauge.errors import InputError
from headgauge.runs import SIMULATION, RunFolder, manifest
from headgauge.runs.dynamics_schema import DYNAMICS_TABLES
from headgauge.runs.manifest import first_manifest
from headgauge.runs.schema import frame_schema
from headgauge.simulation.phase import phase_diagram
from headgauge.simulation.result import Simulation
from headgauge.simulation.rows import curve_rows, rate_rows, sphere_rows
from headgauge.simulation.settings import SimulationSettings
from headgauge.simulation.swarms import swarms
from headgauge.threads import begin

CURVE_TIMES, SWARM_TIMES, PHASE_TIMES, SPHERE_TIMES = 241, 51, 61, 61
LATER = 3  # the curves and the phase diagram go on for so many horizons
LARGEST_BETA = 12.0  # of the phase diagram
PSEUDOCODE = (
    "arXiv 2510.22026: the continuous systems of six normalisation schemes, their equiangular "
    "reduction, swarms of particles, the phase diagram over time and β"
)

Progress = Callable[[str, float], object]
"""Called with the name of a part and the share of it that is done."""


def simulate(
    *,
    out: str | Path | None = None,
    device: str = "cpu",
    progress: Progress | None = None,
    **choices: Any,
) -> Simulation:
    """Run a simulation with these choices of `SimulationSettings`."""
    return run_settings(SimulationSettings(**choices), out, device, progress)


def run_settings(
    settings: SimulationSettings,
    out: str | Path | None = None,
    device: str = "cpu",
    progress: Progress | None = None,
) -> Simulation:
    """Compute the tables that are not there yet."""
    begin()
    check_device(device, double=True)
    _check_memory(settings, device)
    report = progress or (lambda part, share: None)
    chosen, beta, radius = settings.chosen(), settings.beta, settings.radius
    later = settings.times(LATER * settings.horizon, CURVE_TIMES)
    looked = settings.times(settings.horizon, SPHERE_TIMES)
    particles, seed = settings.sphere_particles, settings.seed
    parts = {
        "curves": lambda: {"curves": curve_rows(chosen, settings.tokens, beta, later, radius)},
        "rates": lambda: {"rates": rate_rows(chosen, settings.tokens, beta, radius)},
        "swarms": lambda: _swarms(settings, device, lambda share: report("swarms", share)),
        "phase": lambda: {"phase": _phase(settings, device, lambda share: report("phase", share))},
        "sphere": lambda: {"sphere": sphere_rows(chosen, particles, beta, looked, seed, radius)},
    }
    if out is None:
        made: dict[str, list[dict[str, Any]]] = {}
        for name, part in parts.items():
            report(name, 0.0)
            made |= part() if name in settings.parts else {}
        tables = {name: _frame(name, made.get(name, [])) for name in DYNAMICS_TABLES}
        return Simulation(first_manifest(settings.as_dict()), tables)
    folder = RunFolder.open(out, settings.as_dict(), SIMULATION)
    folder.describe(
        manifest(settings.as_dict(), device, research_type="simulation", pseudocode=PSEUDOCODE)
    )
    for name, part in parts.items():
        wanted = ("collapse", "swarms") if name == "swarms" else (name,)
        if all(folder.has(each) for each in wanted):
            continue
        report(name, 0.0)
        began = time.perf_counter()
        rows = part() if name in settings.parts else {}
        for each in wanted:
            folder.write(each, _frame(each, rows.get(each, [])), time.perf_counter() - began)
    folder.finish(_notes(settings, folder.read("rates")))
    return Simulation.load(out)


def _check_memory(settings: SimulationSettings, device: str) -> None:
    """Refuse what this machine could never hold, before it is tried."""
    needed, there = settings.memory(), psutil.virtual_memory().total
    if device == "cpu" and needed > there:
        raise InputError(
            f"swarms of {settings.tokens} tokens in {settings.dim} dimensions need "
            f"{needed / 1e9:.3g} GB of memory or more, there are {there / 1e9:.3g}: use fewer"
        )


def _swarms(
    settings: SimulationSettings, device: str, report: Callable[[float], object]
) -> dict[str, list[dict[str, Any]]]:
    times = settings.times(settings.horizon, SWARM_TIMES)
    kinds = settings.kinds()
    rows, collapse = [], []
    for place, kind in enumerate(kinds):
        found = swarms(
            settings.chosen(),
            kind,
            times,
            settings.tolerance,
            device,
            lambda share, place=place: report((place + share) / len(kinds)),
        )
        rows += found.rows()
        collapse += found.collapse()
    return {"swarms": rows, "collapse": collapse}


def _phase(
    settings: SimulationSettings, device: str, report: Callable[[float], object]
) -> list[dict[str, Any]]:
    betas = torch.linspace(LARGEST_BETA / settings.phase_betas, LARGEST_BETA, settings.phase_betas)
    return phase_diagram(
        settings.chosen(),
        settings.phase_tokens,
        settings.phase_dims,
        [round(beta, 6) for beta in betas.tolist()],
        settings.times(LATER * settings.horizon, PHASE_TIMES),
        settings.phase_seeds,
        device,
        report,
    )


def _frame(name: str, rows: list[dict[str, Any]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=frame_schema(DYNAMICS_TABLES[name]))


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
