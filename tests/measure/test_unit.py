"""A unit's numbers against theory/ on the model's own attention weights."""

from typing import Any

import numpy as np
import polars as pl
import pytest
import torch
from torch import Tensor

from headgauge import models
from headgauge.measure.unit import Unit, measure_unit
from headgauge.runs import UnitKey, UnitTables
from headgauge.scanning.scanning import ScanSettings, scan_task
from headgauge.theory.normalization import (
    concentration,
    distance,
    selection,
    sensitivity,
    separability,
)
from model_families import case
from scanning.conftest import three_windows

LENGTH = 24
TOP_NS = (1, 2, 4, 8)


def _unit(ids: Tensor, window: int = 0) -> Unit:
    return Unit(UnitKey(window, ids.shape[-1]), 100, tuple(ids[window].tolist()))


def _measure(model: Any, ids: Tensor, **choices: Any) -> UnitTables:
    settings = ScanSettings(
        lengths=(LENGTH,), **({"top_ns": TOP_NS, "block_rows": 7, "precision": "float64"} | choices)
    )
    source, unit = models.wrap(model), _unit(ids)
    return measure_unit(source, unit, settings, scan_task(settings, unit.key))


@pytest.fixture(scope="module")
def model() -> Any:
    """Of the tests that change nothing in it."""
    return case("llama", "sdpa").model


@pytest.fixture(scope="module")
def unit(model: Any) -> UnitTables:
    """All of it, measured once."""
    return _measure(model, three_windows(), keep_rows=True)


@pytest.fixture(scope="module")
def attention() -> list[tuple[Tensor, Tensor]]:
    return _weights_and_values(case("llama", "sdpa").model, three_windows())


def _weights_and_values(model: Any, ids: Tensor) -> list[tuple[Tensor, Tensor]]:
    """(heads, rows, keys) weights and (heads, keys, dim) values of each layer, in float64."""
    found = []

    def keep(call: models.ObservedCall) -> None:
        assert isinstance(call, models.AttentionCall)
        found.append(call.value[0].repeat_interleave(call.heads // call.kv_heads, 0).double())

    with torch.no_grad(), models.intercept(model, keep):
        model(ids[:1])
    model.set_attn_implementation("eager")
    with torch.no_grad():
        attentions = model(ids[:1], output_attentions=True).attentions
    return [(a[0].double(), v) for a, v in zip(attentions, found, strict=True)]


def test_every_number_is_theorys(unit: UnitTables, attention: Any, unchecked: None) -> None:
    assert len(unit.tables["heads"]) == 2 * 4
    assert len(unit.tables["curves"]) == 2 * 4 * len(TOP_NS) * 2
    log_n = torch.arange(1, LENGTH + 1).double().log()
    for layer, (weights, values) in enumerate(attention):
        norms = torch.linalg.vector_norm(weights @ values, dim=-1).mean(-1)
        for head, a in enumerate(weights):
            row = unit.tables["heads"].row(by_predicate=_at(layer, head), named=True)
            entropy = concentration.entropy(a)
            expected = {
                "entropy": entropy.mean(),
                "entropy_share": (entropy / log_n)[1:].mean(),
                "effective_n": entropy.exp().mean(),
                "sink_weight": a[:, 0].mean(),
                "jacobian_norm": sensitivity.largest_eigenvalue(a).mean(),
                "output_norm": norms[head],
                "output_ratio": norms[head] / norms.mean(),
            }
            for name, value in expected.items():
                assert row[name] == pytest.approx(float(value), rel=1e-5), name
            assert (row["rows"], row["kv_head"], row["seen"]) == (LENGTH, head // 2, "qkv")
            own = unit.tables["curves"].filter(_at(layer, head))
            _check_curves(own.filter(keys="visible"), a, values[head], 0)
            _check_curves(own.filter(keys="off_sink"), a, values[head], 1)


def _at(layer: int, head: int) -> pl.Expr:
    return (pl.col("layer") == layer) & (pl.col("head") == head)


def _check_curves(curves: pl.DataFrame, weights: Tensor, values: Tensor, first: int) -> None:
    """Over the keys from the first one on that counts; what weight they have is all there is."""
    x = torch.nn.functional.normalize(values, dim=-1)
    for n in TOP_NS:
        row = curves.row(by_predicate=pl.col("top_n") == n, named=True)
        found: dict[str, list[float]] = {"distance": [], "radius": [], "separability": []}
        for t in range(n + first, LENGTH):
            a, seen = weights[t, first : t + 1], x[first : t + 1]
            a = a / a.sum()
            chosen = selection.top_n(a, n)
            found["distance"].append(float(distance.distance(a, seen, chosen)))
            found["radius"].append(float(separability.radius(a, seen, chosen)))
            found["separability"].append(float(separability.separability(a, seen, chosen)))
        assert row["rows"] == LENGTH - n - first
        for name, each in found.items():
            assert row[name] == pytest.approx(np.mean(each), rel=1e-5), name


def test_the_largest_logit_is_over_all_rows(model: Any, ids: Tensor, unit: UnitTables) -> None:
    largest: dict[tuple[int, int], float] = {}

    def keep(call: models.ObservedCall) -> None:
        for block in call.blocks(LENGTH):
            assert block.raw is not None
            largest[call.layer, block.head] = float(block.raw[block.visible].max())

    with torch.no_grad(), models.intercept(model, keep):
        model(ids[:1])
    heads = unit.tables["heads"]
    for layer, head, found in heads.select("layer", "head", "max_logit").iter_rows():
        assert found == pytest.approx(largest[layer, head], rel=1e-6)


def test_single_precision_is_close(model: Any, ids: Tensor, unit: UnitTables) -> None:
    exact, fast = unit.tables["curves"], _measure(model, ids, precision="float32").tables["curves"]
    for name in ("distance", "radius", "expected_appendix", "bound_upper"):
        assert np.allclose(exact[name], fast[name], rtol=1e-4), name
    assert exact["separability"].equals(fast["separability"])


def test_rows_average_to_heads_and_samples_are_among_them(
    unit: UnitTables, attention: Any, ids: Tensor
) -> None:
    assert len(unit.tables["rows"]) == 8 * LENGTH
    means = (
        unit.tables["rows"]
        .group_by("layer", "head")
        .agg(pl.mean("entropy", "sink_weight", "jacobian_norm", "output_norm"), pl.max("max_logit"))
    )
    both = unit.tables["heads"].join(means, on=["layer", "head"], suffix="_rows")
    for name in ("entropy", "sink_weight", "jacobian_norm", "output_norm", "max_logit"):
        assert np.allclose(both[name], both[f"{name}_rows"], rtol=1e-12), name
    assert len(unit.tables["samples"]) > 0
    assert unit.tables["samples"].filter(pl.col("rank") == 1)["weight"].min() > 0  # type: ignore[operator]
    for sample in unit.tables["samples"].iter_rows(named=True):
        row = attention[sample["layer"]][0][sample["head"], sample["row"]]
        assert sample["weight"] == pytest.approx(float(row[sample["key"]]), abs=1e-6)
        assert sample["weight"] == pytest.approx(
            float(row.sort(descending=True).values[sample["rank"] - 1]), abs=1e-6
        )
        assert sample["key_id"] == int(ids[0, sample["key"]])
        assert sample["query_id"] == int(ids[0, sample["row"]])
        assert sample["visible"] == sample["row"] + 1
        assert sample["query_text"] is None


def test_layers_and_heads(model: Any, ids: Tensor, unit: UnitTables) -> None:
    part = _measure(model, ids, layers=(1,), heads=(0, 3))
    chosen = (pl.col("layer") == 1) & pl.col("head").is_in([0, 3])
    # The layer's mean output is over all its heads, scanned or not.
    assert part.tables["heads"].equals(unit.tables["heads"].filter(chosen))
    assert part.tables["curves"].equals(unit.tables["curves"].filter(chosen))


def test_several_vectors_and_both_keys(model: Any, ids: Tensor) -> None:
    kinds, some = models.VECTOR_KINDS, {"layers": (1,), "top_ns": (1, 8)}
    several = _measure(model, ids, vectors=kinds, keys=("visible", "all"), **some)
    assert len(several.tables["heads"]) == 4
    curves = several.tables["curves"]
    assert len(curves) == 4 * 2 * (len(kinds) * 2 + 1)  # and value without the first key
    alone = _measure(model, ids, vectors=("hidden",), keys=("all",), **some).tables["curves"]
    own = curves.filter(vectors="hidden", keys="all")
    assert alone.equals(own)
    assert set(own["rows"]) == {LENGTH}
    assert curves.filter(keys="visible", top_n=8)["rows"].unique().to_list() == [LENGTH - 8]


def test_what_only_the_softmax_shows(build: Any, ids: Tensor) -> None:
    model = build("gptj").model
    unit = _measure(model, ids, vectors=("value", "hidden"), top_ns=(1,))
    assert set(unit.tables["heads"]["seen"]) == {"softmax"}
    assert len(unit.facts["tapped"]) == 2
    for name in ("output_norm", "output_ratio", "max_logit"):
        assert unit.tables["heads"][name].null_count() == len(unit.tables["heads"]), name
    assert unit.tables["heads"]["entropy"].null_count() == 0
    assert set(unit.tables["curves"]["vectors"]) == {"hidden"}


def test_an_encoder_decoder(build: Any, ids: Tensor) -> None:
    unit = _measure(build("t5").model, ids, top_ns=(1,))
    assert len(unit.tables["heads"]) == 6 * 4
    assert unit.tables["heads"].filter("cross")["module"].n_unique() == 2
    cross = unit.tables["samples"].filter(pl.col("module").str.contains("EncDec"))
    assert len(cross) > 0
    for sample in cross.iter_rows(named=True):
        assert sample["key_id"] == int(ids[0, sample["key"]])
        # The decoder reads the window one place later, behind its start token.
        if sample["row"]:
            assert sample["query_id"] == int(ids[0, sample["row"] - 1])
        assert sample["visible"] == LENGTH


def test_a_module_that_cannot_be_seen_is_named(llama: Any, ids: Tensor, monkeypatch: Any) -> None:
    module = llama.model.layers[1].self_attn
    original = type(module).forward

    def elsewhere(self: Any, *args: Any, **kwargs: Any) -> Any:
        if self is not module:
            return original(self, *args, **kwargs)
        return (kwargs.get("hidden_states", args[0] if args else None), None)

    monkeypatch.setattr(type(module), "forward", elsewhere)
    unit = _measure(llama, ids, top_ns=(1,))
    assert unit.facts["unseen"] == ["model.layers.1.self_attn"]
    assert set(unit.tables["heads"]["layer"]) == {0}


def test_depth_has_the_keys_of_its_heads(model: Any, ids: Tensor, unit: UnitTables) -> None:
    deep = _measure(model, ids, layers=(1,), top_ns=(1,), depth=True)
    mean = pytest.approx(deep.tables["heads"]["effective_n"].mean())
    assert deep.tables["depth"]["effective_n"].to_list() == [None, mean, None]
    # All layers, whichever were asked for.
    assert deep.tables["depth"]["attention_norm"].null_count() == 1
    assert deep.facts["seconds"]["depth"] > 0
    assert "depth" not in unit.tables


def test_everything_is_put_back(llama: Any, ids: Tensor) -> None:
    llama.train()
    llama.model.layers[0].eval()
    torch.manual_seed(3)
    state, threads = torch.get_rng_state(), torch.get_num_threads()
    unit = _measure(llama, ids, threads=1, seed=11, top_ns=(1,))
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.get_num_threads() == threads
    assert llama.training
    assert not llama.model.layers[0].training
    assert llama.model.layers[1].training
    assert unit.facts["loss"] == pytest.approx(_loss(llama.eval(), ids), rel=1e-5)


def _loss(model: Any, ids: Tensor) -> float:
    with torch.no_grad():
        return float(model(ids[:1], labels=ids[:1]).loss)


def test_progress_reaches_one(llama: Any, ids: Tensor) -> None:
    shares: list[float] = []
    settings = ScanSettings(lengths=(LENGTH,), top_ns=(1,))
    source = models.wrap(llama)
    task = scan_task(settings, _unit(ids).key)
    measure_unit(source, _unit(ids), settings, task, shares.append)
    assert shares == [0.5, 1.0]
