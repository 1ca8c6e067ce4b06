"""What `headgauge reproduce` says after the run."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from headgauge.cli.output import stdout
from headgauge.cli.scan_views import losses, show_warnings

if TYPE_CHECKING:
    from headgauge.paper import Reproduction


def document(found: "Reproduction", drawn: list[Path]) -> dict[str, Any]:
    """The result as `--json` prints it."""
    return {
        "warnings": found.warnings(),
        "folder": str(found.folder),
        "page": str(drawn[0]),
        "stands_on": list(found.judging.stands),
        "choice": found.judging.choice,
        "chosen_on": found.judging.chosen_on,
        "notes": found.notes(),
        "verdicts": found.paper["verdicts"].to_dicts(),
        "readings": found.paper["readings"].to_dicts(),
        "choices": found.paper["choices"].to_dicts(),
        "critical_n": found.paper["fig2c"].to_dicts(),
        "timing": list(found.timing),
    }


def show(found: "Reproduction", drawn: list[Path]) -> None:
    """What it stands on, the claims, what depends on the choice, the times, where to look on."""
    from headgauge.report import paper_views

    console = stdout()
    show_warnings(console, found.warnings())
    paper, stands = found.paper, found.judging.stands
    console.print(paper_views.verdict_view(paper["verdicts"], paper["readings"], stands))
    console.print(paper_views.choice_view(paper["choices"], found.judging.chosen_on))
    console.print(paper_views.timing_view(found.timing))
    for text, scan in found.scans.items():
        for line in losses(scan):
            console.print(f"{text}: {line}", soft_wrap=True)
    for line in found.notes():
        console.print(line, soft_wrap=True)
    figures = len({path.with_suffix("") for path in drawn[1:]})
    kept = f"paper/ ({len(paper)} tables), texts/ ({len(found.scans)} runs), figures/ ({figures})"
    console.print(f"{found.folder}: {kept}, manifest.json, report.html", soft_wrap=True)
    console.print(f"open {drawn[0]}", soft_wrap=True)
