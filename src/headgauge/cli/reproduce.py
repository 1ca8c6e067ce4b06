"""`headgauge reproduce`: the paper's figures and claims on a model, in one command."""

from pathlib import Path

from headgauge.cli import results
from headgauge.cli.output import print_json, share_bar, stderr
from headgauge.cli.process import works_in
from headgauge.cli.running import (
    default_folder,
    default_texts,
    fetched,
    look_at,
    one_model,
    opening,
)
from headgauge.options.commands import ReproduceOptions


def run(asked: ReproduceOptions) -> None:
    """Reproduce Figures 1 to 4 and Algorithms 1 to 5 of arXiv 2508.17821 on a model.

    Prints the paper's claims beside what was measured on each text, and leaves the tables, the
    figures (SVG, PDF) and an interactive report.html in the run's folder. What the paper leaves
    open is chosen on the first text and judged on the others; one text alone judges nothing. A run
    that was interrupted goes on when it is started again.
    """
    # torch and transformers take seconds: not for --help.
    from headgauge import paper
    from headgauge.models import ModelSource
    from headgauge.paper.reproducing import run_reproduction
    from headgauge.report.figures import draw

    name = one_model(asked.model, asked.model_option)
    notes = stderr(asked.quiet)
    texts = [look_at(each) for each in asked.text or ()]
    settings = paper.reproduce_settings(asked)
    source = ModelSource(name, asked.dtype, asked.device or "cpu", asked.revision)
    with notes.status(f"loading {name}"):
        source.open()
    read = [fetched(each, notes) for each in texts] or default_texts(notes, only_first=asked.quick)
    plan = paper.make_reproduction(source, read, settings)
    place = Path(asked.out or default_folder(plan.first, "reproduce", plan.identity))
    for line in opening(plan.first, place, list(plan.texts.values())):
        notes.print(line, style="dim", soft_wrap=True)
    if asked.estimate:
        results.show_estimate(paper.estimate_reproduction(plan), asked.json_output)
        return
    works_in(place)
    with share_bar("reproducing", notes) as progress:
        found = run_reproduction(plan, place, progress)
    with notes.status("drawing"):
        drawn = draw(found)
    if asked.json_output:
        print_json(results.reproduction_document(found, drawn))
    else:
        results.show_reproduction(found, drawn)
