"""Windows of their own for naming, judging and choosing; what cannot be had is refused."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

import headgauge
from headgauge import models
from headgauge.errors import InputError
from headgauge.options.commands import RemedyOptions
from headgauge.remedies import make_remedy, remedy_settings, scan_in, scan_source, scan_text
from headgauge.remedies.planning import RemedyPlan
from headgauge.scanning import Plan, ScanResult
from model_families import case


def plan(model: Any, tokens: Any, scan: ScanResult | None = None, **asked: Any) -> RemedyPlan:
    return make_remedy(model, tokens, remedy_settings(RemedyOptions(threads=1, **asked)), scan)


@pytest.fixture(scope="module")
def scan(loaded: models.LoadedModel, tokens: Tensor) -> ScanResult:
    return headgauge.scan(loaded, tokens, length=40, windows=2, offset=10, threads=1)


def test_a_model_is_scanned_first(loaded: models.LoadedModel, tokens: Tensor) -> None:
    made = plan(loaded, tokens, length=40, windows=2, offset=5)
    assert isinstance(made.scan, Plan)
    assert [unit.start for unit in made.scan.units] == [5, 45]
    assert [unit.start for unit in made.judged.units] == [85, 125]
    assert made.judged.units[1].ids == tuple(tokens[125:165].tolist())
    assert [each.tolist() for each in made.calibration] == [tokens[165:205].tolist()]
    assert made.settings.calibration == 1
    assert made.scan.settings.lengths == (40,)


def test_the_windows_of_a_scan_are_not_judged(
    loaded: models.LoadedModel, tokens: Tensor, scan: ScanResult
) -> None:
    made = plan(loaded, tokens, scan)  # 7 windows of 40 are left: 4 to judge, 2 to choose
    assert [unit.start for unit in made.judged.units] == [90, 130, 170, 210]
    assert [int(each[0]) for each in made.calibration] == [int(tokens[250]), int(tokens[290])]
    assert made.scan is scan
    shorter = plan(loaded, tokens, scan, length=20, windows=1)
    assert [unit.start for unit in shorter.judged.units] == [90]
    assert len(shorter.calibration[0]) == 20


def test_rows_of_tokens_are_windows(loaded: models.LoadedModel, tokens: Tensor) -> None:
    rows = tokens.reshape(20, 20).unbind()
    made = plan(loaded, rows, windows=2)
    assert isinstance(made.scan, Plan)
    assert [unit.ids for unit in made.scan.units] == [tuple(each.tolist()) for each in rows[:2]]
    assert [unit.ids for unit in made.judged.units] == [tuple(each.tolist()) for each in rows[2:4]]
    assert made.calibration[0].tolist() == rows[4].tolist()


def test_sizes_that_nobody_asked_for_fit_the_text(loaded: models.LoadedModel) -> None:
    few = torch.arange(3, 63)
    made = plan(loaded, few % 50 + 3)
    assert made.settings.length == 20
    assert (made.settings.windows, made.settings.calibration) == (1, 1)
    made = plan(loaded, few % 50 + 3, length=10)
    assert (made.settings.windows, made.settings.calibration) == (2, 1)


def test_bad_input(loaded: models.LoadedModel, tokens: Tensor, scan: ScanResult) -> None:
    other = models.wrap(case("llama", "sdpa").model, None)
    refused: list[tuple[str, Any, Any, Any, dict[str, Any]]] = [
        ("room for 9 windows of 40 tokens, but remedies need 10", loaded, tokens, None,
         {"windows": 4, "length": 40, "offset": 20}),
        ("has 7 windows of 40 tokens left behind the 2 of the scan, but remedies need 9", loaded,
         tokens, scan, {"windows": 6}),
        ("is not the model of the scan", other, tokens, scan, {}),
        ("is not the text of the scan", loaded, tokens[:-1], scan, {}),
        ("is an encoder", models.wrap(case("bert", "eager").model, None), tokens, None, {}),
        ("no verdict named 'sunk'", loaded, tokens, None, {"verdicts": ["sunk"]}),
        ("draws must be in 1 to 1000, got 0", loaded, tokens, None, {"draws": 0}),
        ("windows must be in 1", loaded, tokens, None, {"windows": 0}),
    ]  # fmt: skip
    for words, model, text, given, asked in refused:
        with pytest.raises(InputError, match=words):
            plan(model, text, given, **asked)


def test_a_scan_is_found_in_its_folder(
    loaded: models.LoadedModel, tokens: Tensor, scan: ScanResult, tmp_path: Path
) -> None:
    assert scan_in(scan) is scan
    assert scan_in("default") is None
    assert scan_in(None) is None
    scan.save(tmp_path / "scan")
    found = scan_in(tmp_path / "scan")
    assert found is not None
    assert found.verdicts().equals(scan.verdicts())
    asked: dict[str, Any] = {"length": 16, "windows": 1, "layers": [0], "threads": 1}
    headgauge.ablate(loaded, tokens, out=tmp_path / "ablated", **asked)
    with pytest.raises(InputError, match="ablated is a run of another kind"):
        scan_in(tmp_path / "ablated")


def test_model_and_text_are_found_again_by_their_names(scan: ScanResult) -> None:
    with pytest.raises(InputError, match="does not say where its model"):
        scan_source(scan, None)
    with pytest.raises(InputError, match="does not say where its text tokens lies"):
        scan_text(scan, None)
    manifest: Any = scan.manifest
    known = replace(
        scan,
        manifest=manifest
        | {"model": manifest["model"] | {"source": "default"}}
        | {"data": manifest["data"] | {"name": "python-reference"}},
    )
    source = scan_source(known, None)
    assert isinstance(source, models.ModelSource)
    assert source.name == "default"
    assert scan_text(known, None) == "python-reference"
    assert scan_text(known, "mine.txt") == "mine.txt"
