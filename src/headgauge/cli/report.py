"""`headgauge report`: draw a run's page and figures again, from what it stored."""

from pathlib import Path
from typing import Annotated

import typer

from headgauge.cli.output import JsonOption, QuietOption, print_json, stderr, stdout
from headgauge.cli.process import printable
from headgauge.errors import InputError
from headgauge.options.commands import PLAIN


def command(
    folder: Annotated[
        Path, typer.Argument(help="The folder of a finished run, or of a training's log.")
    ],
    thresholds: Annotated[
        Path | None, typer.Option(help="A TOML file that changes thresholds of the verdicts.")
    ] = None,
    markdown: Annotated[
        bool,
        typer.Option(
            "--markdown",
            help="Print the tables of a reproduction, validation or remedies as Markdown.",
        ),
    ] = False,
    plain: Annotated[bool, typer.Option("--plain", help=PLAIN)] = False,
    json_output: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Draw report.html and the figures of a run again. Nothing is measured or computed anew."""
    from dataclasses import replace

    from headgauge.ablation import Ablation
    from headgauge.comparison import RuleComparison, RunComparison
    from headgauge.paper.result import Reproduction
    from headgauge.reading import read_run
    from headgauge.remedies import Remedies
    from headgauge.report.figures import draw
    from headgauge.report.paper_tables import paper_markdown
    from headgauge.report.remedy_tables import remedy_markdown
    from headgauge.report.validation_tables import validation_markdown
    from headgauge.scanning import read_thresholds
    from headgauge.simulation import Simulation
    from headgauge.training import TrainingLog
    from headgauge.validation import Validation

    if markdown:
        if Validation.is_in(folder):
            print(printable(validation_markdown(Validation.load(folder))))
            return
        if Remedies.is_in(folder):
            print(printable(remedy_markdown(Remedies.load(folder))))
            return
        if not Reproduction.is_in(folder):
            raise InputError(
                f"{folder} has no tables for Markdown: headgauge reproduce, validate and remedy "
                "leave some"
            )
        found = Reproduction.load(folder)
        told = found.judging.stands, found.judging.chosen_on, found.warnings()
        print(printable(paper_markdown(found.paper, found.timing, *told)))
        return
    changed = None if thresholds is None else read_thresholds(thresholds)
    run = read_run(folder)
    if changed is not None:
        if isinstance(run, (Simulation, Ablation, RuleComparison, TrainingLog)):
            kinds = {Simulation: "a simulation", Ablation: "an ablation"}
            kinds |= {TrainingLog: "a training log"}
            what = kinds.get(type(run), "a comparison of rules")
            raise InputError(f"{folder}: {what} has no verdicts that thresholds could change")
        if isinstance(run, RunComparison):
            raise InputError(
                f"{folder}: a comparison has judged its runs; compare them again in Python, with "
                "scans that have other thresholds"
            )
        if isinstance(run, Remedies):
            raise InputError(
                f"{folder}: remedies were tried on the heads that its thresholds named; try them "
                "again with others"
            )
        if isinstance(run, Validation):
            raise InputError(
                f"{folder}: a validation has tested the thresholds it was made with; its scans in "
                "parts/ can be drawn with others"
            )
        if isinstance(run, Reproduction):
            scans = {text: scan.with_thresholds(changed) for text, scan in run.scans.items()}
            run = replace(run, scans=scans)
        else:
            run = run.with_thresholds(changed)
    with stderr(quiet).status("drawing"):
        drawn = draw(run, plain)
    if json_output:
        print_json({"page": str(drawn[0]), "figures": [str(path) for path in drawn[1:]]})
    else:
        count = len({path.with_suffix("") for path in drawn[1:]})
        stdout().print(f"{count} figures in {folder / 'figures'}", soft_wrap=True)
        stdout().print(f"open {drawn[0]}", soft_wrap=True)
