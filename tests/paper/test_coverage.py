"""What heads cover together, from the probe to the figure, against a plain loop."""

import itertools
import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch
from scipy import stats

from headgauge.measure.requests import spread_rows
from headgauge.paper import coverage
from headgauge.paper.choices import Choice
from headgauge.paper.coverage import probe
from headgauge.theory.normalization.coverage import multi_head_coverage
from model_families import case

ROW = {"window": 0, "length": 9, "occurrence": 0, "module": "m", "top_n": 2}


def _naive(
    weights: torch.Tensor, visible: torch.Tensor, x: torch.Tensor, n: int, keys: str
) -> dict[tuple[int, int], bool]:
    """Of one query row, (heads, keys): which of the n heaviest on average each head separates."""
    count = weights.shape[1]
    there = [i for i in range(count) if keys == "all" or visible[i]]
    mean = weights.mean(0)
    asked = sorted(there, key=lambda i: (-float(mean[i]), i))[:n]
    found = {}
    for head, row in enumerate(weights):
        s = sum(row[i] * x[head, i] for i in asked)
        outside = [float((row[i] * x[head, i] - s).norm()) for i in there if i not in asked]
        for i in asked:
            found[head, i] = float((row[i] * x[head, i] - s).norm()) <= min(outside)
    return found


@pytest.mark.parametrize("family", ["gpt2", "llama", "mistral"])
@pytest.mark.parametrize(
    "choice", [Choice("value", "unit", "visible"), Choice("value", "raw", "all")], ids=str
)
def test_every_token_of_every_row(family, choice, unchecked):
    made = case(family, "sdpa")
    checked = 0
    for call in made.calls():
        call: Any
        probed = probe(choice, rows=5, n=3)
        assert (probed.table, probed.kinds) == ("shared_tokens", ("value",))
        x = torch.stack([call.value[0, call.kv_head(head)].double() for head in range(call.heads)])
        x = torch.nn.functional.normalize(x, dim=-1) if choice.scale == "unit" else x
        found: dict[tuple[int, int, int], bool] = {}
        for head in range(call.heads):
            given: Any = SimpleNamespace(call=call, head=head, where={"head": head})
            vectors = call.value[0, call.kv_head(head)]
            for row in probed.measure(given, lambda kind, v=vectors: v):
                assert row["top_n"] == 3
                found[row["row"], row["head"], row["key"]] = row["separable"]
        wanted: dict[tuple[int, int, int], bool] = {}
        for row in spread_rows(0, call.queries, call.queries, 5).tolist():
            block = call.block(0, 0, row, row + 1)
            seen = torch.zeros(call.keys, dtype=torch.bool)
            seen[: block.reach] = block.visible[0]
            if int(seen.sum()) <= 3:
                continue
            weights = torch.zeros(call.heads, call.keys, dtype=torch.float64)
            for head in range(call.heads):
                mine = call.block(0, head, row, row + 1).weights[0]
                weights[head, : len(mine)] = mine.double()
            naive = _naive(weights, seen, x, 3, choice.keys)
            wanted |= {(row, head, key): inside for (head, key), inside in naive.items()}
        assert found.keys() == wanted.keys()
        assert found == wanted
        checked += len(found)
        assert 0 < sum(found.values()) < len(found)
    assert checked >= 2 * 4 * 3 * 4


def test_vectors_that_are_not_there_are_left_out(unchecked):
    call = case("gpt2", "sdpa").calls()[0]
    given: Any = SimpleNamespace(call=call, head=0, where={})
    assert probe(Choice("value"), rows=8).measure(given, lambda kind: None) == []


def _tokens(separable: np.ndarray, row: int, layer: int = 0) -> list[dict]:
    """(heads, keys)."""
    return [
        ROW | {"layer": layer, "head": head, "row": row, "key": key, "separable": bool(inside)}
        for (head, key), inside in np.ndenumerate(separable)
    ]


def test_the_figure_against_every_set_of_heads(frames):
    draw = np.random.default_rng(0)
    tables = {(layer, row): draw.random((4, 6)) < 0.5 for layer in range(2) for row in (3, 5, 8)}
    tokens = [each for (layer, row), table in tables.items() for each in _tokens(table, row, layer)]
    order = draw.permutation(len(tokens))
    found = coverage.run(frames.left("shared_tokens", [tokens[at] for at in order]))
    assert found["heads"].to_list() == [1, 2, 3, 4]
    one = np.mean([table.mean() for table in tables.values()])
    for row in found.iter_rows(named=True):
        sets = list(itertools.combinations(range(4), row["heads"]))
        by_row = [
            np.mean([
                np.mean([tables[layer, at][list(each)].any(0).mean() for each in sets])
                for layer in range(2)
            ])
            for at in (3, 5, 8)
        ]  # fmt: skip
        assert row["covered"] == pytest.approx(np.mean(by_row))
        half = stats.t.ppf(0.975, 2) * np.std(by_row, ddof=1) / math.sqrt(3)
        assert row["low"] == pytest.approx(max(0.0, np.mean(by_row) - half))
        assert row["high"] == pytest.approx(min(1.0, np.mean(by_row) + half))
        alone = [
            np.mean([1 - np.prod(1 - table.mean(1)[list(each)]) for each in sets])
            for table in tables.values()
        ]
        assert row["independent"] == pytest.approx(np.mean(alone))
        assert row["separable"] == pytest.approx(one)
        assert row["formula"] == pytest.approx(multi_head_coverage(float(one), row["heads"]))
        assert (row["layers"], row["rows"], row["top_n"]) == (2, 3, 2)


def test_a_single_row_has_no_interval(frames):
    table = np.array([[True, False], [True, True]])
    found = coverage.run(frames.left("shared_tokens", _tokens(table, 1)))
    assert found["heads"].to_list() == [1, 2]  # three heads there are not
    assert found["covered"].to_list() == [0.75, 1.0]
    assert found["low"].to_list() == found["high"].to_list() == [None, None]


def test_heads_that_were_asked_for_other_tokens_are_left_out(frames):
    same = _tokens(np.array([[True, False], [True, True]]), 1)
    odd = [each | {"row": 2} for each in same[:-1]]
    found = coverage.run(frames.left("shared_tokens", same + odd))
    assert set(found["rows"]) == {1}
    assert coverage.run(frames.left("shared_tokens")).is_empty()


def test_the_run_has_one_set_of_tokens_for_all_heads_of_a_layer(kept, attended, settings):
    tokens = pl.read_parquet(kept.scan.folder / "shared_tokens.parquet")
    places = spread_rows(0, 110, 110, settings.coverage_rows).tolist()
    rows = [place for place in places if place + 1 > 16]
    assert sorted(set(tokens["row"])) == rows
    seen = attended(0, 110)
    for layer, row in itertools.product(range(2), rows):
        mean = seen.weights[layer, :, row].mean(0)
        wanted = set(mean.topk(16).indices.tolist())
        here = tokens.filter(layer=layer, row=row)
        for head in range(4):
            assert set(here.filter(head=head)["key"]) == wanted
    figure = kept.paper["coverage"]
    assert figure["heads"].to_list() == [1, 2, 3, 4]
    assert set(figure["rows"]) == {len(rows)}
    assert figure["covered"][0] == pytest.approx(tokens["separable"].mean())
    assert figure["covered"].is_sorted()
