"""`headgauge compare MODEL`: the same windows under several rules."""

from pathlib import Path

from headgauge.cli import documents, results
from headgauge.cli.output import print_json, share_bar, stderr
from headgauge.cli.process import works_in
from headgauge.cli.running import default_folder, fetched, loaded_source, look_at, opening
from headgauge.options.commands import CompareOptions


def run(model: str, asked: CompareOptions) -> None:
    """One model: the loss and every head's measures under each rule."""
    from headgauge.comparison import rules
    from headgauge.comparison.rules_needs import rules_estimate
    from headgauge.report.figures import draw

    notes = stderr(asked.quiet)
    settings = rules.rule_settings(asked)
    seen = look_at(asked.text, asked.text_string, asked.chat)
    source = loaded_source(model, asked, notes)
    plan = rules.rule_plan(source, fetched(seen, notes), settings)
    names = plan.identity["model"]["name"], plan.text.name
    place = Path(asked.out or default_folder("compare", plan.identity, *names))
    opening(plan, place, notes, [plan])
    if asked.estimate:
        results.show_estimate(rules_estimate(plan), asked.json_output)
        return
    works_in(place)
    with share_bar("comparing", notes) as progress:
        found = rules.run_rules(plan, place, progress)
    with notes.status("drawing"):
        drawn = draw(found, asked.plain)
    if asked.json_output:
        print_json(documents.rules_document(found, drawn))
    else:
        results.show_rules(found, drawn)
