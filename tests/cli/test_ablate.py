"""`headgauge ablate` on a small model with random weights, as a user calls it."""

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
    rows = [{"input_ids": [(i * i + 7 * row) % 40 + 3 for i in range(24)]} for row in range(4)]
    file = place / "rows.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    return ["ablate", str(place / "tiny"), "--text", str(file), "--windows", "2"]


def test_the_largest_effects_and_the_folder(cli: Any, asked: list[str], tmp_path: Path) -> None:
    out = str(tmp_path / "run")
    code, shown, err = cli(*asked, "--out", out, "--layers", "0", "--jobs", "1")
    assert code == 0, err
    assert "4 heads, the largest effect first" in shown
    assert f"{out}: means.parquet, window_effects.parquet, effects.parquet, manifest.json" in shown
    table = pl.read_parquet(tmp_path / "run" / "effects.parquet")
    assert table["layer"].to_list() == [0] * 4
    code, shown, err = cli(*asked, "--out", out, "--layers", "0", "--json", "--quiet")
    assert (code, err) == (0, "")
    assert json.loads(shown)["effects"] == table.to_dicts()
    code, _, err = cli("report", out)
    assert code == 2
    assert "nothing to draw" in err
    assert err.count("\n") == 1


def test_mistakes_leave_nothing(cli: Any, asked: list[str], tmp_path: Path) -> None:
    groups = tmp_path / "groups.json"
    groups.write_text('{"a": ["L0H9"]}')
    for options, said in (
        (["--groups", str(groups)], "has heads L0H0 to L1H3, not L0H9"),
        (["--how", "none"], "no how named 'none'"),
    ):
        code, shown, err = cli(*asked, "--out", str(tmp_path / "run"), "--quiet", *options)
        assert (code, shown) == (2, "")
        assert said in err
        assert err.count("\n") == 1
    code, shown, _ = cli(*asked, "--out", str(tmp_path / "run"), "--estimate")
    assert code == 0
    assert "of memory" in shown
    assert not (tmp_path / "run").exists()
