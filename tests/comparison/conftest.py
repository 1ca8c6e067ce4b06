from pathlib import Path

import pytest

from comparison.small_runs import make_runs
from headgauge.scanning import ScanResult


@pytest.fixture(scope="package")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="package")
def scans(folder: Path) -> dict[str, ScanResult]:
    return make_runs(folder)
