"""`headgauge normalizers`: the rules that can take softmax's place, and what is known of each."""

from dataclasses import asdict
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from headgauge.cli.output import JsonOption, QuietOption, print_json, stderr, stdout

if TYPE_CHECKING:
    from headgauge.normalizers import Facts


def command(as_json: JsonOption = False, quiet: QuietOption = False) -> None:
    """List the normalisation rules: writing, formula, source, properties, Jacobian norm."""
    # torch takes seconds: not for --help.
    from headgauge import normalizers

    rules = [normalizers.describe(name) for name in normalizers.names()]
    if as_json:
        print_json([asdict(rule) | {"written": rule.written} for rule in rules])
    else:
        _print_table(rules)
    stderr(quiet).print(
        "z: logits of the n keys a query sees. --rules takes rules with their parameters, commas "
        "between them: ssmax:s=0.2:b=1,entmax:alpha=1.3,sparsemax. Of what can be fitted, "
        "headgauge compare takes fit, fit/layer or fit/head for the number: ssmax:s=fit. In "
        'Python: headgauge.normalizers.get("entmax", alpha=1.5)(logits, mask)'
    )


def _print_table(rules: list["Facts"]) -> None:
    table = Table(title="Normalisation rules", title_justify="left", show_lines=True)
    table.add_column("rule and parameters", no_wrap=True)
    table.add_column("weights, and the largest norm of their Jacobian", ratio=3, overflow="fold")
    table.add_column("properties, source", ratio=2, overflow="fold")
    for rule in rules:
        name = Text(rule.name, style="bold")
        for parameter in rule.settings:
            name.append(f"\n:{parameter}", style="not bold")
        what = Text(f"{rule.formula}\n")
        what.append(f"‖J‖: {rule.jacobian_bound}", style="dim")
        known = [rule.properties, rule.source]
        known += [f"can be fitted: {', '.join(rule.fits)}"] if rule.fits else []
        table.add_row(name, what, Text("\n".join(known)))
    stdout().print(table)
