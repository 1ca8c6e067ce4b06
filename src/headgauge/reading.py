"""A finished run from its folder, whichever kind it is."""

from pathlib import Path

from headgauge.paper.result import Reproduction
from headgauge.scanning import ScanResult
from headgauge.simulation import Simulation
from headgauge.validation import Validation


def read_run(folder: str | Path) -> ScanResult | Reproduction | Simulation | Validation:
    """What `scan`, `reproduce`, `simulate` or `validate` left there; nothing is computed again."""
    kinds = (Simulation, Reproduction, Validation)
    return next((each for each in kinds if each.is_in(folder)), ScanResult).load(folder)
