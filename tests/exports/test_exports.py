"""A scan in the forms that other tools load, read back with those tools."""

import io
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow.feather as feather
import pytest

import headgauge
from headgauge.errors import InputError
from headgauge.exports import FORMATS, export
from headgauge.exports.caches import EQUAL_ERROR
from headgauge.scanning import ScanResult
from model_families import case
from scanning.conftest import three_windows


@pytest.fixture(scope="module")
def scan(tmp_path_factory: pytest.TempPathFactory) -> ScanResult:
    """Two layers of four heads on two KV heads, with numbers that a small window cannot have."""
    place = tmp_path_factory.mktemp("run")
    model = case("llama", "sdpa").model
    found = headgauge.scan(model, three_windows(), top_n=[1, 2], out=place / "run")
    return put(
        found,
        streaming_mass=0.9 - (pl.col("layer") * 4 + pl.col("head")) * 0.1 + pl.col("window") * 0.01,
        collision_entropy=pl.col("layer") * 2.0 + pl.col("head") * 0.7 + pl.col("window") * 0.1,
    )


def put(scan: ScanResult, **numbers: pl.Expr) -> ScanResult:
    return replace(scan, tables=scan.tables | {"heads": scan.heads.with_columns(**numbers)})


def read(scan: ScanResult, format: str, place: Path) -> pd.DataFrame:
    """As a user of the format would."""
    assert export(scan, format, place / "there") == place / "there"
    source = io.BytesIO((place / "there").read_bytes())
    if format in ("csv", "tsv"):
        return pd.read_csv(source, sep="\t" if format == "tsv" else ",")
    if format in ("json", "jsonl", "pandas"):
        orient: Any = "table" if format == "pandas" else "records"
        return pd.read_json(source, orient=orient, lines=format == "jsonl")
    if format == "parquet":
        return pd.read_parquet(source)
    if format == "arrow":
        return feather.read_feather(source)
    held = np.load(source)
    shape = held["entropy"].shape
    assert shape == (2, 4)
    columns = {name: held[name].ravel() for name in held if held[name].shape == shape}
    columns["layer"] = np.repeat(held["layer"], 4)
    return pd.DataFrame(columns | {"head": np.tile(np.arange(4), 2)})


@pytest.mark.parametrize("format", FORMATS[2:])
def test_the_table_comes_back(format: str, scan: ScanResult, tmp_path: Path) -> None:
    """Every measure is its mean over the windows; what no window has is null."""
    found = read(scan, format, tmp_path).sort_values(["layer", "head"])
    assert {"verdicts", "severity", "separability", "kv_head", "seen"} <= {*found.columns}
    assert list(found["verdicts"]) == scan.frame().sort("layer", "head")["verdicts"].to_list()
    for measure in ("entropy", "output_norm", "streaming_mass"):
        means = scan.heads.group_by("layer", "head").agg(pl.mean(measure)).sort("layer", "head")
        np.testing.assert_allclose(found[measure].to_numpy(float), means[measure].to_numpy())
    assert list(found["effect"].isna()) == [True] * 8
    if format == "pandas":
        assert found.dtypes[["layer", "entropy"]].astype(str).to_list() == ["Int64", "float64"]


def test_gates_as_duo_attention_loads_them(scan: ScanResult) -> None:
    """The mean over three windows is that of window 1; the last head of each group needs most."""
    assert scan.folder is not None
    place = export(scan, "duo-attention")
    assert place == export(scan, "duo-attention") == scan.folder / "exports" / "duo-attention"
    gates = np.loadtxt(Path(place) / "full_attention_heads.tsv", dtype=float, delimiter="\t")
    np.testing.assert_allclose(gates, [[0.19, 0.39], [0.59, 0.79]], atol=1e-6)
    told = json.loads((Path(place) / "config.json").read_text())
    assert (told["sink_size"], told["recent_size"]) == (128, 256)


def test_bits_give_every_head_the_same_error(scan: ScanResult) -> None:
    told = json.loads(str(export(scan, "kv-bits", bits=5)))
    heads = told["heads"]
    assert [(each["layer"], each["kv_head"]) for each in heads] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    # The sharpest head of a group decides.
    entropies = np.array([each["collision_entropy"] for each in heads])
    np.testing.assert_allclose(entropies, [0.1, 1.5, 2.1, 3.5])
    exact = np.array([each["bits_exact"] for each in heads])
    np.testing.assert_allclose(exact.mean(), 5, atol=1e-3)
    errors = 2.0**-exact * np.exp(-entropies / 2)
    np.testing.assert_allclose(errors, errors[0], rtol=1e-3)
    assert [each["bits"] for each in heads] == [6, 5, 5, 4]  # 6.23, 5.22, 4.78, 3.77
    assert [each["effective_keys"] for each in heads] == pytest.approx(np.exp(entropies))
    assert "independent" in " ".join(told["limits"])


@pytest.mark.parametrize("asked", [2, 2.5, 4, 7.9, 8])
def test_bits_that_are_cut_off_go_to_the_others(scan: ScanResult, asked: float) -> None:
    """Entropies far apart: the mean is what was asked for, as near as one step of one head."""
    wide = put(scan, collision_entropy=(pl.col("layer") * 4 + pl.col("head")) * 3.0)
    told = json.loads(str(export(wide, "kv-bits", bits=asked)))
    bits = [each["bits"] for each in told["heads"]]
    assert bits == sorted(bits, reverse=True)
    assert {*bits} <= {2, 3, 4, 5, 6, 8}
    assert asked - 2 / len(bits) < told["mean_bits"] <= asked
    assert told["slope"] == EQUAL_ERROR
    flat = json.loads(str(export(wide, "kv-bits", bits=4, slope=0)))
    assert {each["bits"] for each in flat["heads"]} == {4}


def test_what_cannot_be_handed_on_is_one_line(scan: ScanResult, tmp_path: Path) -> None:
    none = pl.lit(None, pl.Float64)

    def refused(said: str, run: Any, format: str, **more: Any) -> None:
        with pytest.raises(InputError, match=said):
            export(run, format, **more)

    def with_manifest(**changed: Any) -> ScanResult:
        return replace(scan, manifest=scan.manifest | changed)

    refused("no format named 'xml'; there are duo-attention, kv-bits, csv", scan, "xml")
    refused("no run of headgauge: there is no such folder", tmp_path / "nothing", "csv")
    refused("takes a scan or its folder, got dict", {}, "csv")
    refused("bits must be in 2 to 8, got 16", scan, "kv-bits", bits=16)
    refused("bits must be in 2 to 8, got nan", scan, "kv-bits", bits=math.nan)
    refused("slope must be 0 or more bits per nat, got -1", scan, "kv-bits", slope=-1)
    refused("bits are for kv-bits, not for csv", scan, "csv", bits=4)
    short = put(scan, streaming_mass=pl.when(layer=1).then(none).otherwise(0.5))
    refused("in layer 1: it needs rows with more than 384 keys", short, "duo-attention")
    refused("in layers 0, 1: a sliding window", put(scan, collision_entropy=none), "kv-bits")
    uneven = put(scan, kv_head=pl.col("kv_head") * (1 - pl.col("layer")))
    refused("layer 1 has 1, layer 0 2", uneven, "duo-attention")
    some = with_manifest(settings=scan.manifest["settings"] | {"heads": [0]})
    refused("the run has only some heads", some, "kv-bits")
    model: Any = scan.manifest["model"]
    encoder = with_manifest(model=model | {"facts": model["facts"] | {"kind": "encoder"}})
    refused("this model is an encoder", encoder, "kv-bits")
    refused("say where with out", replace(scan, folder=None), "numpy")
    (tmp_path / "paper").mkdir()
    refused("is a reproduction: export the scan of one of its texts", tmp_path, "csv")
    (tmp_path / "mine.csv").write_text("mine")
    refused("mine.csv is there already", scan, "csv", out=tmp_path / "mine.csv")
    assert (tmp_path / "mine.csv").read_text() == "mine"
    assert scan.folder is not None
    refused("heads.parquet is there", scan, "parquet", out=scan.folder / "heads.parquet")


def test_measured_on_some_of_the_rows_is_said() -> None:
    model = case("llama", "sdpa").model
    some, whole = (
        headgauge.scan(model, three_windows(), top_n=[1], rows=rows) for rows in (9, None)
    )
    told = json.loads(export(some, "kv-bits"))["measured_on"]  # pyright: ignore[reportArgumentType]
    assert told == f"{whole.caption()}, 9 of 24 query rows per head"
