"""A finished run from its folder, whichever kind it is."""

from pathlib import Path

from headgauge.diagnostics import ScanResult
from headgauge.dynamics import Simulation
from headgauge.experiments.result import Reproduction


def read_run(folder: str | Path) -> ScanResult | Reproduction | Simulation:
    """What `scan`, `reproduce` or `simulate` left there; nothing is computed again."""
    kind = next((each for each in (Simulation, Reproduction) if each.is_in(folder)), ScanResult)
    return kind.load(folder)
