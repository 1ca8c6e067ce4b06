"""`headgauge validate`: do measures, verdicts and roles tell what a head is worth?"""

from pathlib import Path

from headgauge.cli import documents, results, running
from headgauge.cli.output import print_json, share_bar, stderr
from headgauge.cli.process import works_in
from headgauge.options.commands import ValidateOptions


def run(asked: ValidateOptions) -> None:
    """Test every measure, verdict and role against the effects of the heads.

    The effect of a head is the rise of the loss without it. Lines are chosen on the first half of a
    text and judged on its second half and on a second text, inside layers, with intervals over
    layers that allow for all comparisons; random heads of the same layers are the control. Prints
    what predicts and what does not, and leaves a scan of each part, tables, a figure and
    report.html in the run's folder. A run that was interrupted goes on when it is started again.
    """
    # torch and transformers take seconds: not for --help.
    from headgauge import scanning, validation
    from headgauge.report.figures import draw

    notes = stderr(asked.quiet)
    texts = [running.look_at(each) for each in asked.text or ()]
    settings = validation.validation_settings(asked)
    source = running.open_model(asked, notes)
    read = [running.fetched(each, notes) for each in texts] or running.default_texts(notes)
    plan = validation.make_validation(source, read, settings)
    names = plan.identity["model"]["name"], plan.first.text.name
    place = Path(asked.out or running.default_folder("validate", plan.identity, *names))
    running.opening(plan.first, place, notes, list(plan.parts.values()))
    if asked.estimate:
        each = [scanning.estimate(part, asked.jobs) for part in plan.parts.values()]
        total = scanning.Estimate(
            sum(one.seconds for one in each), each[0].memory, sum(one.disk for one in each)
        )
        results.show_estimate(total, asked.json_output)
        return
    works_in(place)
    with share_bar("validating", notes) as progress:
        found = validation.run_validation(plan, place, asked.jobs, progress)
    with notes.status("drawing"):
        drawn = draw(found, asked.plain)
    if asked.json_output:
        print_json(documents.validation_document(found, drawn))
    else:
        results.show_validation(found, drawn)
