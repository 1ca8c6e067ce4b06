"""Lemma 1 and Corollary 1, as the probe measures them, against `theory.vanishing` row by row;
Assumptions 1 and 2 on a model's own vectors, against all pairs."""

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch

from headgauge import models
from headgauge.paper import assumptions
from headgauge.paper.assumptions import BOUNDS, MEASURES, TOP, vanishing_probe
from headgauge.paper.choices import RULES, rule
from headgauge.runs.paper_schema import VanishingRow
from headgauge.runs.schema import VanishingHeadRow, frame_schema
from headgauge.theory.normalization import vanishing as theory
from model_families import Case, case

WHERE = {"window": 0, "length": 24, "layer": 0, "occurrence": 0, "module": "m", "head": 0}


def _measured(call: models.ObservedCall, head: int, rules: tuple[str, ...] = ()):
    given: Any = SimpleNamespace(call=call, head=head, where=WHERE)
    return {row["rule"]: row for row in vanishing_probe(4, rules).measure(given, lambda kind: None)}


def _places(queries: int, count: int) -> list[int]:
    """Spread over the last quarter, its ends among them."""
    first = queries - max(1, queries // 4)
    return sorted({round(each) for each in np.linspace(first, queries - 1, count).tolist()})


def _naive(call: Any, head: int, places: list[int]) -> dict[str, float | None]:
    """Row by row, in float64, on the visible keys alone."""
    found: dict[str, list[float]] = {name: [] for name in MEASURES}
    for place in places:
        block = call.block(0, head, place, place + 1)
        keys = block.visible[0].nonzero()[:, 0]
        if len(keys) < 2:
            continue
        weights, logits = block.weights[0].double(), block.logits[0][keys].double()
        ordered = weights.sort(descending=True).values
        found["largest_weight"].append(float(ordered[0]))
        found["top_mass"].append(float(ordered[:TOP].sum()))
        if (rest := float(weights[1:].sum())) > 0:
            found["largest_off_sink"].append(float(weights[1:].max()) / rest)
        n = len(keys)
        spread = theory.logit_range(logits)
        found["bound_range"].append(float(theory.corollary_1_sharp(spread, n)[1].log10()))
        found["bound_mean"].append(float(theory.jensen_upper_bound(logits).max().log10()))
        if isinstance(call, models.AttentionCall):
            query = call.query[0, head, place].double()
            key = call.key[0, call.kv_head(head), keys].double()
            reach = theory.corollary_1_range(query, key, 1 / call.scaling)
            found["bound_printed"].append(float(reach - math.log(n)) / math.log(10))
    return {name: float(np.mean(each)) if each else None for name, each in found.items()}


@pytest.mark.parametrize(
    ("family", "kind"),
    [("gpt2", "sdpa"), ("llama", "sdpa"), ("llama-left-padded", "eager"), ("mistral", "sdpa"),
     ("gemma3", "eager"), ("bert", "sdpa"), ("gptj", "eager"), ("falcon-sdpa", "sdpa")],
)  # fmt: skip
def test_every_head_is_theorys(family, kind, unchecked):
    """Causal and not, grouped queries, sliding windows, padding, and where only a softmax shows."""
    for call in case(family, kind).calls():
        for head in range(call.heads):
            found = _measured(call, head)["model"]
            places = _places(call.queries, 4)
            assert found["rows"] == len(places)
            for name, wanted in _naive(call, head, places).items():
                if wanted is None:
                    assert found[name] is None
                    continue
                assert found[name] == pytest.approx(wanted, rel=1e-5, abs=1e-5), name
            assert (found["bound_printed"] is None) == (family == "gptj")


def _bounded(found: dict[str, Any]) -> None:
    """Each bound is above the geometric mean of the largest weight, and the printed one highest."""
    for name in BOUNDS:
        if found[name] is not None:
            assert found[name] >= math.log10(found["largest_weight"]) - 0.5, name
    if found["bound_printed"] is not None:
        assert found["bound_printed"] >= found["bound_mean"] - 1e-6
        assert found["bound_printed"] >= found["bound_range"] - 1e-6


@pytest.mark.parametrize("family", ["gemma2", "t5", "gpt-oss"])
def test_without_plain_logits_there_is_no_printed_bound(family, unchecked):
    """A softcap, a position bias, a sink: q·k alone says nothing of the weights."""
    for call in case(family, "eager").calls():
        found = _measured(call, 0)["model"]
        if family == "t5" and call.cross:
            assert found["bound_printed"] is not None  # cross attention has no bias
            continue
        assert found["bound_printed"] is None
        assert (found["bound_range"] is None) == (family == "gpt-oss")


def _call(logits: torch.Tensor, mask: torch.Tensor | None = None) -> models.AttentionCall:
    """One head whose logits are given: q is the identity, k holds the columns."""
    queries, keys = logits.shape
    return models.AttentionCall(
        module="m",
        layer=0,
        occurrence=0,
        context=None,
        query=torch.eye(queries, dtype=torch.float64)[None, None],
        key=logits.T.contiguous()[None, None],
        value=torch.ones(1, 1, keys, 2, dtype=torch.float64),
        scaling=1.0,
        mask=None if mask is None else mask[None, None],
        causal=False,
        softcap=None,
        sinks=None,
        bias=None,
        output=torch.ones(1, queries, 1, 2, dtype=torch.float64),
    )


def _rows(name: str) -> tuple[torch.Tensor, torch.Tensor | None]:
    source = torch.Generator().manual_seed(3)
    logits = torch.randn(16, 20, dtype=torch.float64, generator=source)
    mask = None
    if name == "one-hot":
        logits = logits * 0
        logits[:, 7] = 900.0
    elif name == "sink":
        logits[:, 0] = 800.0
    elif name == "tied":
        logits = logits * 0
    elif name == "huge":
        logits = logits * 300
    elif name == "masked":
        mask = torch.rand(16, 20, generator=source) < 0.4
        mask[-1] = False
        mask[-1, 5] = True  # sees a single key: left out
        mask[-2] = False  # sees nothing
    return logits, mask


@pytest.mark.parametrize("name", ["random", "one-hot", "sink", "tied", "huge", "masked"])
def test_adversarial_rows(name, unchecked):
    logits, mask = _rows(name)
    call = _call(logits, mask)
    found = _measured(call, 0)["model"]
    for measure, wanted in _naive(call, 0, _places(16, 4)).items():
        if wanted is None:
            assert found[measure] is None
            continue
        if math.isinf(wanted):  # theory's e^R overflows; logarithms do not
            assert math.isfinite(found[measure])
            continue
        assert found[measure] == pytest.approx(wanted, rel=1e-9, abs=1e-9), measure
    _bounded(found)
    if name == "masked":
        assert found["rows"] == 2
    if name == "one-hot":
        assert found["largest_weight"] == found["top_mass"] == 1.0
        assert found["bound_range"] == pytest.approx(0.0, abs=1e-12)
    if name == "sink":  # nothing is left off the sink, to the last digit
        assert found["largest_off_sink"] is None
    if name == "tied":
        assert found["largest_weight"] == pytest.approx(1 / 20)
        assert found["bound_range"] == pytest.approx(math.log10(1 / 20))


def test_a_head_that_sees_one_key_everywhere_has_no_row(unchecked):
    mask = torch.eye(16, 20, dtype=torch.bool)
    assert _measured(_call(_rows("random")[0], mask), 0) == {}


@pytest.mark.parametrize("family", ["llama", "mistral"])
def test_rows_under_rules(family, unchecked):
    """The rule on the visible logits alone, row by row; no softmax bound is told of it."""
    made: Case = case(family, "sdpa")
    call: Any = made.calls()[1]
    found = _measured(call, 2, tuple(RULES))
    assert list(found) == ["model", *RULES]
    for name in RULES:
        largest, mass = [], []
        for place in _places(call.queries, 4):
            block = call.block(0, 2, place, place + 1)
            seen = block.logits[0][block.visible[0]].double()
            weights = rule(name)(seen, torch.ones(len(seen), dtype=torch.bool))
            ordered = weights.sort(descending=True).values
            largest.append(float(ordered[0]))
            mass.append(float(ordered[:TOP].sum()))
        assert found[name]["largest_weight"] == pytest.approx(np.mean(largest), rel=1e-6)
        assert found[name]["top_mass"] == pytest.approx(np.mean(mass), rel=1e-6)
        assert all(found[name][bound] is None for bound in BOUNDS)
    assert len({round(row["largest_weight"], 6) for row in found.values()}) == len(found)


def test_the_run_has_every_window_length_and_rule(kept, attended):
    table = pl.read_parquet(kept.scan.folder / "vanishing.parquet")
    assert dict(table.schema) == dict(frame_schema(VanishingHeadRow))
    assert set(table.select("window", "length").unique().rows()) == {
        (window, length) for window in (0, 1) for length in (20, 40, 110)
    }
    assert set(table.filter(window=0)["rule"]) == {"model", "softmax T=2", "sparsemax"}
    assert set(table.filter(window=1)["rule"]) == {"model"}
    for window, length in ((0, 40), (1, 110)):
        places = _places(length, 6)
        wanted = attended(window, length).weights[:, :, places].amax(-1).mean(-1)
        mine = table.filter(window=window, length=length, rule="model").sort("layer", "head")
        assert set(mine["rows"]) == {len(places)}
        assert mine["largest_weight"].to_numpy() == pytest.approx(
            wanted.reshape(-1).numpy(), rel=1e-4
        )


def test_the_figure_is_the_mean_over_heads_and_windows(kept):
    table = pl.read_parquet(kept.scan.folder / "vanishing.parquet")
    figure = kept.paper["vanishing"]
    assert dict(figure.schema) == dict(frame_schema(VanishingRow))
    here = table.filter(length=110, rule="model")
    row = figure.filter(length=110, rule="model", measure="largest_weight").row(0, named=True)
    assert row["mean"] == pytest.approx(here["largest_weight"].mean(), rel=1e-12)
    assert (row["heads"], row["windows"], row["rows"]) == (8, 2, 6.0)
    assert row["low"] <= row["mean"] <= row["high"]
    bound = figure.filter(length=110, rule="model", measure="bound_printed").row(0, named=True)
    geometric = 10 ** float(here["bound_printed"].mean())  # pyright: ignore[reportArgumentType]
    assert bound["mean"] == pytest.approx(geometric, rel=1e-9)
    others = figure.filter(pl.col("rule") != "model")
    assert set(others["measure"]) == {"largest_weight", "top_mass", "largest_off_sink"}
    assert set(others["windows"]) == {1}


def test_a_run_without_rows_has_no_figure(frames):
    assert assumptions.vanishing(frames.left("vanishing")).is_empty()


# Assumptions 1 and 2


def _pairs(x: torch.Tensor) -> dict[str, float]:
    x = x.double() / x.double().norm(dim=-1, keepdim=True)
    cosines = x @ x.T
    apart = (x[:, None] - x[None]).norm(dim=-1).fill_diagonal_(9.0)
    off = ~torch.eye(len(x), dtype=torch.bool)
    values = torch.linalg.eigvalsh(x.T @ x)
    nearest = apart.amin(-1)
    return {
        "mean_cosine": float(cosines[off].mean()),
        "effective_dim": float(values.sum() ** 2 / values.square().sum()),
        "delta": float(apart.amin()),
        "nearest": float(nearest.median()),
        "same": float((nearest <= 1e-6).double().mean()),
    }


def test_the_final_states_of_the_run(kept, attended):
    sets = pl.read_parquet(kept.scan.folder / "vector_sets.parquet")
    wanted = _pairs(attended(0, 110).final)
    row = sets.filter(vectors="final").row(0, named=True)
    assert (row["dim"], row["tokens"]) == (32, 110)
    for name, value in wanted.items():
        assert row[name] == pytest.approx(value, rel=1e-3, abs=1e-5), name


def test_each_kind_has_its_sets_once(kept):
    sets = pl.read_parquet(kept.scan.folder / "vector_sets.parquet")
    counts = dict(sets.group_by("vectors").len().rows())
    assert counts == {"embedding": 1, "final": 1, "hidden": 2, "value": 8}
    assert sets.select("window", "length").unique().rows() == [(0, 110)]
    table = kept.paper["vectors"]
    assert dict(table.select("vectors", "sets").rows()) == counts


def test_repeated_tokens_have_one_embedding(kept, tokens):
    """110 draws from 100 words: δ = 0, and as many coincide as are repeated."""
    ids = tokens[0]
    repeated = sum(int((ids == each).sum()) > 1 for each in ids) / len(ids)
    row = kept.paper["vectors"].filter(vectors="embedding").row(0, named=True)
    assert row["delta"] == 0.0
    assert row["same"] == pytest.approx(repeated)
    assert 0 < repeated < 1
    # Positions pull them apart again.
    assert kept.paper["vectors"].filter(vectors="final")["delta"][0] > 1e-3


def test_values_are_measured_once_per_kv_head(unchecked):
    call: Any = case("llama", "sdpa").calls()[0]
    assert (call.heads, call.kv_heads) == (4, 2)
    asked = []
    for head in range(4):

        def vectors(kind: str, head: int = head) -> torch.Tensor:
            asked.append((head, kind))
            return call.value[0, call.kv_head(head)]

        given: Any = SimpleNamespace(call=call, head=head, where=WHERE | {"head": head})
        for row in assumptions.VECTORS_PROBE.measure(given, vectors):
            wanted = _pairs(call.value[0, call.kv_head(head)])
            for name, value in wanted.items():
                assert row[name] == pytest.approx(value, rel=1e-6, abs=1e-7), name
    assert asked == [
        (0, "embedding"), (0, "hidden"), (0, "final"), (0, "value"), (2, "value"),
    ]  # fmt: skip


def test_the_figure_is_the_mean_over_sets(frames):
    one = WHERE | {
        "vectors": "hidden", "dim": 4, "tokens": 9, "mean_cosine": 0.2, "effective_dim": 3.0,
        "delta": 0.5, "nearest": 0.7, "same": 0.0,
    }  # fmt: skip
    other = one | {"layer": 1, "mean_cosine": -0.4, "effective_dim": 1.0, "delta": 0.0, "same": 0.5}
    found = assumptions.vectors(frames.left("vector_sets", [one, other]))
    row = found.row(0, named=True)
    assert len(found) == 1
    assert row["mean_cosine"] == pytest.approx(-0.1)
    assert (row["mean_cosine_low"], row["mean_cosine_high"]) == (-0.4, 0.2)
    assert (row["effective_dim"], row["delta"], row["same"], row["sets"]) == (2.0, 0.0, 0.25, 2)
    assert assumptions.vectors(frames.left("vector_sets")).is_empty()
