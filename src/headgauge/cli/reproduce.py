"""`headgauge reproduce`: the paper's figures and claims on a model, in one command."""

from pathlib import Path

from headgauge.cli import documents, results, running
from headgauge.cli.output import print_json, share_bar, stderr
from headgauge.cli.process import works_in
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
    from headgauge.paper.reproducing import run_reproduction
    from headgauge.report.figures import draw

    notes = stderr(asked.quiet)
    texts = [running.look_at(each) for each in asked.text or ()]
    settings = paper.reproduce_settings(asked)
    source = running.open_model(asked, notes)
    read = [running.fetched(each, notes) for each in texts]
    read = read or running.default_texts(notes)[: 1 if asked.quick else None]
    plan = paper.make_reproduction(source, read, settings)
    names = plan.identity["model"]["name"], plan.first.text.name
    place = Path(asked.out or running.default_folder("reproduce", plan.identity, *names))
    running.opening(plan.first, place, notes, list(plan.texts.values()))
    if asked.estimate:
        results.show_estimate(paper.estimate_reproduction(plan), asked.json_output)
        return
    works_in(place)
    with share_bar("reproducing", notes) as progress:
        found = run_reproduction(plan, place, progress)
    with notes.status("drawing"):
        drawn = draw(found, asked.plain)
    if asked.json_output:
        print_json(documents.reproduction_document(found, drawn))
    else:
        results.show_reproduction(found, drawn)
