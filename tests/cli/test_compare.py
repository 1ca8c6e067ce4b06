"""`headgauge compare` on small runs: what it prints, writes and answers a build with."""

import json
from pathlib import Path
from typing import Any

import pytest

from comparison.small_runs import make_runs
from headgauge.runs.comparison_schema import COMPARISON_TABLES
from shape_checks import shapes_unchecked


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    make_runs(folder)
    return folder


@pytest.fixture(autouse=True)
def here(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(runs)


def test_two_runs_are_printed_and_nothing_is_written(cli: Any, runs: Path) -> None:
    before = sorted(runs.rglob("*"))
    code, out, err = cli("compare", "step0", "step1")
    assert (code, err) == (0, "")
    for said in ("The runs", "Measures, step1 against step0", "Heads per verdict and role"):
        assert said in out
    assert "Warning: step0: random weights" in out
    assert "step1 against step0: the loss is" in out
    assert sorted(runs.rglob("*")) == before


def test_a_series(cli: Any) -> None:
    code, out, _ = cli("compare", "step0", "step1", "step2", "--layers", "1")
    assert code == 0
    assert "Measures, step2 against step0" in out
    assert "4 heads; the same windows" in out


def test_a_folder_with_its_page(cli: Any, tmp_path: Path, undrawn: None) -> None:
    out = tmp_path / "kept"
    with shapes_unchecked():
        code, printed, _ = cli("compare", "step0", "step1", "step2", "--out", str(out))
    assert code == 0
    assert f"open {out / 'report.html'}" in printed
    for name in COMPARISON_TABLES:
        assert (out / "comparison" / f"{name}.parquet").is_file()
    page = (out / "report.html").read_text()
    assert '"kind":"compared"' in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    file = tmp_path / "mine.toml"
    file.write_text("[inactive.output_ratio]\nvalue = 0.5\n")
    code, _, err = cli("report", str(out), "--thresholds", str(file))
    assert code == 2
    assert "a comparison has judged its runs" in err


def test_a_build_fails_with_one(cli: Any) -> None:
    code, out, _ = cli("compare", "step0", "step1", "--fail-on", "loss>-99,inactive>8")
    assert code == 1
    lines = [line for line in out.splitlines() if line.startswith("fail-on: ")]
    assert len(lines) == 1
    assert lines[0].startswith("fail-on: loss>-99 holds: the loss differs by ")
    code, out, _ = cli(
        "compare", "step0", "step1", "--fail-on", "loss>99", "--fail-on", "entropy>9"
    )
    assert code == 0
    assert "fail-on" not in out


def test_json_for_a_build(cli: Any) -> None:
    asked = ("compare", "step0", "step1", "--json", "--fail-on", "loss>-99", "--fail-on", "loss>99")
    code, out, err = cli(*asked)
    told = json.loads(out)
    assert code == 1
    assert [each["holds"] for each in told["fail_on"]] == [True, False]
    assert told["failed"] == [
        told["fail_on"][0]["condition"] + " holds: " + told["fail_on"][0]["words"]
    ]
    assert err.startswith("fail-on: loss>-99 holds")
    assert (told["folder"], told["page"]) == (None, None)
    assert [row["side"] for row in told["sides"]] == ["step0", "step1"]
    assert {row["measure"] for row in told["measures"]} >= {"loss", "separability", "sink_weight"}
    assert len(told["heads"]) == 8
    assert cli(*asked, "--quiet")[2] == ""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["step0"], "the run step0 was given alone: give two runs or more, or one model"),
        (["step0", "nowhere"], "nowhere is no run of headgauge: there is no such folder"),
        (["step0", "."], ". is no run of headgauge: it holds no run"),
        (["step0", "step1", "--fail-on", "nonsense>0"], "no measure, verdict or role named"),
        (["step0", "step1", "--fail-on", "effect>0"], "not both runs have a number for effect"),
        (["step0", "step1", "--rules", "ssmax"], "rules is for the comparison of a model"),
        (["step0", "step1", "--length", "9"], "length is for the comparison of a model"),
        (["step0", "step1", "--heads", "9"], "there is no head 9 in this run"),
        (["default", "--model", "other"], "two models were given, default and other: give one"),
        (["default", "--fail-on", "loss>0"], "fail-on is for the comparison of runs"),
    ],
)
def test_mistakes_are_one_line(cli: Any, tmp_path: Path, arguments: list[str], said: str) -> None:
    out = tmp_path / "out"
    code, printed, err = cli("compare", *arguments, "--out", str(out))
    assert (code, printed) == (2, "")
    assert said in err
    assert err.count("\n") == 1
    assert not out.exists()
