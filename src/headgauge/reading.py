"""A finished run from its folder, whichever kind it is."""

from pathlib import Path

from headgauge.ablation import Ablation
from headgauge.comparison import RuleComparison, RunComparison
from headgauge.paper.result import Reproduction
from headgauge.remedies import Remedies
from headgauge.scanning import ScanResult
from headgauge.simulation import Simulation
from headgauge.training.log.reading import TrainingLog
from headgauge.validation import Validation


def read_run(
    folder: str | Path,
) -> (
    ScanResult
    | Ablation
    | Validation
    | Remedies
    | Reproduction
    | Simulation
    | RunComparison
    | RuleComparison
    | TrainingLog
):
    """What a command, or a training that was watched, left there; nothing is computed again."""
    others = (
        *(Simulation, Reproduction, Validation, Remedies),
        *(RunComparison, RuleComparison, Ablation, TrainingLog),
    )
    kind = next((each for each in others if each.is_in(folder)), ScanResult)
    return kind.load(folder)
