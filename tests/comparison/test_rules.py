"""Windows under several rules, against plain float64 passes that have nothing of ours."""

import hashlib
import math
import statistics
from functools import partial
from pathlib import Path
from typing import Any, cast

import polars as pl
import pytest
import torch
from torch import Tensor

import headgauge
from headgauge import runs
from headgauge.comparison import RuleComparison
from headgauge.errors import InputError
from headgauge.measure import runner
from headgauge.normalizers import get
from headgauge.report.figure import Figure
from headgauge.report.figures import figures
from headgauge.report.page import page
from model_families import case
from plain_rules import PlainPass, softmax, softmax_one, sparsemax, ssmax

LENGTH, WINDOWS = 20, 3
SMALL: dict[str, Any] = {"length": LENGTH, "windows": WINDOWS, "threads": 1}
PLAIN = {
    "softmax:temperature=2": partial(softmax, temperature=2.0),
    "ssmax:s=0.3": partial(ssmax, s=0.3),
    "softmax_one": softmax_one,
    "sparsemax": sparsemax,
}


def _tokens(windows: int = 2 * WINDOWS) -> Tensor:
    source = torch.Generator().manual_seed(5)
    return torch.randint(3, 50, (windows * LENGTH,), generator=source)


def _windows(count: int = WINDOWS, first: int = 0) -> list[Tensor]:
    return list(_tokens().view(-1, LENGTH)[first : first + count])


def _row(found: RuleComparison, text: str) -> dict[str, Any]:
    return found.rules().row(by_predicate=pl.col("text") == text, named=True)


@pytest.fixture(scope="module")
def model() -> Any:
    return case("llama", "sdpa").model


@pytest.fixture(scope="module")
def found(model: Any) -> RuleComparison:
    return headgauge.compare(model, tokens=_tokens(), rules=["softmax", *PLAIN], **SMALL)


@pytest.fixture(scope="module")
def plain(model: Any) -> dict[str, list[PlainPass]]:
    rules = PLAIN | {"model": softmax}
    return {
        text: [PlainPass(model, ids, rule) for ids in _windows()] for text, rule in rules.items()
    }


def test_loss_and_distance_are_those_of_plain_passes(
    found: RuleComparison, plain: dict[str, list[PlainPass]]
):
    own = plain["model"]
    assert found.texts() == ["model", "softmax:temperature=fit", "softmax", *PLAIN]
    for text, passes in plain.items():
        row = _row(found, text)
        differences = [b.loss - a.loss for a, b in zip(own, passes, strict=True)]
        both = list(zip(own, passes, strict=True))
        expected = {
            "loss": statistics.mean(each.loss for each in passes),
            "loss_error": statistics.stdev(each.loss for each in passes) / math.sqrt(WINDOWS),
            "difference": statistics.mean(differences),
            "error": statistics.stdev(differences) / math.sqrt(WINDOWS),
            "kl": statistics.mean(a.kl(b) for a, b in both),
            "agreement": statistics.mean(a.agreement(b) for a, b in both),
        }
        for name, number in expected.items():
            assert row[name] == pytest.approx(number, abs=2e-5), (text, name)
        assert row["windows"] == WINDOWS
    # Far from the model, or nothing was tested.
    assert min(_row(found, text)["kl"] for text in PLAIN) > 0.01
    fitted = _row(found, "softmax:temperature=fit")
    for text in PLAIN:
        row = _row(found, text)
        assert row["beyond"] == pytest.approx(row["loss"] - fitted["loss"], abs=1e-9)


def test_softmax_in_its_own_place_changes_nothing(found: RuleComparison):
    row = _row(found, "softmax")
    assert (row["difference"], row["error"], row["kl"], row["agreement"]) == (0, 0, 0, 1)
    heads = found.tables["rule_heads"].drop("where")
    own = heads.filter(rule="model").drop("rule", "induction_score", "duplicate_score")
    for where in ("logits", "inside"):
        same = found.tables["rule_heads"].filter(rule="softmax", where=where)
        same = same.drop("rule", "where", "induction_score", "duplicate_score")
        for name in own.columns:
            if own[name].dtype == pl.Float64:
                apart: Any = (own[name] - same[name]).abs().max()
                largest: Any = own[name].abs().max()
                assert apart is None or apart <= 2e-6 * max(1, largest), name


@pytest.mark.parametrize("text", PLAIN)
def test_measures_are_those_of_plain_weights(
    found: RuleComparison, plain: dict[str, list[PlainPass]], model: Any, text: str
):
    """On the logits of the original, and on those that the swapped model has itself."""
    heads = found.tables["rule_heads"].filter(rule=text)
    assert heads.height == 2 * 8 * WINDOWS
    (rule,) = headgauge.normalizers.asked_rules(text)
    for where in ("logits", "inside"):
        passes = plain["model" if where == "logits" else text]
        for window, each in enumerate(passes):
            for layer, made in enumerate(each.attention):
                weights = PLAIN[text](made["logits"], made["seen"])
                entropy = -(weights * weights.clamp(min=1e-300).log()).sum(-1).mean(-1)
                norms = (weights @ made["value"]).norm(dim=-1).mean(-1)
                jacobian = rule.rule().spectral_norm(made["logits"], made["seen"]).mean(-1)
                columns = {
                    "entropy": entropy,
                    "sink_weight": weights[..., 0].mean(-1),
                    "output_norm": norms,
                    "output_ratio": norms / norms.mean(),
                    "jacobian_norm": jacobian,
                }
                rows = heads.filter(where=where, window=window, layer=layer).sort("head")
                for name, numbers in columns.items():
                    assert rows[name].to_list() == pytest.approx(numbers.tolist(), abs=5e-5), name
    curves = found.tables["rule_curves"].filter(rule=text, keys="visible", top_n=2)
    assert curves.height == 2 * 8 * WINDOWS
    both = [
        curves.filter(where=where).sort("window", "layer", "head") for where in ("logits", "inside")
    ]
    first = [each.filter(layer=0)["distance"].to_list() for each in both]
    assert first[0] == pytest.approx(first[1], abs=1e-5)  # nothing before the first layer differs
    later = [each.filter(layer=1)["distance"].to_list() for each in both]
    assert later[0] != pytest.approx(later[1], abs=1e-3)


def test_only_in_some_heads(model: Any):
    found = headgauge.compare(
        model, tokens=_tokens(), rules="sparsemax", layers=[1], heads=[0, 2], **SMALL
    )
    assert set(found.tables["rule_heads"].select("layer", "head").rows()) == {(1, 0), (1, 2)}

    def some(logits: Tensor, seen: Tensor) -> Tensor:
        made = softmax(logits, seen)
        made[:, [0, 2]] = sparsemax(logits, seen)[:, [0, 2]]
        return made

    losses = [PlainPass(model, ids, some, layers=[1]).loss for ids in _windows()]
    assert _row(found, "sparsemax")["loss"] == pytest.approx(statistics.mean(losses), abs=2e-5)
    assert "layers 1, heads 0, 2" in found.caption()


def _calibration(model: Any, temperature: float) -> float:
    rule = partial(softmax, temperature=temperature)
    return statistics.mean(PlainPass(model, ids, rule).loss for ids in _windows(WINDOWS, WINDOWS))


def test_the_temperature_is_fitted_on_the_windows_behind(model: Any, found: RuleComparison):
    fit = found.tables["fits"].row(0, named=True)
    assert (fit["rule"], fit["parameter"]) == ("softmax:temperature=fit", "temperature")
    assert (fit["layer"], fit["head"]) == (None, None)
    assert fit["windows"] == WINDOWS
    assert fit["before"] == pytest.approx(_calibration(model, 1.0), abs=2e-5)
    assert fit["model"] == pytest.approx(fit["before"], abs=1e-6)
    assert fit["after"] == pytest.approx(_calibration(model, fit["value"]), abs=2e-5)
    tried = [_calibration(model, 0.1 * 100 ** (step / 12)) for step in range(13)]
    assert fit["after"] <= min(tried) + 1e-4
    assert found.parameters("softmax:temperature=fit") == {"temperature": fit["value"]}


def test_one_number_for_each_layer_or_head(model: Any):
    rules = "ssmax:s=fit,ssmax:s=fit/layer,ssmax:s=fit/head"
    small: dict[str, Any] = SMALL | {"windows": 1}
    found = headgauge.compare(model, tokens=_tokens(), rules=rules, **small)
    one, layers, heads = (
        found.tables["fits"].filter(rule=f"ssmax:s={scope}")
        for scope in ("fit", "fit/layer", "fit/head")
    )
    assert (one.height, layers.height, heads.height) == (1, 2, 8)
    assert layers["head"].null_count() == 2
    assert heads.select("layer", "head").rows() == [(a, b) for a in range(2) for b in range(4)]
    assert heads["after"][0] < one["after"][0]
    assert layers["after"][0] < one["after"][0]
    assert heads["value"].n_unique() > 2
    values = dict(zip(heads.select("layer", "head").rows(), heads["value"], strict=True))
    calls = iter([0, 1])

    def own(logits: Tensor, seen: Tensor) -> Tensor:
        layer = next(calls)
        s = torch.tensor([values[layer, head] for head in range(4)]).double()[:, None, None]
        return ssmax(logits, seen, s)  # pyright: ignore[reportArgumentType]

    row = _row(found, "ssmax:s=fit/head")
    assert row["loss"] == pytest.approx(PlainPass(model, _windows()[0], own).loss, abs=2e-5)
    assert set(found.parameters(row["text"])["s"]) == {f"L{a}H{b}" for a, b in values}


def test_one_head_of_one_layer_has_a_number_of_its_own(model: Any):
    rules = "ssmax:s=fit/head,sink:sink=fit/layer"
    small: dict[str, Any] = SMALL | {"windows": 1, "layers": [1], "heads": [2]}
    found = headgauge.compare(model, tokens=_tokens(), rules=rules, **small)
    assert [*found.parameters("ssmax:s=fit/head")["s"]] == ["L1H2"]
    assert [*found.parameters("sink:sink=fit/layer")["sink"]] == ["L1"]


def test_a_rule_of_cosines_knows_the_size_of_the_heads(model: Any):
    """The first layer gets the same either way: on its logits and inside are one."""
    small: dict[str, Any] = SMALL | {"windows": 1, "layers": [0]}
    found = headgauge.compare(model, tokens=_tokens(), rules="lssa,lssar", **small)
    heads, measures = found.tables["rule_heads"], ["entropy", "sink_weight", "jacobian_norm"]
    for name in ("lssa", "lssar"):
        on, inside = (
            heads.filter(rule=name, where=where).sort("head").select(measures).to_numpy()
            for where in ("logits", "inside")
        )
        assert on == pytest.approx(inside, rel=1e-3)


def test_a_run_goes_on_to_the_same_bytes(
    model: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    asked: dict[str, Any] = SMALL | {"tokens": _tokens(), "rules": "sparsemax", "windows": 2}
    shares: list[float] = []
    whole = headgauge.compare(model, out=tmp_path / "whole", progress=shares.append, **asked)
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1.0)
    measured, own = [], runner.measure_unit

    def failing(source: Any, unit: Any, *rest: Any) -> Any:
        if len(measured) == 1:
            raise KeyboardInterrupt
        measured.append(unit.key)
        return own(source, unit, *rest)

    monkeypatch.setattr(runner, "measure_unit", failing)
    with pytest.raises(KeyboardInterrupt):
        headgauge.compare(model, out=tmp_path / "again", **asked)
    monkeypatch.undo()
    headgauge.compare(model, out=tmp_path / "again", **asked)
    there, again = (
        {path.name: hashlib.sha256(path.read_bytes()).digest() for path in made.glob("*.parquet")}
        for made in (tmp_path / "whole", tmp_path / "again")
    )
    assert there == again
    assert set(there) == {f"{name}.parquet" for name in runs.RULES.tables}
    read = headgauge.read_run(tmp_path / "again")
    assert isinstance(read, RuleComparison)
    assert read.tables["rules"].equals(whole.tables["rules"])
    assert read.rules()["to_sdpa"].null_count() == 0
    assert _row(read, "model")["to_sdpa"] == 1
    other: Any = asked | {"rules": "softmax_one"}
    with pytest.raises(InputError, match="other settings"):
        headgauge.compare(model, out=tmp_path / "again", **other)


def test_what_is_said(found: RuleComparison, model: Any):
    said = found.finding()
    assert "sparsemax" in said
    assert "trained" in said
    assert "fitted on 3 windows behind" in found.stands()[1]
    alone = headgauge.compare(
        model, tokens=_tokens(2), rules="softmax_one", length=LENGTH, threads=1
    )
    assert alone.tables["rules"]["windows"].to_list() == [1, 1, 1]
    assert alone.tables["rules"]["error"].null_count() == 3
    assert "Not to be told from it: " in alone.finding()
    assert any("nothing is decided" in note for note in alone.notes())


def test_sides_are_scans(found: RuleComparison):
    sides = found.sides()
    assert len(sides.places) == 1 + 2 * 6
    differences = sides.differences().filter(measure="entropy", layer=1, head=2)
    heads = found.tables["rule_heads"].filter(layer=1, head=2)
    own = heads.filter(rule="model")["entropy"]
    for name, (text, where) in list(sides.places.items())[1:]:
        other = heads.filter(rule=text, where=where)["entropy"]
        row = differences.row(by_predicate=pl.col("side") == name, named=True)
        assert row["difference"] == pytest.approx((other - own).mean())
        spread: Any = (other - own).std()
        assert row["error"] == pytest.approx(spread / math.sqrt(WINDOWS))
    assert set(sides.marks()["kind"]) == {"verdict", "role"}


@pytest.mark.parametrize(
    ("name", "asked", "said"),
    [
        ("llama", {"rules": "sparsmax"}, "did you mean sparsemax"),
        ("llama", {"rules": "entmax:beta=2"}, "entmax has no parameter 'beta'"),
        ("llama", {"rules": "entmax:alpha=3"}, "alpha must be from 1"),
        ("llama", {"rules": "topk:k=fit"}, "k cannot be fitted"),
        ("llama", {"rules": "sparsemax,sparsemax"}, "the same rule twice"),
        ("llama", {"layers": [2]}, "has layers 0 to 1, not 2"),
        ("llama", {"heads": [4]}, "has heads 0 to 3, not 4"),
        ("llama", {"windows": 2 * WINDOWS}, "no window of 20 tokens behind the 6 judged"),
        ("bert", {}, "is an encoder and predicts no next token"),
        ("gptj", {}, "outside transformers' interface"),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_mistakes_are_told_in_a_line(name: str, asked: dict[str, Any], said: str, tmp_path: Path):
    model = case(name, "eager" if name == "gptj" else "sdpa").model
    given: dict[str, Any] = SMALL | {"rules": "sparsemax", "out": tmp_path / "run"} | asked
    with pytest.raises(InputError, match=said) as raised:
        headgauge.compare(model, tokens=_tokens(), **given)
    assert "\n" not in str(raised.value)
    assert not (tmp_path / "run").exists()


def test_fewer_windows_to_fit_on(model: Any):
    found = headgauge.compare(model, tokens=_tokens(4), rules=[get("softmax_one")], **SMALL)
    assert found.tables["fits"]["windows"].to_list() == [1]
    assert any("1 window behind those that are judged instead of 3" in n for n in found.notes())


def test_the_page_has_every_side_and_the_figures_every_rule(found: RuleComparison):
    shown = page(found)
    parts = {part["kind"]: part for each in shown.sections if each for part in each["parts"]}
    compared = parts["compared"]
    names = compared["sides"]
    assert names == list(found.sides().places)
    heads = found.tables["rule_heads"].filter(layer=1, head=3)
    number = compared["links"].index("L1H3")
    for side, (text, where) in enumerate(found.sides().places.values()):
        entropy = heads.filter(rule=text, where=where)["entropy"].mean()
        assert compared["measures"]["entropy"][side][number] == pytest.approx(entropy, rel=1e-4)
    described = figures(found)
    assert list(described)[:3] == ["rules", "rule_curves", "map-softmax-temperature-fit"]
    loss: Any = cast(Figure, described["rules"]()).panels[0]
    assert loss.series[0].x == found.rules()["difference"].to_list()[1:]
    rows = found.rules().rows(named=True)[1:]
    bars = [each.x for each in loss.series[1:]]
    half = [found.reach(row) for row in rows]
    assert bars == [
        [row["difference"] - reach, row["difference"] + reach]
        for row, reach in zip(rows, half, strict=True)
        if reach is not None
    ]
    assert "sparsemax" in str(found._repr_html_())
    with pytest.raises(InputError, match="no figure of a single head"):
        headgauge.plot(found, 0, 1)
