"""`headgauge compare MODEL` on a small model with random weights, as a user calls it."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from model_families import case


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """On documents of token ids: the model has no tokenizer."""
    place = tmp_path_factory.mktemp("models")
    case("llama", "sdpa").model.save_pretrained(place / "tiny")
    rows = [{"input_ids": [(i * i + 7 * row) % 40 + 3 for i in range(20)]} for row in range(4)]
    file = place / "rows.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    return ["compare", str(place / "tiny"), "--text", str(file), "--rules", "entmax:alpha=1.5"]


def test_the_rules_and_the_folder(
    cli: Any, asked: list[str], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    out = str(tmp_path / "run")
    code, shown, err = cli(*asked, "--out", out)
    assert code == 0, err
    assert "2 rules beside the model's own" in shown
    assert "Fitted parameters" in shown
    assert f"open {out}/report.html" in shown
    figures = {path.name for path in (tmp_path / "run" / "figures").iterdir()}
    assert {"rules.png", "rule_curves.svg", "map-entmax-alpha-1.5.svg"} <= figures
    request.getfixturevalue("undrawn")
    code, shown, err = cli(*asked, "--out", out, "--json", "--quiet")
    assert (code, err) == (0, "")
    told = json.loads(shown)["rules"]
    assert [row["rule"] for row in told] == ["model", "softmax", "entmax"]
    assert told[0]["difference"] == told[0]["kl"] == 0
    assert list(told[1]["parameters"]) == ["temperature"]
    assert told[2]["parameters"] == {"alpha": 1.5}
    table = pl.read_parquet(tmp_path / "run" / "rules.parquet")
    for name in ("loss", "difference", "error", "kl", "agreement"):
        assert [row[name] for row in told] == table[name].to_list()
    # Four documents: two are judged, two are for the fit.
    assert table["windows"].to_list() == [2, 2, 2]
    assert cli("report", out)[0] == 0


def test_mistakes_leave_nothing(cli: Any, asked: list[str], tmp_path: Path) -> None:
    for options, said in (
        (["--rules", "sparsmax"], "did you mean sparsemax"),
        (["--rules", "ssmax:s=fit/row"], "fit/head"),
        (["--windows", "4"], "no window of 20 tokens behind the 4 judged"),
        (["--heads", "9"], "has heads 0 to 3, not 9"),
        (["--fail-on", "loss>1"], "fail-on is for the comparison of runs"),
    ):
        code, shown, err = cli(*asked, "--out", str(tmp_path / "run"), "--quiet", *options)
        assert (code, shown) == (2, ""), options
        assert said in err
        assert err.count("\n") == 1
    code, shown, _ = cli(*asked, "--out", str(tmp_path / "run"), "--estimate")
    assert code == 0
    assert "of memory" in shown
    assert not (tmp_path / "run").exists()
