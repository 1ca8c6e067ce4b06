"""`headgauge export` on a folder: text on stdout, files where they are said to be."""

from pathlib import Path
from typing import Any

import polars as pl

import headgauge
from model_families import case
from scanning.conftest import three_windows


def test_a_folder_is_handed_on(cli: Any, tmp_path: Path) -> None:
    run = tmp_path / "run"
    headgauge.scan(case("llama", "sdpa").model, three_windows(), top_n=[1, 2], layers=[0], out=run)
    code, out, err = cli("export", str(run))
    assert (code, err) == (0, "")
    table = pl.read_csv(out.encode())
    assert table.select("layer", "head").rows() == [(0, head) for head in range(4)]
    code, out, _ = cli("export", str(run), "--format", "parquet")
    assert (code, out) == (0, f"{run}/exports/heads.parquet\n")
    assert pl.read_parquet(run / "exports" / "heads.parquet").height == 4
    code, out, err = cli("export", str(run), "--format", "duo-attention")
    assert (code, out) == (2, "")
    assert err.startswith("headgauge: the run has only some layers: scan without --layers")
