"""What heads are worth, against whole passes with the heads written over by hand."""

import hashlib
import json
import math
import statistics
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

import headgauge
from headgauge import models
from headgauge.ablation import Ablation
from headgauge.errors import InputError
from headgauge.measure import runner
from headgauge.models.kept_layers import KeptLayers
from model_families import case

LENGTH = 24
SMALL: dict[str, Any] = {"length": LENGTH, "windows": 3, "threads": 1}


def _tokens(count: int = 6 * LENGTH) -> Tensor:
    return torch.randint(3, 50, (count,), generator=torch.Generator().manual_seed(5))


def _rises(model: Any, silent: dict[tuple[int, int], Tensor | float]) -> list[float]:
    """The rise of each window's loss, by whole passes through changed attention functions."""

    def replacement(call: models.AttentionCall) -> Tensor:
        made = call.output.clone()
        for (layer, head), instead in silent.items():
            if layer == call.layer:
                made[:, :, head] = instead
        return made

    loaded, found = models.wrap(model), []
    for ids in _tokens()[: 3 * LENGTH].view(3, 1, LENGTH):
        losses = []
        for rule in (None, replacement):
            with models.intercept(model, lambda call: None, replacement=rule), torch.no_grad():
                output = model(**models.model_inputs(loaded, ids), use_cache=False)
            loss = models.next_token_loss(loaded, output, ids)
            assert loss is not None
            losses.append(float(loss[0]))
        found.append(losses[1] - losses[0])
    return found


def _means(model: Any) -> dict[tuple[int, int], Tensor]:
    """Over all positions of the three windows behind those that are judged."""
    outputs: dict[int, list[Tensor]] = {}

    def observer(call: models.ObservedCall) -> None:
        assert isinstance(call, models.AttentionCall)
        outputs.setdefault(call.layer, []).append(call.output[0].double())

    loaded = models.wrap(model)
    with models.intercept(model, observer), torch.no_grad():
        for ids in _tokens()[3 * LENGTH :].view(3, 1, LENGTH):
            model(**models.model_inputs(loaded, ids), use_cache=False)
    return {
        (layer, head): torch.cat(made).mean(0)[head]
        for layer, made in outputs.items()
        for head in range(4)
    }


@pytest.mark.parametrize("name", ["llama", "gpt2", "t5", "gpt-oss"])
def test_the_effect_is_that_of_whole_passes(name: str):
    model = case(name, "eager" if name == "gpt-oss" else "sdpa").model
    means = _means(model)
    for how in ("mean", "zero"):
        result = headgauge.ablate(model, _tokens(), how=how, heads=[1, 3], **SMALL)
        assert result.effects.height == 2 * len(models.attention_modules(model))
        assert not any(unit.get("whole_passes", True) for unit in result.manifest["units"].values())
        assert result.notes() == []
        for row in (result.effects.row(i, named=True) for i in (0, -1)):
            place = row["layer"], row["head"]
            rises = _rises(model, {place: means[place] if how == "mean" else 0.0})
            assert row["effect"] == pytest.approx(statistics.mean(rises), abs=2e-6)
            assert row["error"] == pytest.approx(statistics.stdev(rises) / 3**0.5, abs=2e-6)
            assert (row["windows"], row["how"], row["group"]) == (3, how, None)
        ordered = result.effects["effect"].to_list()
        assert ordered == sorted(ordered, reverse=True)


def test_layers_that_need_more_of_others_run_in_whole_passes():
    model = case("llama", "sdpa").model
    first, second = model.model.layers
    plain = headgauge.ablate(model, _tokens(), **SMALL).effects
    left: list[bool] = []
    first.mlp.register_forward_hook(lambda *_: left.append(True))
    second.mlp.register_forward_pre_hook(lambda *_: left.pop() and None)
    result = headgauge.ablate(model, _tokens(), **SMALL)
    assert any("whole passes" in note for note in result.notes())
    assert result.effects.equals(plain)


def test_groups_go_together(tmp_path: Path):
    model = case("llama", "sdpa").model
    means = _means(model)
    file = tmp_path / "groups.json"
    file.write_text(json.dumps({"both": ["L0H1", [1, 2]], "one": ["l1h2"]}))
    found = headgauge.ablate(model, _tokens(), groups=file, **SMALL).effects
    rows = {row["group"]: row for row in found.iter_rows(named=True)}
    assert set(rows) == {"both", "one"}
    rises = _rises(model, {place: means[place] for place in [(0, 1), (1, 2)]})
    assert rows["both"]["effect"] == pytest.approx(statistics.mean(rises), abs=2e-6)
    assert rows["both"]["head"] is None
    named = {"both": [(0, 1), "L1H2"], "one": [(1, 2)]}
    assert headgauge.ablate(model, _tokens(), groups=named, **SMALL).effects.equals(found)


def test_a_run_goes_on_to_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    model = case("llama", "sdpa").model
    shares: list[float] = []
    whole = headgauge.ablate(
        model, _tokens(), out=tmp_path / "whole", progress=shares.append, **SMALL
    )
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    measured, own = [], runner.measure_unit

    def failing(source: Any, unit: Any, *rest: Any) -> Any:
        if len(measured) == 1:
            raise KeyboardInterrupt
        measured.append(unit.key)
        return own(source, unit, *rest)

    monkeypatch.setattr(runner, "measure_unit", failing)
    with pytest.raises(KeyboardInterrupt):
        headgauge.ablate(model, _tokens(), out=tmp_path / "again", **SMALL)
    monkeypatch.undo()
    with pytest.raises(InputError, match="is not finished"):
        headgauge.read_run(tmp_path / "again")
    headgauge.ablate(model, _tokens(), out=tmp_path / "again", **SMALL)
    there, again = (
        {
            path.name: hashlib.sha256(path.read_bytes()).hexdigest()
            for path in made.glob("*.parquet")
        }
        for made in (tmp_path / "whole", tmp_path / "again")
    )
    assert there == again
    assert set(there) == {"effects.parquet", "window_effects.parquet", "means.parquet"}
    found = headgauge.read_run(tmp_path / "again")
    assert isinstance(found, Ablation)
    assert found.effects.equals(whole.effects)
    assert found.means is not None
    with models.ablated(model, ["L0H0"], means=found.means):
        pass
    with pytest.raises(InputError, match="other settings"):
        headgauge.ablate(model, _tokens(), how="zero", out=tmp_path / "again", **SMALL)
    with pytest.raises(InputError, match="nothing to draw"):
        headgauge.draw(found)


def test_a_scan_with_effects_has_those_of_ablate(tmp_path: Path):
    model = case("llama", "sdpa").model
    asked: dict[str, Any] = {"length": [12, LENGTH], "windows": 3, "threads": 1, "top_n": [1]}
    result = headgauge.scan(model, _tokens(), effects=True, **asked)
    assert result.heads.filter(length=12)["effect"].null_count() == 3 * 8
    table = headgauge.ablate(model, _tokens(), **SMALL).tables["window_effects"]
    keys = ["window", "layer", "head"]
    ours = result.heads.filter(length=LENGTH).select(*keys, "effect").sort(keys)
    assert ours.equals(table.select(*keys, "effect").sort(keys))
    frame = result.frame().sort("layer", "head")
    assert frame["effect_error"].null_count() == 0
    first = ours.filter(layer=0, head=0)["effect"].to_list()
    assert frame["effect"][0] == pytest.approx(statistics.mean(first))
    assert frame["effect_error"][0] == pytest.approx(statistics.stdev(first) / math.sqrt(3))
    saved = result.save(tmp_path / "run")
    assert saved.tables["means"].equals(result.tables["means"])
    plain = headgauge.scan(model, _tokens(), **asked)
    assert plain.frame()["effect"].null_count() == 8
    assert "effects" not in plain.manifest["settings"]


def test_one_window_has_no_error_and_a_short_text_its_own_means():
    model = case("llama", "sdpa").model
    result = headgauge.ablate(model, _tokens(LENGTH), layers=[1], threads=1)
    assert result.effects["error"].null_count() == 4
    assert any("means are those of the judged windows" in note for note in result.notes())


def test_what_is_not_finite_has_no_effect():
    model = case("llama", "sdpa").model
    with torch.no_grad():
        model.model.layers[1].mlp.down_proj.weight[0, 0] = torch.nan
    result = headgauge.ablate(model, _tokens(), **SMALL)
    assert result.effects["effect"].null_count() == 8


@pytest.mark.parametrize(
    ("name", "asked", "said"),
    [
        ("bert", {}, "is an encoder and predicts no next token"),
        ("gptj", {}, "can be ablated, such as transformer.h.0.attn: it computes its attention"),
        ("llama", {"how": "median"}, "no how named 'median'; there are mean, zero"),
        ("llama", {"layers": [2]}, "has layers 0 to 1, not 2"),
        ("llama", {"groups": {"a": ["L0H9"]}}, "has heads L0H0 to L1H3, not L0H9"),
        ("llama", {"groups": {"a": []}}, "the group 'a' needs at least one head"),
        ("llama", {"groups": {"a": [7]}}, "the group 'a' wants heads such as L18H7, got 7"),
        ("llama", {"groups": {"a": 7}}, "the group 'a' must be a list of heads, got 7"),
        ("llama", {"groups": {}}, "groups must have names and their heads"),
        ("llama", {"groups": "nowhere.json"}, "cannot read nowhere.json: No such file"),
        ("llama", {"groups": {"a": ["L0H0"]}, "layers": [0]}, "groups name their heads themselves"),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_mistakes_are_told_in_a_line(name: str, asked: dict[str, Any], said: str):
    model = case(name, "eager" if name == "gptj" else "sdpa").model
    with pytest.raises(InputError, match=said):
        headgauge.ablate(model, _tokens(), **(SMALL | asked))
    if name == "bert":
        with pytest.raises(InputError, match=said):
            headgauge.scan(model, _tokens(), length=LENGTH, effects=True)


def test_the_same_to_the_last_bit_from_every_layer():
    model = case("t5", "sdpa").model
    loaded = models.wrap(model)
    inputs = models.model_inputs(loaded, _tokens(LENGTH)[None])
    kept = KeptLayers(model)
    with torch.no_grad():
        with kept.keeping():
            plain = model(**inputs).logits
        places = {kept.place(name) for name in models.attention_modules(model)}
        assert places == {0, 1, 2, 3}
        for place in places:
            with kept.handed_on(place):
                assert torch.equal(model(**inputs).logits, plain)
                assert torch.equal(model(**inputs).logits, plain)  # in the same memory
    assert not any("forward" in vars(module) for module in model.modules())
