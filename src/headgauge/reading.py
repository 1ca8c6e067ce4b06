"""A finished run from its folder, whichever kind it is."""

from pathlib import Path

from headgauge.ablation import Ablation
from headgauge.paper.result import Reproduction
from headgauge.scanning import ScanResult
from headgauge.simulation import Simulation


def read_run(folder: str | Path) -> ScanResult | Ablation | Reproduction | Simulation:
    """What `scan`, `ablate`, `reproduce` or `simulate` left there; nothing is computed again."""
    others = (Simulation, Reproduction, Ablation)
    kind = next((each for each in others if each.is_in(folder)), ScanResult)
    return kind.load(folder)
