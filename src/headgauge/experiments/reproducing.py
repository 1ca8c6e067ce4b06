"""`headgauge.experiments.reproduce`: the paper's figures on any model, in one call."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from headgauge import models, results
from headgauge.diagnostics import ScanResult
from headgauge.diagnostics.plan import Model, Plan, Tokens, make_plan, source_of
from headgauge.diagnostics.scanning import default_threads, run_plan
from headgauge.diagnostics.unit import Source
from headgauge.experiments import (
    fig1_geometry,
    fig2a_length,
    fig2b_top_n,
    fig2c_critical,
    fig3_separability,
    fig4_sensitivity,
)
from headgauge.experiments.choice_table import choice_table
from headgauge.experiments.literal import literal_times
from headgauge.experiments.measured import Measured
from headgauge.experiments.result import Reproduction, read_timing
from headgauge.experiments.settings import ReproduceSettings
from headgauge.experiments.timing import timing_table
from headgauge.experiments.verdicts import Evidence, verdict_table

Progress = Callable[[float], object]


def reproduce(
    model: Model = "default",
    tokens: Tokens = None,
    *,
    settings: ReproduceSettings | None = None,
    tokenizer: Any = None,
    dtype: str | None = None,
    device: str | None = None,
    out: str | Path | None = None,
    progress: Progress | None = None,
) -> Reproduction:
    """Algorithms 1 to 5 on a model and a text, given as to `headgauge.scan`.

    With `out` the run is kept in a folder, and taken up there when it was interrupted.
    """
    source = source_of(model, tokenizer, dtype, device)
    chosen = settings or ReproduceSettings(threads=default_threads(1, out))
    return run_reproduction(make_reproduction(source, tokens, chosen), out, progress)


def make_reproduction(source: Source, tokens: Tokens, settings: ReproduceSettings) -> Plan:
    """The plan of a reproduction, once the model is known."""
    layers = len(models.attention_modules(source.open().model))
    return make_plan(source, tokens, replace(settings, model_layers=layers))


def run_reproduction(
    plan: Plan, out: str | Path | None, progress: Progress | None = None
) -> Reproduction:
    """Do the units that are not done yet, and everything that follows from them.

    The literal loops are timed once per folder.
    """
    settings = plan.settings
    assert isinstance(settings, ReproduceSettings)
    scan = run_plan(plan, out, 1, progress)
    measured = _measured(scan)
    paper = figures(measured, settings, scan.untrained())
    timing = () if scan.folder is None else read_timing(scan.folder)
    if not timing:
        loops = literal_times(plan, settings, measured.heads)
        timing = tuple(timing_table(scan.seconds(), loops, settings))
    found = Reproduction(scan, paper, timing)
    if scan.folder is not None:
        found.keep()
    return found


def figures(
    measured: Measured, settings: ReproduceSettings, untrained: str | None = None
) -> dict[str, pl.DataFrame]:
    """Every figure's frame, and the verdicts on them."""
    choice = vars(settings.choice)
    critical = fig2c_critical.run(measured, settings.fig2c)
    found = {
        "fig1": fig1_geometry.run(measured, settings.fig1),
        "fig2a": fig2a_length.run(measured, replace(settings.fig2a, lengths=settings.lengths)),
        "fig2b": fig2b_top_n.run(measured, settings.fig2b),
        "fig2c": critical,
        "fig2c_tests": fig2c_critical.tests(measured),
        "fig3": fig3_separability.run(measured, settings.fig3),
        "fig4": fig4_sensitivity.run(measured, settings.fig4),
        "choices": choice_table(measured, critical, choice),
    }
    return found | {"verdicts": verdict_table(Evidence(found, choice), untrained)}


def _measured(scan: ScanResult) -> Measured:
    if scan.folder is not None:
        return Measured.of(results.load_run(scan.folder))
    return Measured(
        *(
            pl.concat([unit.paper[name] for unit in scan.units])
            for name in ("paper_curves", "sensitivity", "points")
        )
    )
