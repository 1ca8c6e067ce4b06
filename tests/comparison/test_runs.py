"""Finished scans held against each other: the numbers, the verdicts, what cannot be compared."""

import copy
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch
from scipy import stats

import headgauge
from comparison.small_runs import HEADS, SIZES, WINDOWS, tokens
from headgauge.comparison import RunComparison
from headgauge.errors import InputError
from headgauge.scanning import ScanResult
from headgauge.scanning.thresholds import DEFAULT
from model_families import LENGTH, case
from shape_checks import shapes_unchecked

Scans = dict[str, ScanResult]
HEAD = ["layer", "occurrence", "module", "head"]


def by_window(scan: ScanResult, measure: str) -> np.ndarray:
    """Windows × heads, from the scan's own table."""
    table = scan.heads if measure in scan.heads.columns else scan.curves
    if table is scan.curves:
        table = table.filter(top_n=16, vectors="value", scale="unit", keys="off_sink")
    ordered = table.sort("window", "layer", "head")
    return ordered[measure].to_numpy().reshape(-1, HEADS)


def rows(table: pl.DataFrame, measure: str) -> pl.DataFrame:
    own = table.filter(measure=measure)
    return own.sort("layer", "head") if "layer" in own.columns else own


@pytest.fixture(scope="module")
def pair(scans: Scans) -> RunComparison:
    return headgauge.compare(scans["step0"], scans["step1"])


@pytest.fixture(scope="module")
def series(scans: Scans) -> RunComparison:
    return headgauge.compare(*(scans[f"step{step}"] for step in range(3)))


@pytest.mark.parametrize("measure", ["entropy", "sink_weight", "output_norm", "separability"])
def test_on_the_same_windows_differences_are_paired(
    scans: Scans, pair: RunComparison, measure: str
) -> None:
    apart = by_window(scans["step1"], measure) - by_window(scans["step0"], measure)
    found = rows(pair.differences(), measure)
    error = apart.std(0, ddof=1) / math.sqrt(WINDOWS)
    np.testing.assert_allclose(found["difference"], apart.mean(0), atol=1e-12)
    np.testing.assert_allclose(found["error"], error, atol=1e-12)
    assert set(found["freedom"]) == {WINDOWS - 1.0}
    beyond = np.abs(apart.mean(0)) > 2 * error
    assert found["beyond"].to_list() == beyond.tolist()
    (row,) = rows(pair.measures(), measure).to_dicts()
    assert row["difference"] == pytest.approx(apart.mean())
    # Heads of a window move together: the error of their mean is over windows.
    assert row["error"] == pytest.approx(apart.mean(1).std(ddof=1) / math.sqrt(WINDOWS))
    assert row["median"] == pytest.approx(np.median(np.abs(apart.mean(0))))
    assert (row["heads"], row["beyond"], row["paired"]) == (HEADS, beyond.sum(), True)
    assert row["by_chance"] == pytest.approx(HEADS * 2 * stats.t.sf(2, WINDOWS - 1))


def test_on_other_windows_errors_are_from_both_spreads(scans: Scans) -> None:
    found = headgauge.compare(scans["step2"], scans["other"])
    before, after = (by_window(scans[name], "entropy") for name in ("step2", "other"))
    a, b = (each.var(0, ddof=1) / len(each) for each in (before, after))
    own = rows(found.differences(), "entropy")
    np.testing.assert_allclose(own["difference"], after.mean(0) - before.mean(0), atol=1e-12)
    np.testing.assert_allclose(own["error"], np.sqrt(a + b))
    welch = (a + b) ** 2 / (a**2 / (len(before) - 1) + b**2 / (len(after) - 1))
    np.testing.assert_allclose(own["freedom"], welch)
    (row,) = rows(found.measures(), "entropy").to_dicts()
    assert not row["paired"]
    assert row["by_chance"] == pytest.approx(2 * stats.t.sf(2, welch).sum())
    together = [each.mean(1).std(ddof=1) / math.sqrt(len(each)) for each in (before, after)]
    assert row["error"] == pytest.approx(math.hypot(*together))
    assert "other windows" in found.stands()[-1]


def test_the_largest_logit_has_no_error_and_weights_know_no_chance(
    scans: Scans, pair: RunComparison
) -> None:
    largest = [by_window(scans[name], "max_logit").max(0) for name in ("step1", "step0")]
    own = rows(pair.differences(), "max_logit")
    np.testing.assert_allclose(own["difference"], largest[0] - largest[1])
    assert own["error"].is_null().all()
    assert own["beyond"].is_null().all()
    (row,) = rows(pair.measures(), "qk_largest").to_dicts()
    assert (row["beyond"], row["by_chance"]) == (HEADS, 0.0)
    last = pair.measures()["measure"].to_list()[-1]
    assert (pair.measures()["measure"][0], last) == ("loss", "max_logit")


def test_the_loss_is_paired_too(scans: Scans, pair: RunComparison) -> None:
    losses = [
        np.array([float(unit["loss"]) for unit in scans[name].manifest["units"].values()])  # pyright: ignore
        for name in ("step1", "step0")
    ]
    (row,) = rows(pair.measures(), "loss").to_dicts()
    apart = losses[0] - losses[1]
    assert row["difference"] == pytest.approx(apart.mean())
    assert row["error"] == pytest.approx(apart.std(ddof=1) / math.sqrt(WINDOWS))
    assert "the loss is " in pair.finding()


def test_a_window_without_a_loss_is_none_less(scans: Scans) -> None:
    one = copy.deepcopy(scans["step0"])
    unit = next(iter(one.manifest["units"].values()))
    unit["loss"] = None
    (row,) = rows(headgauge.compare(one, scans["step0"]).measures(), "loss").to_dicts()
    assert row["difference"] is None


def strict(scan: ScanResult, value: float) -> ScanResult:
    """Judged by one line, which about half of the heads are beyond."""
    line = next(each for each in DEFAULT if each.name == "inactive.output_ratio")
    return scan.with_thresholds((replace(line, value=value),))


def test_verdicts_gained_and_lost_are_those_of_the_scans(scans: Scans) -> None:
    """Whatever lines the others have, those of the first judge all."""
    means = [by_window(scans[name], "output_ratio").mean(0) for name in ("step0", "step2")]
    value = float(np.median(means[0]))
    was, now = (set(np.flatnonzero(each < value)) for each in means)
    assert was - now
    assert now - was
    found = headgauge.compare(strict(scans["step0"], value), scans["step2"])
    changes = found.changes().filter(kind="verdict")
    gained = changes.filter(after="inactive").to_dicts()
    assert {4 * row["layer"] + row["head"] for row in gained} == now - was
    lost = changes.filter(before="inactive").to_dicts()
    assert {4 * row["layer"] + row["head"] for row in lost} == was - now
    for row in gained:
        number = 4 * row["layer"] + row["head"]
        assert (row["measure"], row["line"]) == ("output_ratio", value)
        assert row["number_before"] == pytest.approx(means[0][number])
        assert row["number_after"] == pytest.approx(means[1][number])
        own = rows(found.differences(), "output_ratio")
        assert row["beyond"] == own["beyond"][number]
    counts = {
        (row["side"], row["name"]): row
        for row in found.tables["counts"].filter(kind="verdict").to_dicts()
    }
    assert counts["step0", "inactive"]["heads"] == len(was)
    last = counts["step2", "inactive"]
    assert (last["heads"], last["gained"], last["lost"]) == (
        len(now),
        len(now - was),
        len(was - now),
    )
    assert last["against"] == "step0"
    # Healthy is what a head is when it loses its last, and is not told twice.
    assert changes.filter(after="healthy").height == len(lost)
    assert f"gained: {len(gained)} inactive; lost: {len(lost)} inactive" in found.finding()


def test_roles_that_are_others(scans: Scans) -> None:
    found = headgauge.compare(scans["step0"], scans["step2"])
    changes = found.changes().filter(kind="role")
    roles = [
        scans[name].roles().sort("layer", "head")["role"].to_list() for name in ("step0", "step2")
    ]
    told = {
        4 * row["layer"] + row["head"]: (row["before"], row["after"]) for row in changes.to_dicts()
    }
    differ = {i: both for i, both in enumerate(zip(*roles, strict=True)) if both[0] != both[1]}
    assert told == differ


def test_heads_that_moved_farthest_come_first(scans: Scans, pair: RunComparison) -> None:
    heads = pair.heads()
    assert heads["distance"].is_sorted(descending=True)
    assert heads.height == HEADS
    first = heads.row(0, named=True)
    names = [
        *("entropy_share", "rest_entropy_share", "sink_weight", "separability"),
        *("jacobian_norm", "max_logit", "output_ratio"),
    ]
    own = pair.differences().filter(layer=first["layer"], head=first["head"])
    sides = [pair.tables["values"].filter(side=side) for side in ("step0", "step1")]
    spread = {name: max(rows(side, name)["value"].to_numpy().std(ddof=1) for side in sides)
              for name in names}  # fmt: skip
    far = [rows(own, name)["difference"].item() / spread[name] for name in names]
    assert first["distance"] == pytest.approx(math.sqrt(np.mean(np.square(far))))
    assert first["measure"] == names[int(np.argmax(np.abs(far)))]
    assert first["beyond"] == own["beyond"].sum()


def test_a_series_is_told_step_by_step(scans: Scans, series: RunComparison) -> None:
    assert series.sides() == ["step0", "step1", "step2"]
    assert series.pairs() == [("step1", "step0"), ("step2", "step1"), ("step2", "step0")]
    head = {"layer": 1, "head": 2, "measure": "sink_weight"}
    line = series.tables["values"].filter(**head).sort("side")["value"].to_list()
    assert line == pytest.approx(
        [by_window(scans[s], "sink_weight").mean(0)[6] for s in series.sides()]
    )
    steps = series.steps()
    assert set(steps.select("side", "against").rows()) <= {("step1", "step0"), ("step2", "step1")}
    alone = headgauge.compare(scans["step1"], scans["step2"])
    assert alone.changes().equals(series.changes("step2", "step1"))
    with pytest.raises(InputError, match="step0 was not held against step2 here; there are step1"):
        series.differences("step0", "step2")
    # Without a pair it is the last against the first.
    assert series.measures().equals(series.measures("step2", "step0"))


def test_the_same_run_twice_differs_in_nothing(scans: Scans) -> None:
    found = headgauge.compare(scans["step0"], scans["step0"])
    assert found.sides()[0] != found.sides()[1]
    assert set(found.differences().drop_nulls("difference")["difference"]) == {0.0}
    assert not found.differences()["beyond"].any()
    assert found.changes().is_empty()
    assert "the loss is the same" in found.finding()
    assert "No measure of any head differs." in found.finding()


def test_modules_may_be_called_otherwise(scans: Scans) -> None:
    scan = scans["step1"]
    tables = {
        name: table.with_columns(module=pl.lit("h.") + pl.col("layer").cast(pl.String))
        for name, table in scan.tables.items()
        if name in ("heads", "curves")
    }
    other = headgauge.compare(scans["step0"], replace(scan, tables=tables))
    same = headgauge.compare(scans["step0"], scan)
    assert other.differences().equals(same.differences())


def test_some_layers_and_heads(scans: Scans) -> None:
    found = headgauge.compare(scans["step0"], scans["step1"], layers=[1], heads=[0, 3])
    assert found.heads().sort("head").select("layer", "head").rows() == [(1, 0), (1, 3)]
    assert found.of("counts").filter(kind="role")["heads"].sum() == 2
    with pytest.raises(InputError, match="there is no layer 7 in this run"):
        headgauge.compare(scans["step0"], scans["step1"], layers=[7])


def test_one_window_has_no_spread(scans: Scans) -> None:
    def first(scan: ScanResult) -> ScanResult:
        tables = {name: scan.tables[name].filter(window=0) for name in ("heads", "curves")}
        units = {k: v for k, v in scan.manifest["units"].items() if k.startswith("w0000")}
        return replace(scan, tables=tables, manifest={**scan.manifest, "units": units})

    found = headgauge.compare(first(scans["step0"]), first(scans["step1"]))
    assert found.differences()["error"].is_null().all()
    assert found.measures()["by_chance"].is_null().all()
    assert "one window" in found.warnings()[-1]
    assert "cannot be told" in found.finding() or "no spread" in found.finding()


def test_what_must_not_hold(scans: Scans) -> None:
    both = scans["step0"], scans["step1"]
    plain = headgauge.compare(*both)
    (entropy,) = rows(plain.measures(), "entropy").to_dicts()
    size = abs(entropy["difference"])
    sign = "<" if entropy["difference"] < 0 else ">"
    near, far = (
        f"entropy{sign}{math.copysign(times * size, entropy['difference'])}" for times in (0.5, 2)
    )
    assert headgauge.compare(*both, fail_on=far).failing() == []
    (line,) = headgauge.compare(*both, fail_on=[far, near]).failing()
    assert line.startswith(f"entropy{sign}")
    assert "holds: mean difference" in line
    assert "over 8 heads" in line
    (loss,) = rows(plain.measures(), "loss").to_dicts()
    answers = headgauge.compare(
        *both, fail_on="loss>-99,loss>99, inactive>=0,idle sink>8"
    ).answers()
    assert [each.holds for each in answers] == [True, False, True, False]
    assert answers[0].value == loss["difference"]
    assert plain.with_conditions("induction>3").failing() == []


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("separabilty<0", "named 'separabilty'; did you mean 'separability'"),
        ("nonsense<0", "named 'nonsense'; there are entropy, "),
        ("entropy", "wants a name, < or >, and a number, such as .*, got 'entropy'"),
        ("entropy<", "got 'entropy<'"),
        ("entropy<much", "'much' is no number"),
        ("entropy<nan", "'nan' is no number"),
        ("entropy=1", "got 'entropy=1'"),
        ("", "got ''"),
        ("effect<0", "not both runs have a number for effect"),
    ],
)
def test_a_condition_that_cannot_be_asked(
    scans: Scans, tmp_path: Path, given: str, said: str
) -> None:
    with pytest.raises(InputError, match=said):
        headgauge.compare(scans["step0"], scans["step1"], fail_on=given, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_folder_keeps_it(scans: Scans, folder: Path, tmp_path: Path) -> None:
    names = folder / "step0", folder / "step1"
    found = headgauge.compare(*names, out=tmp_path / "kept")
    read: Any = headgauge.read_run(tmp_path / "kept")
    assert isinstance(read, RunComparison)
    for name, table in headgauge.compare(*names).tables.items():
        assert read.tables[name].equals(table)
    assert read.finding() == found.finding()
    assert read.manifest["settings"]["runs"][0]["name"] == "step0"
    again = headgauge.compare(*names, out=tmp_path / "kept")  # the same: taken up
    assert again.manifest["times"]["resumed"] == 1
    with pytest.raises(InputError, match="holds a run with other settings"):
        headgauge.compare(*reversed(names), out=tmp_path / "kept")
    with pytest.raises(InputError, match="is a comparison: give the runs that it compares"):
        headgauge.compare(tmp_path / "kept", names[0])
    assert "step1 against step0" in (found._repr_html_() or "")
    assert repr(found).startswith("<comparison of step0 → step1")


def test_runs_of_different_shapes_are_refused(scans: Scans) -> None:
    with shapes_unchecked():
        gpt2 = headgauge.scan(case("gpt2", "sdpa").model, tokens(), **SIZES)
        shorter = headgauge.scan(case("llama", "sdpa").model, tokens()[:, :20], **SIZES)
        ns = headgauge.scan(case("llama", "sdpa").model, tokens(), top_n=[1, 16], threads=1)
    shape = r"different shapes cannot be compared: step0 has 2 layers × 4 heads .*, \w+ "
    one = scans["step0"]
    tables = {name: one.tables[name].filter(pl.col("head") < 3) for name in ("heads", "curves")}
    with pytest.raises(InputError, match=shape + "2 layers × 3 heads"):
        headgauge.compare(one, replace(one, tables=tables, folder=None))
    with pytest.raises(InputError, match=r"different L cannot .* L = 24, LlamaForCausalLM 20"):
        headgauge.compare(one, shorter)
    with pytest.raises(
        InputError, match=r"different N cannot .* N = 1, 4, 16, .* 1, 16; scan both"
    ):
        headgauge.compare(one, ns)
    # Another family of the same shape is no mistake.
    same = {(layer, head) for layer in range(2) for head in range(4)}
    if set(gpt2.heads.select("layer", "head").unique().rows()) == same:
        assert headgauge.compare(one, gpt2).heads().height == HEADS


def test_what_is_no_scan(scans: Scans, folder: Path, tmp_path: Path) -> None:
    for given, said in (
        ("nowhere", "nowhere is no run of headgauge: there is no such folder; two names or more"),
        (str(tmp_path), "it holds no run"),
        (torch.nn.Linear(2, 2), "two things or more are finished scans or their folders, got"),
    ):
        with pytest.raises(InputError, match=said):
            headgauge.compare(folder / "step0", given)
    for alone in (scans["step0"], folder / "step0", str(folder / "step0")):
        with pytest.raises(InputError, match="was given alone: give two runs or more"):
            headgauge.compare(alone)
    with pytest.raises(InputError, match="rules is for the comparison of a model"):
        headgauge.compare(folder / "step0", folder / "step1", rules="sparsemax")
    with pytest.raises(InputError, match="tokens is for the comparison of a model"):
        headgauge.compare(folder / "step0", folder / "step1", tokens=tokens())
    with pytest.raises(InputError, match="fail-on is for the comparison of runs"):
        headgauge.compare("default", fail_on="loss>0")


def test_names_tell_runs_apart(scans: Scans, folder: Path, tmp_path: Path) -> None:
    assert headgauge.compare(folder / "step0", folder / "step1").sides() == ["step0", "step1"]
    kept = scans["step1"].save(tmp_path / "step0")
    names = headgauge.compare(scans["step0"], kept).sides()
    assert names == [f"{folder.name}/step0", f"{tmp_path.name}/step0"]
    loose = [replace(scans[name], folder=None) for name in ("step0", "step1")]
    assert headgauge.compare(*loose).sides() == ["LlamaForCausalLM", "LlamaForCausalLM (2)"]


def test_a_run_of_some_rows_stands_beside_one_of_all() -> None:
    """The same model and windows: what is told of their difference is what was drawn."""
    model: Any = case("llama", "sdpa").model
    with shapes_unchecked():
        whole, some = (headgauge.scan(model, tokens(), rows=rows, **SIZES) for rows in (None, 12))
        found = headgauge.compare(whole, some)
    for measure in ("entropy", "separability"):
        own = rows(found.differences(), measure)
        apart = by_window(some, measure) - by_window(whole, measure)
        np.testing.assert_allclose(own["difference"], apart.mean(0), atol=1e-12)
        assert np.abs(apart).max() > 0
    drawn, left_out = found.manifest["notes"]
    assert "query rows of a window: all in" in drawn
    assert ", 12 (seed 0) in" in drawn
    for measure in ("max_logit", "output_stable_rank"):
        assert measure in left_out
        assert rows(headgauge.compare(whole, whole).differences(), measure).height == HEADS
        assert rows(found.differences(), measure).is_empty()
    with pytest.raises(InputError, match="not both runs have a number for max_logit"):
        headgauge.compare(whole, some, fail_on="max_logit<0")


def test_as_many_rows_may_be_others() -> None:
    """By their seed; all of a window are the same, however many were asked for."""
    model: Any = case("llama", "sdpa").model

    def scan(rows: int, seed: int) -> ScanResult:
        return headgauge.scan(model, tokens(), rows=rows, seed=seed, **SIZES)

    with shapes_unchecked():
        first, same, other = scan(12, 0), scan(12, 0), scan(12, 1)
        whole, more = scan(LENGTH, 0), scan(2 * LENGTH, 1)
    assert headgauge.compare(first, same).manifest["notes"] == []
    assert headgauge.compare(whole, more).manifest["notes"] == []
    found = headgauge.compare(first, other)
    (note,) = found.manifest["notes"]
    assert "12 (seed 0) in" in note
    assert "12 (seed 1) in" in note
    assert rows(found.differences(), "max_logit").height == HEADS
