"""What a result can do with its tables."""

import re
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import torch
from torch import Tensor

import headgauge
from headgauge.errors import InputError
from headgauge.report.page import page as page_of
from headgauge.report.page.document import page_bytes
from headgauge.scanning import ScanResult
from headgauge.scanning.thresholds import DEFAULT
from model_families import LENGTH, case


@pytest.fixture(scope="module")
def scanned() -> ScanResult:
    ids = torch.randint(3, 50, (3, LENGTH), generator=torch.Generator().manual_seed(5))
    model = case("llama", "sdpa").model
    return headgauge.scan(model, ids, top_n=[1, 2, 4, 16], threads=1, length=[6, 12, 24])


@pytest.fixture
def result(scanned: ScanResult) -> ScanResult:
    """Of whose manifest a test may change what it likes."""
    return replace(scanned, manifest=deepcopy(scanned.manifest))


def test_frames(result: ScanResult) -> None:
    assert len(result.frame()) == 8
    assert result.frame()["severity"].is_sorted(descending=True)
    assert result.layers()["heads"].to_list() == [4, 4]
    assert result.counts()["heads"].sum() >= 8
    # Judged at the longest length.
    assert set(result.verdicts()["length"]) == {24}
    assert set(result.verdicts(length=12)["length"]) == {12}


def test_trends(result: ScanResult) -> None:
    trends = result.capacity(256)
    assert set(trends["target"]) == {256}
    assert trends.filter(measure="effective_n")["slope"].null_count() == 0
    assert set(result.outlook(256)["verdict"]) <= {threshold.verdict for threshold in DEFAULT}


def test_other_thresholds(result: ScanResult, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text("[unstable.jacobian_norm]\nvalue = 1e-6\n")
    strict = result.with_thresholds(file)
    assert strict.counts().filter(verdict="unstable")["heads"].item() == 8
    named = strict.verdicts().filter(verdict="unstable")
    assert set(named["source"]) == {"mine.toml"}


def test_kept_and_copied(result: ScanResult, tmp_path: Path) -> None:
    kept = result.save(tmp_path / "first")
    loaded = ScanResult.load(tmp_path / "first")
    copied = loaded.save(tmp_path / "second")
    for one, two in ((kept, result), (loaded, result), (copied, result)):
        assert one.heads.sort(pl.all()).equals(two.heads.sort(pl.all()))
        assert one.curves.sort(pl.all()).equals(two.curves.sort(pl.all()))
    for name in ("heads", "curves", "samples"):
        first, second = (tmp_path / where / f"{name}.parquet" for where in ("first", "second"))
        assert first.read_bytes() == second.read_bytes()


def test_what_has_no_folder_cannot_be_drawn_there(result: ScanResult) -> None:
    with pytest.raises(InputError, match="no folder to draw into"):
        headgauge.draw(result)


def sections(result: ScanResult) -> dict[str, Any]:
    return {part["id"]: part for part in page_of(result).sections if part is not None}


def test_the_stream_by_layer(llama: Any, ids: Tensor, tmp_path: Path) -> None:
    result = headgauge.scan(llama, ids, top_n=[1, 2], threads=1, depth=True)
    kept = result.save(tmp_path / "first")
    copied = ScanResult.load(tmp_path / "first").save(tmp_path / "second")
    assert kept.depth is not None
    assert copied.depth is not None
    assert copied.depth.equals(kept.depth)
    assert copied.scheme().scheme == "pre_ln"
    assert copied.scheme().evidence.startswith("All 2 layers have a norm before")
    assert len(copied.depth_curves()) == 6 * 3
    assert copied.depth_layers()["predicted_cosine"].null_count() == 0
    assert any(note.startswith("depth: Pre-LN") for note in copied.notes())
    assert "depth" in sections(copied)


def test_without_depth_it_is_told(result: ScanResult) -> None:
    assert result.depth is None
    assert not any(note.startswith("depth") for note in result.notes())
    for asked in (result.scheme, result.depth_curves, result.depth_layers):
        with pytest.raises(InputError, match="repeat it with depth"):
            asked()


def in_notebook(result: ScanResult) -> str:
    shown = result._repr_html_()
    assert shown is not None
    return shown


def test_random_weights_are_told_before_any_number(result: ScanResult) -> None:
    for unit in result.manifest["units"].values():
        unit["loss"] = 9.0  # more than that of guessing
    (said,) = result.warnings()
    assert said.startswith("random weights: a loss of")
    assert result.notes()[0] == said
    page = page_bytes(page_of(result)).decode()
    for shown in (in_notebook(result), page.split("<body>")[1].split("</h1>")[1], repr(result)[1:]):
        at = shown.index("random weights: a loss of")
        words = re.sub(r"<[^>]*>", "", shown[:at])
        assert not re.search(r"\d", words), words
    assert page.count(said) == 1
    trained = replace(result, manifest={**result.manifest, "units": {}})
    assert trained.warnings() == []
    assert "Warning" not in in_notebook(trained)


def test_an_outlook_is_kept_and_drawn_again(llama: Any, ids: Tensor, tmp_path: Path) -> None:
    asked: dict[str, Any] = {"top_n": [1], "threads": 1, "length": [6, 12, 24], "layers": [0]}
    kept = headgauge.scan(llama, ids, out=tmp_path / "run", **asked)
    tables = {path: path.read_bytes() for path in kept.folder.glob("*.parquet")}  # type: ignore
    assert "outlook" not in sections(kept)
    for target in (256, 64):  # the last one asked for counts
        kept.keep_outlook(target)
        read = headgauge.read_run(tmp_path / "run")
        assert isinstance(read, ScanResult)
        assert read.target() == target
        told = read.manifest.get("outlook")
        assert told is not None
        assert told["verdicts"] == kept.outlook(target).to_dicts()
        assert told["grounds"]["notes"] == kept.outlook_grounds(target).notes()
        assert f"Outlook at {target} tokens" in sections(read)["outlook"]["title"]
    assert {path: path.read_bytes() for path in tables} == tables
    assert kept.target() is None
    # Without a folder it goes along with the result.
    assert replace(kept, folder=None).keep_outlook(512).target() == 512
    assert headgauge.read_run(tmp_path / "run").target() == 64  # type: ignore[union-attr]


def test_shown_in_a_notebook(result: ScanResult) -> None:
    html = in_notebook(result)
    assert "L = 6, 12, 24" in html
    assert "3 windows" in html
    assert "<script" not in html
    assert "scan of LlamaForCausalLM: 8 heads, 3 windows; " in repr(result)


def test_a_layer_that_was_not_seen_is_told(result: ScanResult) -> None:
    unit = next(iter(result.manifest["units"].values()))
    unit["unseen"] = ["model.layers.7.self_attn"]
    assert "model.layers.7.self_attn could not be measured" in " ".join(result.notes())


def test_tables_go_to_pandas(result: ScanResult) -> None:
    moved = result.heads.to_pandas()
    assert list(moved.columns) == result.heads.columns
    assert moved["sink_weight"].tolist() == result.heads["sink_weight"].to_list()


def test_a_head_and_a_table_are_drawn(result: ScanResult) -> None:
    for sheet in (headgauge.plot(result, 1, 3), headgauge.plot(result, "curves")):
        assert sum(axes.axison for axes in sheet.axes) == 3  # legends stand in axes of their own
    for asked in ((7, 0), (0, 9), (0, None), ("depth", None)):
        with pytest.raises(InputError):
            headgauge.plot(result, *asked)
