"""What `headgauge simulate` says after the run."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from headgauge.cli.output import stdout

if TYPE_CHECKING:
    from headgauge.simulation import Simulation


def document(found: "Simulation", drawn: list[Path]) -> dict[str, Any]:
    """The result as `--json` prints it: the small tables whole, the others by their files."""
    return {
        "folder": str(found.folder),
        "settings": found.manifest["settings"],
        "rates": found.tables["rates"].to_dicts(),
        "collapse": found.tables["collapse"].to_dicts(),
        "seconds": found.manifest["times"]["seconds"],
        "notes": found.manifest["notes"],
        "page": str(drawn[0]),
    }


def show(found: "Simulation", drawn: list[Path]) -> None:
    """Velocities and rates, then when the swarms collapse, then where everything is."""
    from headgauge.report import dynamics_views

    console, chosen = stdout(), found.manifest["settings"]
    if len(found.tables["rates"]):
        console.print(
            dynamics_views.velocity_view(found.tables["rates"], chosen["tokens"], chosen["beta"])
        )
        console.print(dynamics_views.final_view(found.tables["rates"]))
    if len(found.tables["collapse"]):
        console.print(
            dynamics_views.collapse_view(found.tables["collapse"], found.tables["swarms"])
        )
    for line in found.manifest["notes"]:
        console.print(line, soft_wrap=True)
    seconds = found.manifest["times"]["seconds"]
    took = ", ".join(
        f"{name} {spent:.1f} s" for name, spent in seconds.items() if name != "collapse"
    )
    console.print(f"took   {took}", soft_wrap=True)
    figures = sorted({path.stem for path in drawn[1:]})
    console.print(
        f"{found.folder}: dynamics/ ({len(found.tables)} tables), manifest.json, "
        f"figures/ ({', '.join(figures)}), report.html",
        soft_wrap=True,
    )
    console.print(f"open {drawn[0]}", soft_wrap=True)
