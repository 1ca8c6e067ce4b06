"""`headgauge ablate`: what each head is worth to the model's loss."""

from pathlib import Path

from headgauge.cli import documents, results
from headgauge.cli.output import print_json, share_bar, stderr
from headgauge.cli.process import works_in
from headgauge.cli.running import default_folder, fetched, look_at, open_model, opening
from headgauge.options.commands import AblateOptions


def run(asked: AblateOptions) -> None:
    """Measure the rise of the loss without each head of a model, or without groups of heads.

    Prints the largest effects, and leaves effects.parquet and a manifest in the run's folder. A run
    that was interrupted goes on when it is started again.
    """
    # torch and transformers take seconds: not for --help.
    from headgauge import ablation
    from headgauge.measure.estimates import estimate

    notes = stderr(asked.quiet)
    seen = look_at(asked.text, asked.text_string, asked.chat)
    settings = ablation.ablate_settings(asked)
    source = open_model(asked, notes)
    plan = ablation.ablate_plan(source, fetched(seen, notes), settings)
    names = plan.identity["model"]["name"], plan.text.name
    place = Path(asked.out or default_folder("ablate", plan.identity, *names))
    opening(plan, place, notes, [plan])
    if asked.estimate:
        results.show_estimate(estimate(plan, asked.jobs, None), asked.json_output)
        return
    works_in(place)
    with share_bar("ablating", notes) as progress:
        found = ablation.run_ablation(plan, place, asked.jobs, progress)
    if asked.json_output:
        print_json(documents.ablation_document(found))
    else:
        results.show_ablation(found)
