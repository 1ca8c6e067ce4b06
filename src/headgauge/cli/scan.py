"""`headgauge scan`: measure every head of a model and say what is wrong with which."""

import os
import shutil
from pathlib import Path
from typing import Any

from headgauge.cli import results
from headgauge.cli.output import print_json, share_bar, size, stderr
from headgauge.cli.process import works_in
from headgauge.cli.running import default_folder, fetched, look_at, one_model, opening
from headgauge.errors import LARGEST, InputError, check_whole
from headgauge.options.commands import ScanOptions

_LONG = 60.0  # seconds from which on a run tells what it will need


def run(asked: ScanOptions) -> None:
    """Measure every head of a model over windows of a text.

    Prints the worst heads and a summary by layer, and leaves tables (Parquet), figures and a
    manifest in the run's folder. A run that was interrupted goes on when it is started again.
    """
    # torch and transformers take seconds: not for --help.
    from headgauge import scanning
    from headgauge.models import ModelSource
    from headgauge.report.figures import draw

    target = asked.target_length
    if target is not None:
        check_whole("--target-length", target, 2, LARGEST)
    notes = stderr(asked.quiet)
    name = one_model(asked.model, asked.model_option)
    seen = look_at(asked.text, asked.text_string, asked.chat)
    changed = None if asked.thresholds is None else scanning.read_thresholds(asked.thresholds)
    settings = scanning.scan_settings(asked, target)
    source = ModelSource(name, asked.dtype, asked.device or "cpu", asked.revision)
    with notes.status(f"loading {name}"):
        source.open()
    plan = scanning.scan_plan(source, fetched(seen, notes), settings)
    place = Path(asked.out or default_folder(plan, "scan"))
    for line in opening(plan, place):
        notes.print(line, style="dim", soft_wrap=True)
    needs = scanning.estimate(plan, asked.jobs, None if asked.estimate else _left(plan, place))
    if asked.estimate:
        results.show_estimate(needs, asked.json_output)
        return
    works_in(place)
    _check_disk(needs, place)
    if needs.seconds > _LONG:
        notes.print(f"needs  about {results.needs(needs)}", style="dim")
    with share_bar("scanning", notes) as progress:
        result = scanning.run_scan(plan, place, asked.jobs, progress)
    if changed is not None:
        result = result.with_thresholds(changed)
    if target is not None:
        result = result.keep_outlook(target)
    with notes.status("drawing"):
        figures = draw(result)
    if asked.json_output:
        print_json(results.scan_document(result, target))
    else:
        results.show_scan(result, target, figures)


def _left(plan: Any, place: Path) -> int:
    from headgauge.runs import begun_units

    return len({unit.key for unit in plan.units} - begun_units(place))


def _check_disk(needs: Any, place: Path) -> None:
    there = next(parent for parent in (place, *place.absolute().parents) if os.path.exists(parent))
    free = shutil.disk_usage(there).free
    if free < needs.disk:
        raise InputError(
            f"the run needs about {size(needs.disk)} on disk, but {there} has {size(free)} free: "
            "choose another --out"
        )
