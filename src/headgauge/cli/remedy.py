"""`headgauge remedy`: what a verdict's remedy does to the heads that have it."""

from pathlib import Path
from typing import Any

from headgauge.cli import documents, results, running
from headgauge.cli.output import print_json, share_bar, stderr
from headgauge.cli.process import works_in
from headgauge.options.commands import RemedyOptions


def run(asked: RemedyOptions) -> None:
    """Try each verdict's remedy on the heads that have it, and on random heads of their layers.

    A remedy is a rule swapped into the heads, or their means in their place; what needs training is
    named and not tried. Heads are named on a scan's windows, parameters are chosen and remedies
    judged on others that follow in the text. Prints what each did to the loss, to what the verdict
    is judged by and to the verdict, and leaves tables, a figure and report.html in the run's
    folder. A run that was interrupted goes on when it is started again.
    """
    running.compile_kernels(asked)
    # torch and transformers take seconds: not for --help.
    from headgauge import remedies, scanning
    from headgauge.remedies.estimating import estimate_remedy
    from headgauge.report.figures import draw

    notes = stderr(asked.quiet)
    scan = remedies.scan_in(asked.run)
    seen = running.look_at(asked.text, asked.text_string, asked.chat)
    settings, lines = remedies.remedy_settings(asked), remedies.judged_by(asked.thresholds)
    source, seen = _source(asked, scan, seen, notes)
    read = running.fetched(seen, notes)
    plan = remedies.make_remedy(source, read, settings, scan, lines)
    names = plan.identity["model"]["name"], plan.judged.text.name
    place = Path(asked.out or running.default_folder("remedy", plan.identity, *names))
    shown = [plan.scan] if isinstance(plan.scan, scanning.Plan) else []
    running.opening(plan.judged, place, notes, [*shown, plan.judged])
    if asked.estimate:
        results.show_estimate(estimate_remedy(plan), asked.json_output)
        return
    works_in(place)
    with share_bar("trying", notes) as progress:
        found = remedies.run_remedy(plan, place, progress)
    with notes.status("drawing"):
        drawn = draw(found, asked.plain)
    if asked.json_output:
        print_json(documents.remedy_document(found, drawn))
    else:
        results.show_remedies(found, drawn)


def _source(asked: RemedyOptions, scan: Any, seen: Any, notes: Any) -> tuple[Any, Any]:
    """The model and the text: those that are named, or those of the scan."""
    from headgauge import models, remedies

    if scan is None:
        name = running.one_name(asked.run, asked.model_option) or "default"
        source = models.ModelSource(name, asked.dtype, asked.device, asked.revision)
        return running.loaded(source, name, notes), seen
    text = remedies.scan_text(scan, seen)
    how = None, asked.dtype, asked.device, asked.revision
    source = remedies.scan_source(scan, asked.model_option, *how)
    return running.loaded(source, scan.manifest["model"]["name"], notes), text
