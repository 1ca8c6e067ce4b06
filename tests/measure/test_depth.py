"""The depth table against plain loops over what transformers returns."""

import math
from typing import Any

import polars as pl
import pytest
import torch
from torch import Tensor

from headgauge import models
from headgauge.measure import depth
from headgauge.measure.depth import depth_table
from headgauge.runs import DepthRow, HeadRow, UnitKey, frame_schema
from headgauge.scanning import scan
from norm_families import NAMED

KEY = UnitKey(0, 24)


def _heads(*rows: tuple[str, int, float]) -> pl.DataFrame:
    """The columns of the heads that matter here."""
    found = pl.DataFrame(rows, schema=["module", "occurrence", "effective_n"], orient="row")
    return found.cast({"occurrence": pl.Int64}) if rows else pl.DataFrame(
        schema=frame_schema(HeadRow)
    )  # fmt: skip


def _table(name: str, heads: pl.DataFrame | None = None, **more: Any) -> tuple[pl.DataFrame, Any]:
    family = NAMED[name]
    model = family.build(family.implementations[0]) if "model" not in more else more["model"]
    inputs = {key: ids[:1] for key, ids in family.inputs().items() if key != "attention_mask"}
    with torch.no_grad():
        output = model(**inputs, output_hidden_states=True)
    made = depth_table(model, KEY, inputs, _heads() if heads is None else heads)
    states = getattr(output, "decoder_hidden_states", None) or output.hidden_states
    return made, [state[0].double() for state in states]


def _cosines(state: Tensor, centres: bool) -> list[float]:
    if centres:
        state = state - state.mean(-1, keepdim=True)
    return [
        float(torch.cosine_similarity(state[i], state[j], dim=0))
        for i in range(len(state))
        for j in range(i)
    ]


@pytest.mark.parametrize(
    ("name", "scheme", "centres"),
    [("llama", "pre_ln", False), ("gpt2", "pre_ln", True), ("gemma3", "peri_ln", False)],
)
def test_every_number(name: str, scheme: str, centres: bool) -> None:
    found, states = _table(name)
    assert dict(found.schema) == dict(frame_schema(DepthRow))
    assert found["layer"].to_list() == [0, 1, 2]
    assert found["scheme"].to_list() == [scheme, scheme, None]
    assert found["module"].to_list()[-1] == ""
    assert set(found["tokens"]) == {24}
    for layer in (0, 1):
        row = found.row(layer, named=True)
        cosines = _cosines(states[layer], centres)
        lengths = states[layer].norm(dim=-1)
        assert row["mean_cosine"] == pytest.approx(sum(cosines) / len(cosines), abs=1e-9)
        assert row["least_cosine"] == pytest.approx(min(cosines), abs=1e-9)
        assert row["together"] == pytest.approx(
            sum(each >= 0.999 for each in cosines) / len(cosines)
        )
        energy = (24 + 2 * sum(math.exp(each - 1) for each in cosines)) / (2 * 24**2)
        assert row["energy"] == pytest.approx(energy, rel=1e-9)
        assert row["variance"] == pytest.approx(1 - (24 + 2 * sum(cosines)) / 24**2, rel=1e-9)
        assert row["radius"] == pytest.approx(float(lengths.mean()), rel=1e-6)
        assert row["radius_low"] == pytest.approx(float(lengths.quantile(0.05)), rel=1e-6)
        assert row["radius_high"] == pytest.approx(float(lengths.quantile(0.95)), rel=1e-6)
    # Between the layers; the model's last state is behind its final norm.
    before, after = (
        each - centres * each.mean(-1, keepdim=True) for each in (states[0], states[1])
    )
    turned = torch.cosine_similarity(before, after).acos()
    assert found["speed"][0] == pytest.approx(float(turned.mean()), rel=1e-6)
    assert found["speed_low"][0] == pytest.approx(float(turned.quantile(0.05)), rel=1e-6)
    last = found.row(2, named=True)
    for column in ("attention_norm", "other_norm", "speed", "attention_speed", "effective_n"):
        assert last[column] is None
        assert column == "effective_n" or found[column][1] is not None


def test_what_attention_and_the_rest_add() -> None:
    model = NAMED["llama"].build("sdpa")
    made: dict[str, Tensor] = {}
    layer = model.model.layers[1]
    for part in ("self_attn", "mlp"):
        getattr(layer, part).register_forward_hook(
            lambda module, args, output, part=part: made.__setitem__(
                part, (output[0] if isinstance(output, tuple) else output)[0].double()
            )
        )
    found, states = _table("llama", model=model)
    row = found.row(1, named=True)
    assert row["attention_norm"] == pytest.approx(
        float(made["self_attn"].norm(dim=-1).mean()), rel=1e-5
    )
    assert row["other_norm"] == pytest.approx(float(made["mlp"].norm(dim=-1).mean()), rel=1e-4)
    turned = torch.cosine_similarity(states[1], states[1] + made["self_attn"]).acos()
    assert row["attention_speed"] == pytest.approx(float(turned.mean()), rel=1e-5)


def _with_sink(model: Any, layer: int, factor: float = 1000.0) -> None:
    """From a layer on the first token is long."""

    def lengthen(module: Any, args: Any, output: Any) -> Any:
        output = output.clone()
        output[:, 0] *= factor
        return output

    model.model.layers[layer].register_forward_hook(lengthen)


@pytest.mark.parametrize("layer", [0, 1])
def test_a_sink_is_left_out_everywhere(layer: int) -> None:
    model = NAMED["llama"].build("sdpa")
    _with_sink(model, layer)
    found, states = _table("llama", model=model)
    assert found["tokens"].to_list() == [23] * 3
    cosines = _cosines(states[0][1:], False)
    assert found["mean_cosine"][0] == pytest.approx(sum(cosines) / len(cosines), abs=1e-9)
    assert found["radius"][0] == pytest.approx(float(states[0][1:].norm(dim=-1).mean()), rel=1e-6)
    assert found["speed_high"][0] < math.pi


def test_of_three_tokens_none_is_a_sink() -> None:
    model = NAMED["llama"].build("sdpa")
    _with_sink(model, 0)
    ids = NAMED["llama"].inputs()["input_ids"][:1, :3]
    assert set(depth_table(model, KEY, {"input_ids": ids}, _heads())["tokens"]) == {3}


def test_a_sink_that_goes_again_stays_left_out() -> None:
    model = NAMED["llama"].build("sdpa")
    _with_sink(model, 0)
    _with_sink(model, 1, 0.001)
    assert _table("llama", model=model)[0]["tokens"].to_list() == [23] * 3


@pytest.mark.parametrize(("tokens", "layers", "adds"), [(2, 1, True), (24, 2, False)])
def test_small_windows_and_attention_that_adds_nothing(
    tokens: int, layers: int, adds: bool
) -> None:
    """Through the whole of a scan, its notes and its predictions."""
    model: Any = NAMED["llama"].build("sdpa")
    model.model.layers = model.model.layers[:layers]
    for layer in model.model.layers:
        layer.self_attn.o_proj.weight.data *= adds
    ids = NAMED["llama"].inputs()["input_ids"][:1, :tokens]
    found = scan(model, ids, top_n=[1], depth=True)
    table = found.depth
    assert table is not None
    assert table["layer"].to_list() == list(range(layers + 1))
    assert set(table["tokens"]) == {tokens}
    state = model.get_input_embeddings()(ids)[0].detach().double()
    cosines = _cosines(state, False)
    assert table["mean_cosine"][0] == pytest.approx(sum(cosines) / len(cosines), abs=1e-9)
    assert table["least_cosine"][0] == pytest.approx(min(cosines), abs=1e-9)
    assert (table["attention_norm"][0] > 0) == adds
    assert (table["attention_speed"][0] > 0) == adds
    assert found.depth_layers()["predicted_cosine"].null_count() == (0 if adds else layers + 1)


def test_many_tokens_are_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, states = _table("llama")
    monkeypatch.setattr(depth, "SAMPLE", 11)
    monkeypatch.setattr(depth, "_AT_ONCE", 7)
    found, _ = _table("llama")
    picked = [0, 2, 4, 6, 8, 10, 13, 15, 17, 19, 21, 23]
    cosines = _cosines(states[1][picked], False)
    assert found["mean_cosine"][1] == pytest.approx(sum(cosines) / len(cosines), abs=1e-9)
    assert set(found["tokens"]) == {24}
    for column in ("radius", "speed", "attention_norm", "other_norm", "radius_low"):
        expected = whole[column].drop_nulls().to_list()
        assert found[column].drop_nulls().to_list() == pytest.approx(expected, rel=1e-12)


def test_keys_are_those_of_the_layers_own_attention() -> None:
    heads = _heads(
        ("model.layers.0.self_attn", 0, 3.0),
        ("model.layers.0.self_attn", 0, 5.0),
        ("model.layers.0.self_attn", 1, 9.0),
        ("model.layers.9.self_attn", 0, 7.0),
    )
    assert _table("llama", heads)[0]["effective_n"].to_list() == [4.0, None, None]
    group = "encoder.albert_layer_groups.0.albert_layers.0.attention"
    shared = _heads(*((group, run, float(run)) for run in range(3)))
    assert _table("albert", shared)[0]["effective_n"].to_list() == [0.0, 1.0, 2.0, None]
    decoder = "decoder.block.{}.layer.{}".format
    t5 = _heads((decoder(0, "0.SelfAttention"), 0, 2.0), (decoder(0, "1.EncDecAttention"), 0, 8.0))
    assert _table("t5", t5)[0]["effective_n"].to_list() == [2.0, None, None]


@pytest.mark.parametrize("name", [name for name in NAMED if name not in ("vit", "t5", "bart")])
def test_families(name: str) -> None:
    found, states = _table(name)
    assert len(found) == len(states)
    for row, state in zip(found.iter_rows(named=True), states[:-1], strict=False):
        if row["tokens"] == len(state):
            assert row["radius"] == pytest.approx(float(state.norm(dim=-1).mean()), rel=1e-6)
        assert 0 < row["attention_speed"] <= math.pi
    assert models.recognise(found["scheme"].to_list()[:-1]).scheme != "mix_ln"
