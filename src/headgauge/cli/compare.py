"""`headgauge compare`: rules in a model, or finished scans beside each other."""

from typing import Any

import typer

from headgauge.cli import documents, results
from headgauge.cli.output import print_json, stderr
from headgauge.cli.running import compile_kernels
from headgauge.errors import InputError
from headgauge.options.commands import CompareOptions


def run(asked: CompareOptions) -> None:
    """Compare rules in a model (one name), or finished scans head by head (two names or more).

    Of a model: the loss under each rule and what it does to the heads, kept in a run's folder. Of
    scans: what differs, with its spread over windows, verdicts gained and lost, and with three or
    more how heads move from run to run; written to a folder with --out alone.
    """
    # torch and transformers take seconds: not for --help.
    from headgauge.comparison.comparing import check_use

    names = asked.names or []
    check_use(asked, runs=len(names) > 1)
    if len(names) > 1:
        _runs(names, asked)
    else:
        _rules(names[0] if names else None, asked)


def _rules(name: str | None, asked: CompareOptions) -> None:
    """One name, or none: rules in a model."""
    compile_kernels(asked, "compare")
    from headgauge.cli.compare_rules import run as compare_rules
    from headgauge.comparison.runs import single_run

    if None not in (name, asked.model_option) and name != asked.model_option:
        raise InputError(f"two models were given, {name} and {asked.model_option}: give one")
    model = name or asked.model_option or "default"
    single_run(model)
    compare_rules(model, asked)


def _runs(names: list[str], asked: CompareOptions) -> None:
    """Two names or more: finished scans. What must not hold and does is said last, and is 1."""
    from headgauge.comparison.runs import compare_runs
    from headgauge.report.figures import draw

    notes = stderr(asked.quiet)
    with notes.status("comparing"):
        found = compare_runs(names, asked)
    drawn: list[Any] = []
    if found.folder is not None:
        with notes.status("drawing"):
            drawn = draw(found, asked.plain)
    failing = [f"fail-on: {line}" for line in found.failing()]
    if asked.json_output:
        print_json(documents.comparison_document(found, drawn))
        for line in failing:
            notes.print(line, soft_wrap=True)
    else:
        results.show_comparison(found, drawn, failing)
    if failing:
        raise typer.Exit(1)
