"""What `headgauge reproduce` says after the run."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from headgauge.cli.output import stdout
from headgauge.cli.scan_views import files, losses

if TYPE_CHECKING:
    from headgauge.experiments import Reproduction


def document(found: "Reproduction", drawn: list[Path]) -> dict[str, Any]:
    """The result as `--json` prints it."""
    return {
        "folder": str(found.folder),
        "page": str(drawn[0]),
        "notes": found.scan.notes(),
        "verdicts": found.paper["verdicts"].to_dicts(),
        "choices": found.paper["choices"].to_dicts(),
        "critical_n": found.paper["fig2c"].to_dicts(),
        "timing": list(found.timing),
    }


def show(found: "Reproduction", drawn: list[Path]) -> None:
    """The claims, what hangs on the choice, the times, and where to look on."""
    from headgauge.report import paper_views

    console = stdout()
    console.print(paper_views.verdict_view(found.paper["verdicts"]))
    console.print(paper_views.choice_view(found.paper["choices"]))
    console.print(paper_views.timing_view(found.timing))
    for line in (*losses(found.scan), *found.scan.notes()):
        console.print(line, soft_wrap=True)
    console.print(f"{found.folder}: {', '.join(files(found.scan, drawn))}", soft_wrap=True)
    console.print(f"open {drawn[0]}", soft_wrap=True)
