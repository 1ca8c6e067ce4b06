"""`headgauge scan`: measure every head of a model and say what is wrong with which."""

import os
import shutil
from pathlib import Path
from typing import Any

from headgauge.cli import documents, results
from headgauge.cli.output import print_json, share_bar, size, stderr
from headgauge.cli.process import works_in
from headgauge.cli.running import default_folder, fetched, look_at, open_model, opening
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
    from headgauge.report.figures import draw
    from headgauge.runs import begun_units

    target = asked.target_length
    if target is not None:
        check_whole("--target-length", target, 2, LARGEST)
    notes = stderr(asked.quiet)
    seen = look_at(asked.text, asked.text_string, asked.chat)
    changed = None if asked.thresholds is None else scanning.read_thresholds(asked.thresholds)
    settings = scanning.scan_settings(asked, target)
    source = open_model(asked, notes)
    plan = scanning.scan_plan(source, fetched(seen, notes), settings)
    names = plan.identity["model"]["name"], plan.text.name
    place = Path(asked.out or default_folder("scan", plan.identity, *names))
    opening(plan, place, notes, [plan])
    if asked.estimate:
        results.show_estimate(scanning.estimate(plan, asked.jobs, None), asked.json_output)
        return
    left = {unit.key for unit in plan.units} - begun_units(place)
    needs = scanning.estimate(plan, asked.jobs, len(left))
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
        drawn = draw(result, asked.plain)
    if asked.json_output:
        print_json(documents.scan_document(result, target, asked.worst))
    else:
        results.show_scan(result, target, drawn, asked.worst)


def _check_disk(needs: Any, place: Path) -> None:
    there = next(parent for parent in (place, *place.absolute().parents) if os.path.exists(parent))
    free = shutil.disk_usage(there).free
    if free < needs.disk:
        raise InputError(
            f"the run needs about {size(needs.disk)} on disk, but {there} has {size(free)} free: "
            "choose another --out"
        )
