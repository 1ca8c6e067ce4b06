"""What the commands show of a result in a terminal (`documents` has it for `--json`)."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from headgauge.cli.output import print_json, size, stdout

if TYPE_CHECKING:
    from headgauge.ablation import Ablation
    from headgauge.comparison import RuleComparison, RunComparison
    from headgauge.paper import Reproduction
    from headgauge.remedies import Remedies
    from headgauge.scanning import Estimate, ScanResult
    from headgauge.simulation import Simulation
    from headgauge.validation import Validation


def show_estimate(needed: "Estimate", json_output: bool) -> None:
    """What a run would need, alone on stdout."""
    if json_output:
        sizes = {"memory_bytes": needed.memory, "disk_bytes": needed.disk}
        print_json({"seconds": needed.seconds, **sizes})
    else:
        stdout().print(f"about {needs(needed)}")


def needs(needed: "Estimate") -> str:
    """Time, memory and disk in words."""
    minutes, seconds = divmod(round(needed.seconds), 60)
    return (
        f"{minutes} min {seconds} s after loading, {size(needed.memory)} of memory, "
        f"{size(needed.disk)} on disk"
    )


def show_scan(
    result: "ScanResult", target: int | None, drawn: list[Path], worst: bool = False
) -> None:
    """The tables in the order a reader asks: how many, which, where, what to do."""
    from headgauge.report import tables

    _show_warnings(result.warnings())
    _lines([*result.stands(), result.finding()])
    heads, by = result.worst() if worst else (result.frame(), None)
    roles = result.role_counts()
    found = [
        tables.heads_table(heads, limit=20, by=by),
        tables.layers_table(result.layers()),
        tables.counts_table(result.counts()),
        *([tables.roles_table(roles)] if roles["heads"].sum() else []),
        tables.meaning_table(result.verdicts(), result.remedies()),
    ]
    if result.depth is not None:
        found.append(tables.depth_table(result.depth_layers(), result.scheme().scheme))
    if target is not None:
        found.append(tables.outlook_table(result.outlook(target), target))
    for table in found:
        stdout().print(table)
    if target is not None:
        _lines(result.outlook_grounds(target).notes())
    _lines([*_losses(result), *result.notes()])
    kept = [f"{name}.parquet" for name in result.manifest["tables"]]
    figures = len({path.stem for path in drawn[1:]})
    _show_files(result.folder, drawn, *kept, "manifest.json", f"figures/ ({figures})")


def show_ablation(result: "Ablation") -> None:
    """The heads or groups that the loss needs most, and where all of them are."""
    from headgauge.report import tables

    _lines([result.caption()])
    stdout().print(tables.effects_table(result.effects, limit=20))
    _lines(result.notes())
    kept = [f"{name}.parquet" for name in result.manifest["tables"]]
    _lines([f"{result.folder}: {', '.join([*kept, 'manifest.json'])}"])


def show_rules(result: "RuleComparison", drawn: list[Path]) -> None:
    """What it stands on, the rules beside each other, what was fitted, where to look on."""
    from headgauge.report.rule_tables import rule_tables

    _show_warnings(result.warnings())
    _lines(result.stands())
    for table in rule_tables(result):
        stdout().print(table)
    _lines([result.finding(), *result.notes()])
    kept = [f"{name}.parquet" for name in result.manifest["tables"]]
    figures = len({path.stem for path in drawn[1:]})
    _show_files(result.folder, drawn, *kept, "manifest.json", f"figures/ ({figures})")


def show_reproduction(result: "Reproduction", drawn: list[Path]) -> None:
    """What it stands on, the claims, what depends on the choice, the times, where to look on."""
    from headgauge.report import paper_tables

    _show_warnings(result.warnings())
    paper, judging = result.paper, result.judging
    stdout().print(
        paper_tables.claims_view(paper["verdicts"], paper["readings"], judging.stands),
        *paper_tables.choice_tables(paper["choices"], judging.chosen_on),
        paper_tables.timing_table(result.timing),
        sep="",
    )
    _lines([result.finding()])
    _lines([f"{text}: {line}" for text, scan in result.scans.items() for line in _losses(scan)])
    _lines(result.notes())
    figures = len({path.with_suffix("") for path in drawn[1:]})
    texts = f"texts/ ({len(result.scans)} runs)"
    tables = f"paper/ ({len(paper)} tables)"
    _show_files(result.folder, drawn, tables, texts, f"figures/ ({figures})", "manifest.json")


def show_validation(result: "Validation", drawn: list[Path]) -> None:
    """What it stands on, what was decided, the numbers behind it, where to look on."""
    from headgauge.report.validation_tables import validation_tables

    _show_warnings(result.warnings())
    _lines(result.stands())
    for table in validation_tables(result):
        stdout().print(table)
    _lines([result.finding(), *result.notes()])
    kept = f"validation/ ({len(result.tables)} tables)", f"parts/ ({len(result.parts)} scans)"
    _show_files(result.folder, drawn, *kept, "manifest.json", "figures/ (1)")


def show_comparison(result: "RunComparison", drawn: list[Path], failing: Sequence[str]) -> None:
    """What it stands on, the tables, the finding; last what must not hold and does."""
    from headgauge.report.comparison_tables import comparison_tables

    _show_warnings(result.warnings())
    for table in comparison_tables(result):
        stdout().print(table)
    _lines([result.stands()[-1], result.finding()])
    _lines([line for line in result.notes() if line not in result.warnings()])
    if result.folder is not None:
        figures = len({path.stem for path in drawn[1:]})
        kept = f"comparison/ ({len(result.tables)} tables)", "manifest.json"
        _show_files(result.folder, drawn, *kept, f"figures/ ({figures})")
    for line in failing:
        stdout().print(Text(line, style="bold red"), soft_wrap=True)


def show_remedies(result: "Remedies", drawn: list[Path]) -> None:
    """What it stands on, what remedies did, what cannot be tried, where to look on."""
    from headgauge.report.remedy_tables import remedy_tables

    _show_warnings(result.warnings())
    _lines(result.stands())
    for table in remedy_tables(result):
        stdout().print(table)
    _lines([result.finding(), *result.notes()])
    kept = f"remedies/ ({len(result.tables)} tables)"
    _show_files(result.folder, drawn, kept, "manifest.json", "figures/ (1)")


def show_simulation(result: "Simulation", drawn: list[Path]) -> None:
    """Velocities and rates, then when the swarms collapse, then where everything is."""
    from headgauge.report import dynamics_tables

    tables = result.tables
    for table in dynamics_tables.simulation_tables(tables, result.manifest["settings"]):
        stdout().print(table)
    seconds = result.manifest["times"]["seconds"].items()
    took = ", ".join(f"{name} {spent:.1f} s" for name, spent in seconds if name != "collapse")
    _lines([result.finding(), *result.manifest["notes"], f"took   {took}"])
    figures = ", ".join(sorted({path.stem for path in drawn[1:]}))
    kept = f"dynamics/ ({len(tables)} tables)"
    _show_files(result.folder, drawn, kept, "manifest.json", f"figures/ ({figures})")


def _show_warnings(lines: Sequence[str]) -> None:
    """Before any number, so that nobody takes one for a result."""
    for line in lines:
        stdout().print(Text(f"Warning: {line}", style="bold red"), soft_wrap=True)


def _lines(lines: Sequence[str]) -> None:
    """Not broken at the terminal's edge, so that they can be copied and searched for."""
    for line in lines:
        stdout().print(line, soft_wrap=True)


def _show_files(folder: Path | None, drawn: list[Path], *kept: str) -> None:
    """What the run's folder holds, the page last: it is what a reader opens."""
    _lines([f"{folder}: {', '.join(kept)}, report.html", f"open {drawn[0]}"])


def _losses(result: "ScanResult") -> list[str]:
    """The loss of every window: weights that were read wrongly would show here."""
    longest = result.heads["length"].max()
    found = [
        f"{float(unit['loss']):.2f}"
        for name, unit in result.manifest["units"].items()
        if int(name.rpartition("L")[2]) == longest and unit["loss"] is not None
    ]
    bos = (result.manifest["splits"] or {}).get("bos")
    begin = f", each beginning with BOS ({bos['why']})" if bos and bos["put"] else ""
    line = f"Loss per window of {longest} tokens{begin}: {', '.join(found)} nats"
    return [line] if found else []
