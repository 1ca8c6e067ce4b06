"""What `headgauge compare RUN RUN …` asks: finished scans beside each other, head by head."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from headgauge.errors import InputError
from headgauge.options.commands import CompareOptions
from headgauge.runs.manifest_file import find_manifest
from headgauge.scanning import ScanResult


def single_run(given: ScanResult | str | Path) -> None:
    """Refuse one run where a model is wanted."""
    if isinstance(given, ScanResult) or (Path(given).is_dir() and find_manifest(Path(given))):
        what = "a scan" if isinstance(given, ScanResult) else f"{given}, a run of headgauge,"
        raise InputError(f"{what} was given alone: give two runs or more, or one model")


def compare_runs(given: Sequence[Any], asked: CompareOptions) -> Any:
    raise InputError("runs cannot be compared yet")
