"""Remedies on a small model against the same worked out by hand."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

import headgauge
from headgauge import models
from headgauge.models.ablation import head_means
from headgauge.models.head_names import named_heads
from headgauge.remedies import Remedies
from headgauge.remedies.windows import Judge
from headgauge.report.page import page
from headgauge.runs.remedy_schema import REMEDY_TABLES
from headgauge.scanning import ScanResult
from headgauge.scanning.thresholds import Threshold
from headgauge.scanning.verdicts import derived

SIZES: dict[str, Any] = {"length": 32, "windows": 2, "draws": 2, "threads": 1}
# Two windows are scanned, two judged, one chooses.
JUDGED, CHOOSING = (64, 96), 128


@pytest.fixture(scope="module")
def found(
    loaded: models.LoadedModel,
    tokens: Tensor,
    lines: Sequence[Threshold],
    tmp_path_factory: pytest.TempPathFactory,
) -> Remedies:
    out = tmp_path_factory.mktemp("runs") / "tried"
    return headgauge.remedy(loaded, tokens, thresholds=lines, out=out, **SIZES)


def heads_of(found: Remedies, verdict: str, draw: int = 0) -> tuple[tuple[int, int], ...]:
    row = found.tables["sets"].filter(verdict=verdict, draw=draw).row(0, named=True)
    heads = named_heads("test", row["heads"])
    assert len(heads) == row["count"]
    return heads


def loss(loaded: models.LoadedModel, ids: Tensor) -> float:
    model: Any = loaded.model
    with torch.no_grad():
        return float(F.cross_entropy(model(ids[None]).logits[0, :-1], ids[1:]))


@pytest.fixture(scope="module")
def means(loaded: models.LoadedModel, tokens: Tensor) -> Any:
    window = {"input_ids": tokens[CHOOSING : CHOOSING + 32][None]}
    return head_means(loaded, models.output_projections(loaded), [window])


def changed(loaded: models.LoadedModel, means: Any, heads: Any, rule: str) -> Any:
    if rule == "mean":
        return models.ablated(loaded, heads, means)
    name, _, given = rule.partition(":")
    parameters = dict([given.split("=")]) if given else {}
    made = headgauge.normalizers.get(name, **{k: float(v) for k, v in parameters.items()})
    return headgauge.swap(loaded, dict.fromkeys(heads, made))


def test_the_loss_is_what_swap_and_ablated_give(
    found: Remedies, loaded: models.LoadedModel, tokens: Tensor, means: Any
) -> None:
    assert set(found.trials["verdict"]) == {"diffuse", "idle sink", "inactive"}
    assert set(found.trials["remedy"]) == {"softmax", "ssmax", "entmax", "softmax_one", "mean"}
    plain = [loss(loaded, tokens[start : start + 32]) for start in JUDGED]
    for row in found.trials.to_dicts():
        for draw in (0, 2):
            own = found.tables["losses"].filter(
                verdict=row["verdict"], remedy=row["remedy"], draw=draw
            )
            assert own["window"].to_list() == [0, 1]
            heads = heads_of(found, row["verdict"], draw)
            window = draw // 2  # named heads in the first, random ones in the second
            start = JUDGED[window]
            with changed(loaded, means, heads, row["rule"]):
                under = loss(loaded, tokens[start : start + 32])
            assert own["clean"][window] == pytest.approx(plain[window], abs=1e-5)
            assert own["change"][window] == pytest.approx(under - plain[window], abs=1e-5)
            assert abs(own["change"][window]) > 1e-4
        own = found.tables["losses"].filter(verdict=row["verdict"], remedy=row["remedy"])
        named, drawn = own.filter(draw=0)["change"], own.filter(pl.col("draw") > 0)
        assert row["change"] == pytest.approx(named.mean())
        assert row["error"] == pytest.approx(named.std() / 2**0.5)  # pyright: ignore
        assert row["random"] == pytest.approx(drawn["change"].mean())
        assert row["low"] < row["change"] < row["high"]


def test_the_candidate_with_the_smallest_loss_on_other_windows_is_judged(
    found: Remedies, loaded: models.LoadedModel, tokens: Tensor, means: Any
) -> None:
    choices = found.tables["choices"]
    ids = tokens[CHOOSING : CHOOSING + 32]
    for (verdict, remedy), own in choices.group_by("verdict", "remedy"):
        for rule, change in own.select("rule", "change").rows():
            with changed(loaded, means, heads_of(found, str(verdict)), rule):
                under = loss(loaded, ids)
            assert change == pytest.approx(under - loss(loaded, ids), abs=1e-5)
        best = own.sort("change")["rule"][0]
        assert own.filter("chosen")["rule"].to_list() == [best]
        row = found.trials.filter(verdict=verdict, remedy=remedy).row(0, named=True)
        assert row["rule"] == best


def test_heads_are_judged_inside_the_changed_model(
    found: Remedies,
    loaded: models.LoadedModel,
    tokens: Tensor,
    means: Any,
    lines: Sequence[Threshold],
) -> None:
    """As a scan of the judged windows judges them, with the rule in its place."""
    sizes: dict[str, Any] = {"length": 32, "windows": 2, "offset": JUDGED[0], "threads": 1}
    row = found.trials.filter(verdict="diffuse", remedy="softmax").row(0, named=True)
    assert row["measure"] == "rest_entropy_share"
    plain = headgauge.scan(loaded, tokens, **sizes).with_thresholds(lines)
    for prefix, draw in (("", 0), ("random_", 1)):
        heads = heads_of(found, "diffuse", draw)
        with changed(loaded, means, heads, row["rule"]):
            under = headgauge.scan(loaded, tokens, **sizes).with_thresholds(lines)
        for scan, number, held in ((plain, "before", "held"), (under, "after", "left")):
            there = scan.heads.with_columns(**derived(scan.heads))
            own = there.filter(pl.struct("layer", "head").is_in([_place(each) for each in heads]))
            mean = own["rest_entropy_share"].mean()
            assert row[prefix + number] == pytest.approx(mean, abs=1e-5)
            named = set(scan.verdicts().filter(verdict="diffuse").select("layer", "head").rows())
            assert row[prefix + held] == len(named & set(heads))
    assert row["after"] < row["before"]  # it does sharpen
    by_head = found.heads().filter(verdict="diffuse", remedy="softmax")
    assert by_head["after"].mean() == pytest.approx(row["after"])
    assert by_head["before"].mean() == pytest.approx(row["before"])


def _place(head: tuple[int, int]) -> dict[str, int]:
    return {"layer": head[0], "head": head[1]}


def test_a_head_that_is_taken_out_is_not_judged(found: Remedies) -> None:
    row = found.trials.filter(verdict="inactive").row(0, named=True)
    assert row["rule"] == "mean"
    assert [row[name] for name in ("measure", "before", "after", "held", "left")] == [None] * 5
    assert found.tables["numbers"].filter(verdict="inactive").is_empty()


def test_a_run_is_taken_up_where_it_stopped(
    loaded: models.LoadedModel,
    tokens: Tensor,
    lines: Sequence[Threshold],
    scan: ScanResult,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It reads the windows that are left, once, and comes to the same bytes."""
    own, read = Judge.window, []

    def window(self: Judge, unit: Any) -> Any:
        if unit.key.window == 1 and "stopped" not in read:
            read.append("stopped")
            raise KeyboardInterrupt
        read.append(unit.key.window)
        return own(self, unit)

    monkeypatch.setattr(Judge, "window", window)
    asked = {"thresholds": lines, "verdicts": ["idle sink"], "model": loaded, **SIZES}
    out, whole = tmp_path / "again", tmp_path / "whole"
    with pytest.raises(KeyboardInterrupt):
        headgauge.remedy(scan, tokens, out=out, **asked)
    headgauge.remedy(scan, tokens, out=out, **asked)
    headgauge.remedy(scan, tokens, out=out, **asked)
    assert read == [0, "stopped", 1]
    headgauge.remedy(scan, tokens, out=whole, **asked)
    for name in REMEDY_TABLES:
        file = Path("remedies") / f"{name}.parquet"
        assert (out / file).read_bytes() == (whole / file).read_bytes(), name


def test_a_scan_without_verdicts_is_a_result(
    loaded: models.LoadedModel,
    tokens: Tensor,
    lines: Sequence[Threshold],
    scan: ScanResult,
    tmp_path: Path,
) -> None:
    out = tmp_path / "nothing"
    asked = SIZES | {"thresholds": lines, "verdicts": ["unstable"], "out": out}
    found = headgauge.remedy(scan, tokens, model=loaded, **asked)
    assert found.trials.is_empty()
    assert "No head of the scan has a verdict to try a remedy on (unstable)" in found.finding()
    assert headgauge.read_run(out).finding() == found.finding()  # pyright: ignore
    assert "nothing was tried" in json.dumps(page(found).overview)
    assert "nothing to try" in repr(found)


def test_what_it_says(found: Remedies) -> None:
    assert isinstance(headgauge.read_run(found.folder or ""), Remedies)
    told = found.finding()
    for rule, verdict in found.trials.select("rule", "verdict").rows():
        assert f"{rule} for {verdict}" in told
    assert "a gate is learned when the model is trained" in told
    assert "random heads" in found.stands()[2]
    assert "2 judged windows, 1 to choose by" in found.caption()
    assert "random weights" in found.warnings()[0]
    assert found._repr_html_() is not None
    assert found.tables["untried"]["verdict"].to_list() == ["idle sink"]
