from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from headgauge.cli import running
from headgauge.options.commands import CompareOptions, ScanOptions


@pytest.mark.parametrize("command", ["scan", "reproduce"])
def test_a_model_that_is_not_there_and_a_revision_of_one_that_is(cli, command: str, tmp_path: Path):
    for options, reason in (
        (["./nothere"], "no such file or folder: './nothere'"),
        ([str(tmp_path), "--revision", "v1"], "a revision is for models of the hub"),
    ):
        code, out, err = cli(command, *options, "--out", str(tmp_path / "run"), "--quiet")
        assert code == 2
        assert out == ""
        assert reason in " ".join(err.split())
        assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("asked", "device", "what"),
    [
        (ScanOptions(), "mps", "scan"),
        (ScanOptions(precision="float64"), "cpu", "scan-float64"),
        (ScanOptions(dtype="float64"), "cpu", "scan"),
        (ScanOptions(precision="float64", device="mps"), "mps", None),
        (CompareOptions(), "mps", "compare"),
    ],
)
def test_a_device_with_float64_where_that_is_measured_and_what_is_compiled(
    asked: Any, device: str, what: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[str] = []
    monkeypatch.setattr("headgauge.first_use.start", begun.append)
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    monkeypatch.setattr("torch.backends.mps.is_available", lambda: True)
    monkeypatch.setattr("headgauge.devices._mps_ranks", lambda: True)
    monkeypatch.setattr(running, "loaded", lambda source, *_: source)
    running.compile_kernels(asked, "compare" if what == "compare" else "scan")
    assert begun == ([] if what is None else [what])
    assert running.loaded_source("default", asked, Console()).device == device


def test_a_simulation_waits_for_its_kernels(
    cli: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []

    def waiting() -> Iterator[tuple[int, int]]:
        done.append("waited")
        yield 1, 2

    monkeypatch.setattr("headgauge.first_use.start", done.append)
    monkeypatch.setattr("headgauge.first_use.waiting", waiting)
    monkeypatch.setattr("headgauge.simulation.run_settings", lambda *_: pytest.fail(str(done)))
    with pytest.raises(pytest.fail.Exception, match="\\['simulate', 'waited'\\]"):
        cli("simulate", "--device", "cpu", "--out", str(tmp_path / "run"))
