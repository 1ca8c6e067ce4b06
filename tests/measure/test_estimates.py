"""Estimates that grow with the run, and hold what is really written."""

import math
from pathlib import Path
from typing import Any

import pytest
from torch import Tensor

import headgauge
from headgauge.measure import estimates
from headgauge.measure.plan import source_of
from headgauge.scanning import ScanSettings, estimate, run_scan, scan_plan


def _plan(model: Any, ids: Tensor, **choices: Any) -> Any:
    settings = ScanSettings(**({"lengths": (24,), "windows": 3, "top_ns": (1, 2, 4)} | choices))
    return scan_plan(source_of(model, None, None, None), ids, settings)


def test_it_grows_with_the_run(llama: Any, ids: Tensor) -> None:
    small = estimate(_plan(llama, ids, windows=1))
    large = estimate(_plan(llama, ids, keep_rows=True))
    assert small.seconds > 0
    assert 0 < small.memory < 2**31
    assert small.disk < large.disk
    assert estimate(_plan(llama, ids), left=0).seconds == 0
    deep = estimate(_plan(llama, ids, windows=1, depth=True))
    assert small.disk < deep.disk
    assert small.memory < deep.memory


def test_some_rows_are_some_of_the_time(
    llama: Any, ids: Tensor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(estimates, "_measure_rate", lambda plan, task: 1.0)
    monkeypatch.setattr(estimates, "_forward_rate", lambda plan: math.inf)
    whole, some, more = (
        estimate(_plan(llama, ids, rows=rows, keep_rows=True)) for rows in (None, 6, 600)
    )
    assert some.seconds == whole.seconds / 4
    assert some.disk < whole.disk
    assert more == whole  # a window has no more than 24


def test_the_disk_is_enough(llama: Any, ids: Tensor, tmp_path: Path) -> None:
    plan = _plan(llama, ids, keep_rows=True, depth=True)
    needed = estimate(plan).disk
    drawn = headgauge.draw(run_scan(plan, tmp_path / "run"))
    figures = tmp_path / "run" / "figures"
    assert {figures / "heads.png", figures / "depth.png"} <= set(drawn)
    written = sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file())
    assert written < needed < 20 * written
