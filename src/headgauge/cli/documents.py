"""What `--json` prints of each result."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headgauge.ablation import Ablation
    from headgauge.comparison import RuleComparison, RunComparison
    from headgauge.paper import Reproduction
    from headgauge.remedies import Remedies
    from headgauge.report.watching import Watched
    from headgauge.scanning import ScanResult
    from headgauge.simulation import Simulation
    from headgauge.validation import Validation


def scan_document(result: "ScanResult", target: int | None, worst: bool) -> dict[str, Any]:
    found: dict[str, Any] = {
        "warnings": result.warnings(),
        "folder": str(result.folder),
        "stands_on": result.stands(),
        "finding": result.finding(),
        "loss": {name: unit["loss"] for name, unit in result.manifest["units"].items()},
        "notes": result.notes(),
        "counts": result.counts().to_dicts(),
        "heads": (result.worst()[0] if worst else result.frame()).to_dicts(),
        "verdicts": result.verdicts().to_dicts(),
        "roles": result.roles().to_dicts(),
    }
    if result.depth is not None:
        found["scheme"] = asdict(result.scheme())
        found["depth"] = result.depth_layers().to_dicts()
        found["depth_curves"] = result.depth_curves().to_dicts()
    if target is not None:
        found["outlook"] = result.outlook(target).to_dicts()
        found["outlook_grounds"] = result.outlook_grounds(target).as_dict()
    return found


def watch_document(watched: "Watched") -> dict[str, Any]:
    """What is not finite is the text "nan", "inf" or "-inf", as in the log."""
    from headgauge.runs.json_files import plain
    from headgauge.training.log.words import by_layer, caption, finding, spread

    log, measure = watched.log, watched.measure
    found = {
        "model": log.header["model"],
        "stands_on": [caption(log)],
        "finding": finding(log),
        "step": int(log.steps[-1, 1]) if log.lines else None,
        "loss": log.loss,
        "every": log.every,
        "lines": log.lines,
        "closed": log.closed,
        "last_written_seconds_ago": round(watched.ago, 1),
        "alarms": [each._asdict() for each in log.present.values()],
        "raised": dict(log.counts),
        "measures": {name: spread(log, name) for name in log.measures()},
        "measure": measure,
        "heads": by_layer(log, measure),
        "notes": [f"step {step}: {note}" for step, note in log.notes],
    }
    return plain(found)


def ablation_document(result: "Ablation") -> dict[str, Any]:
    return {
        "folder": str(result.folder),
        "stands_on": [result.caption()],
        "loss": {name: unit["loss"] for name, unit in result.manifest["units"].items()},
        "notes": result.notes(),
        "effects": result.effects.to_dicts(),
    }


def rules_document(result: "RuleComparison", drawn: list[Path]) -> dict[str, Any]:
    """The heads' tables by their files."""
    return {
        **_opening(result, drawn),
        "rules": result.document(),
        "fits": result.tables["fits"].to_dicts(),
        "windows": result.tables["window_rules"].to_dicts(),
        "seconds": result.pass_seconds(),
    }


def reproduction_document(result: "Reproduction", drawn: list[Path]) -> dict[str, Any]:
    return {
        "warnings": result.warnings(),
        "folder": str(result.folder),
        "page": str(drawn[0]),
        "stands_on": list(result.judging.stands),
        "finding": result.finding(),
        "choice": result.judging.choice,
        "chosen_on": result.judging.chosen_on,
        "notes": result.notes(),
        "verdicts": result.paper["verdicts"].to_dicts(),
        "readings": result.paper["readings"].to_dicts(),
        "choices": result.paper["choices"].to_dicts(),
        "critical_n": result.paper["fig2c"].to_dicts(),
        "timing": list(result.timing),
    }


def validation_document(result: "Validation", drawn: list[Path]) -> dict[str, Any]:
    return {
        **_opening(result, drawn),
        "comparisons": result.comparisons(),
        "decided": result.decided().to_dicts(),
        **{name: table.to_dicts() for name, table in result.tables.items()},
    }


def comparison_document(result: "RunComparison", drawn: list[Path]) -> dict[str, Any]:
    """All but the largest table, the values run by run, which a folder has."""
    small = {name: table for name, table in result.tables.items() if name != "values"}
    return {
        **_opening(result, drawn),
        "fail_on": [asdict(each) for each in result.answers()],
        "failed": result.failing(),
        **{name: table.to_dicts() for name, table in small.items()},
    }


def remedy_document(result: "Remedies", drawn: list[Path]) -> dict[str, Any]:
    return {
        **_opening(result, drawn),
        **{name: table.to_dicts() for name, table in result.tables.items() if name != "numbers"},
        "heads": result.heads().to_dicts(),
    }


def _opening(
    result: "RuleComparison | Validation | RunComparison | Remedies", drawn: list[Path]
) -> dict[str, Any]:
    """What is said of a result before its numbers; no folder and page where none was asked for."""
    return {
        "warnings": result.warnings(),
        "folder": None if result.folder is None else str(result.folder),
        "page": str(drawn[0]) if drawn else None,
        "stands_on": result.stands(),
        "finding": result.finding(),
        "notes": result.notes(),
    }


def simulation_document(result: "Simulation", drawn: list[Path]) -> dict[str, Any]:
    """The small tables whole, the others by their files."""
    return {
        "folder": str(result.folder),
        "settings": result.manifest["settings"],
        "finding": result.finding(),
        "rates": result.tables["rates"].to_dicts(),
        "collapse": result.tables["collapse"].to_dicts(),
        "seconds": result.manifest["times"]["seconds"],
        "notes": result.manifest["notes"],
        "page": str(drawn[0]),
    }
