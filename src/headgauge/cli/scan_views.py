"""What `headgauge scan` says: before the run, and after."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from headgauge.cli.output import print_json, size, stdout

if TYPE_CHECKING:
    from headgauge.scanning import Estimate, ScanResult


def show_estimate(needed: "Estimate", json_output: bool) -> None:
    """What a run would need, alone on stdout."""
    if json_output:
        print_json(
            {"seconds": needed.seconds, "memory_bytes": needed.memory, "disk_bytes": needed.disk}
        )
    else:
        stdout().print(f"about {needs(needed)}")


def needs(needed: "Estimate") -> str:
    """Time, memory and disk in words."""
    minutes, seconds = divmod(round(needed.seconds), 60)
    return (
        f"{minutes} min {seconds} s after loading, {size(needed.memory)} of memory, "
        f"{size(needed.disk)} on disk"
    )


def document(result: "ScanResult", target: int | None) -> dict[str, Any]:
    """The result as `--json` prints it."""
    found: dict[str, Any] = {
        "warnings": result.warnings(),
        "folder": str(result.folder),
        "stands_on": result.stands(),
        "loss": {name: unit["loss"] for name, unit in result.manifest["units"].items()},
        "notes": result.notes(),
        "counts": result.counts().to_dicts(),
        "heads": result.frame().to_dicts(),
        "verdicts": result.verdicts().to_dicts(),
    }
    if result.depth is not None:
        found["scheme"] = asdict(result.scheme())
        found["depth"] = result.depth_layers().to_dicts()
        found["depth_curves"] = result.depth_curves().to_dicts()
    if target is not None:
        found["outlook"] = result.outlook(target).to_dicts()
        found["outlook_grounds"] = result.outlook_grounds(target).as_dict()
    return found


def show(result: "ScanResult", target: int | None, figures: list[Path]) -> None:
    """The tables in the order a reader asks: how many, which, where, what to do."""
    from headgauge.report import tables

    console = stdout()
    show_warnings(console, result.warnings())
    for line in result.stands():
        console.print(line, soft_wrap=True)
    console.print(tables.head_table_view(result.frame()))
    console.print(tables.layer_view(result.layers()))
    console.print(tables.counts_view(result.counts()))
    console.print(tables.legend_view(result.verdicts()))
    if result.depth is not None:
        console.print(tables.depth_view(result.depth_layers(), scheme_title(result)))
    if target is not None:
        console.print(tables.outlook_view(result.outlook(target), target))
        for line in result.outlook_grounds(target).notes():
            console.print(line, soft_wrap=True)
    for line in (*losses(result), *result.notes()):
        console.print(line, soft_wrap=True)
    console.print(f"{result.folder}: {', '.join(files(result, figures))}", soft_wrap=True)
    console.print(f"open {figures[0]}", soft_wrap=True)


def show_warnings(console: Console, lines: Sequence[str]) -> None:
    """Before any number, so that nobody takes one for a result."""
    for line in lines:
        console.print(Text(f"Warning: {line}", style="bold red"), soft_wrap=True)


def scheme_title(result: "ScanResult") -> str | None:
    """The recognised scheme as the paper writes it; None where there is none."""
    from headgauge.particles import schemes

    found = result.scheme().scheme
    return None if found is None else schemes.get(found).title


def losses(result: "ScanResult") -> list[str]:
    """The loss of every window: weights that were read wrongly would show here."""
    longest = str(result.heads["length"].max())
    found = [
        unit["loss"]
        for name, unit in result.manifest["units"].items()
        if int(name.rpartition("L")[2]) == int(longest) and unit["loss"] is not None
    ]
    numbers = ", ".join(f"{float(loss):.2f}" for loss in found)
    if not found:
        return []
    splits = result.manifest["splits"]
    bos = splits and splits.get("bos")
    begin = f", each beginning with BOS ({bos['why']})" if bos and bos["put"] else ""
    return [f"Loss per window of {longest} tokens{begin}: {numbers} nats"]


def files(result: "ScanResult", drawn: list[Path]) -> list[str]:
    """What the run's folder holds, the page last: it is what a reader opens."""
    tables = [f"{name}.parquet" for name in result.manifest["tables"]]
    figures = {path.stem for path in drawn if path.suffix != ".html"}
    return [*tables, "manifest.json", f"figures/ ({len(figures)})", "report.html"]
