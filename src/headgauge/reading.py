"""A finished run from its folder, whichever kind it is."""

from pathlib import Path

from headgauge.paper.result import Reproduction
from headgauge.scanning import ScanResult
from headgauge.simulation import Simulation


def read_run(folder: str | Path) -> ScanResult | Reproduction | Simulation:
    """What `scan`, `reproduce` or `simulate` left there; nothing is computed again."""
    kind = next((each for each in (Simulation, Reproduction) if each.is_in(folder)), ScanResult)
    return kind.load(folder)
