"""What is asked of a unit is what is measured: rules, drawn rows, probes, whose time it was."""

from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch
from torch import Tensor

from headgauge import engine, models, normalizers
from headgauge.measure.requests import OWN, CurveRequest, Probe, Task, spread_rows
from headgauge.measure.settings import UnitSettings
from headgauge.measure.unit import Unit, measure_unit
from headgauge.runs import UnitKey, UnitTables
from headgauge.runs.schema import PAPER

LENGTH = 24
TOP_NS = (1, 3, 7)
MEASURES = ("distance", "expected_printed", "expected_upper", "bound_upper", "radius")


def _measure(model: Any, ids: Tensor, *asked: CurveRequest, **more: Any) -> UnitTables:
    settings = UnitSettings(lengths=(LENGTH,), windows=1, precision="float64", block_rows=7)
    unit = Unit(UnitKey(0, LENGTH), 0, tuple(ids[0].tolist()))
    given: dict[str, Any] = {"judged": False} | more
    task = Task(asked, tables=PAPER, **given)
    return measure_unit(models.wrap(model), unit, settings, task)


def _request(**more: Any) -> CurveRequest:
    given: dict[str, Any] = {
        "vectors": "value",
        "scale": "unit",
        "keys": "visible",
        "top_ns": TOP_NS,
        "table": "paper_curves",
        "part": "paper",
    }
    given.update(more)
    return CurveRequest(**given)


# Which rows


def test_drawn_rows_are_as_many_as_asked_and_lie_as_all_do():
    for queries, count in product((1, 7, 24, 100, 1024), (1, 2, 5, 16, 64)):
        places = spread_rows(0, queries, queries, count)
        assert len(places) == len(set(places.tolist())) == min(count, queries)
        assert places.min() >= 0
        assert places.max() < queries
        # Floored to whole rows: half a row on the mean.
        assert abs(places.mean() - (queries - 1) / 2) <= 0.5


def test_blocks_share_the_drawn_rows_out():
    for count, block in product((None, 1, 10, 37, 100, 1000), (1, 7, 64, 100, 256)):
        whole = spread_rows(0, 100, 100, count)
        parts = [
            start + spread_rows(start, min(start + block, 100), 100, count)
            for start in range(0, 100, block)
        ]
        assert np.concatenate(parts).tolist() == whole.tolist()


def test_all_rows_are_all():
    assert spread_rows(3, 9, 20, None).tolist() == [0, 1, 2, 3, 4, 5]
    assert spread_rows(3, 9, 20, 20).tolist() == [0, 1, 2, 3, 4, 5]
    assert spread_rows(0, 20, 20, 4).tolist() == [2, 7, 12, 17]
    assert spread_rows(3, 9, 20, 4).tolist() == [4]


# What is measured


RULES = {
    OWN: None,
    "softmax T=0.5": normalizers.get("softmax", temperature=0.5),
    "softmax": normalizers.get("softmax"),
    "sparsemax": normalizers.get("sparsemax"),
    "ssmax": normalizers.get("ssmax"),
}


def _by_hand(model: Any, ids: Tensor, request: CurveRequest) -> dict[tuple[int, int], Any]:
    """The engine on rule(logits) of whole heads, without blocks."""
    rows, found = spread_rows(0, LENGTH, LENGTH, request.rows), {}

    def observer(call: models.ObservedCall) -> None:
        assert isinstance(call, models.AttentionCall)
        for head in range(call.heads):
            block = call.block(0, head, 0, call.queries)
            logits, seen = block.logits[rows], block.visible[rows]
            rule: Any = request.normalizer
            weights = block.weights[rows] if rule is None else rule(logits, seen)
            x = call.value[0, call.kv_head(head)]
            geometry = engine.Geometry.of(x, raw=False, precision="float64")
            keys: Any = request.keys
            found[call.layer, head] = engine.curves(weights, geometry, TOP_NS, seen, keys)

    with torch.no_grad(), models.intercept(model, observer):
        model(ids[:1])
    return found


def _check(table: pl.DataFrame, model: Any, ids: Tensor, request: CurveRequest) -> None:
    wanted = _by_hand(model, ids, request)
    assert len(table) == len(wanted) * len(TOP_NS)
    for row in table.iter_rows(named=True):
        curves = wanted[row["layer"], row["head"]]
        at = TOP_NS.index(row["top_n"])
        assert row["rows"] == curves.counts[:, at].sum()
        for name in MEASURES:
            mean = np.nanmean(getattr(curves, name)[:, at])
            assert row[name] == pytest.approx(mean, rel=1e-6), name


@pytest.mark.parametrize(("family", "keys"), [("gpt2", "all"), ("llama", "visible")])
def test_rules_are_put_on_the_models_own_logits(build, ids, family, keys, unchecked):
    model = build(family, "sdpa").model
    asked = [_request(rule=name, normalizer=rule, keys=keys) for name, rule in RULES.items()]
    table = _measure(model, ids, *asked).tables["paper_curves"]
    assert set(table["rule"]) == RULES.keys()
    for request in asked:
        _check(table.filter(rule=request.rule), model, ids, request)
    own, same, other = (
        table.filter(rule=name)["distance"].to_numpy() for name in (OWN, "softmax", "softmax T=0.5")
    )
    assert np.allclose(own, same, rtol=1e-6)
    assert not np.allclose(own, other, rtol=1e-2)


def test_only_the_drawn_rows_are_measured(llama, ids):
    for count in (1, 5, 11):
        request = _request(rows=count, keys="all")
        table = _measure(llama, ids, request).tables["paper_curves"]
        assert set(table["rows"]) == {count}
        _check(table, llama, ids, request)


def test_a_drawn_rule_is_put_on_the_drawn_rows(llama, ids):
    request = _request(rows=6, rule="sparsemax", normalizer=RULES["sparsemax"])
    _check(_measure(llama, ids, request).tables["paper_curves"], llama, ids, request)


def test_curves_go_to_their_table(llama, ids):
    scanned = _request(table="curves", part="curves")
    unit = _measure(llama, ids, scanned, _request(top_ns=(2,)))
    assert unit.tables["curves"]["top_n"].unique().to_list() == list(TOP_NS)
    assert "rule" not in unit.tables["curves"].columns
    assert unit.tables["paper_curves"]["top_n"].unique().to_list() == [2]
    assert unit.tables["sensitivity"].is_empty()
    assert unit.tables["heads"].is_empty()  # not judged


def test_the_rule_names_a_curve_only_where_the_table_has_it():
    assert _request(rule="ssmax").choice["rule"] == "ssmax"
    assert "rule" not in _request(table="curves").choice


# Whose time it was


def test_time_is_booked_under_the_purpose(llama, ids):
    def spent(*asked: CurveRequest, **more: Any) -> set[str]:
        return set(_measure(llama, ids, *asked, **more).facts["seconds"])

    assert spent(_request(part="rules"), _request(top_ns=(9,))) == {
        "forward", "loss", "vectors", "rules", "paper",
    }  # fmt: skip
    scanned = _request(table="curves", part="curves")
    assert spent(scanned) == {"forward", "loss", "vectors", "weights", "curves"}
    judged = {"row measures", "samples", "tables", "weights"}
    assert spent(_request(), judged=True) == {"forward", "loss", "vectors", "paper"} | judged


def test_probes_see_every_head_and_its_vectors(llama, ids):
    def measure(head: Any, vectors: Any) -> list[dict[str, Any]]:
        x = vectors("value")
        assert x.shape == (LENGTH, 8)
        named = {"logits": "scaled", "direction": "random", "epsilon": 0.1, "temperature": 1.0}
        values = {"rows": LENGTH, "sensitivity": float(x.norm()), "spread": 0.0}
        return [head.where | named | values]

    probe = Probe("sensitivity", "probing", ("value",), measure)
    unit = _measure(llama, ids, probes=(probe,))
    found = unit.tables["sensitivity"]
    assert found.select("layer", "head").rows() == [(i, j) for i in range(2) for j in range(4)]
    assert "probing" in unit.facts["seconds"]
    norms = {}

    def observer(call: Any) -> None:
        for head in range(call.heads):
            norms[call.layer, head] = float(call.value[0, call.kv_head(head)].norm())

    with torch.no_grad(), models.intercept(llama, observer):
        llama(ids[:1])
    for layer, head, value in found.select("layer", "head", "sensitivity").iter_rows():
        assert value == pytest.approx(norms[layer, head], rel=1e-6)


def test_vectors_that_cannot_be_seen_are_none(build, ids):
    seen = []

    def measure(head: Any, vectors: Any) -> list[dict[str, Any]]:
        seen.append((vectors("value"), vectors("hidden") is None))
        return []

    probe = Probe("points", "points", ("value", "hidden"), measure)
    unit = _measure(build("gptj").model, ids, probes=(probe,))
    assert seen == [(None, False)] * 8
    assert unit.tables["points"].is_empty()
