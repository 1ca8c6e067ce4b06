"""What heads cover together, from the probe to the figure, against a plain loop; what goes with a
head's separability, and what rules change."""

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
from headgauge.paper.bands import bootstrap
from headgauge.paper.choices import COLD_RULES, LENGTH_AWARE, Choice
from headgauge.paper.discussion import SIGNS, coverage, coverage_probe, gains, signs
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
        probed = coverage_probe(choice, rows=5, n=3)
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


def test_a_head_that_is_measured_while_another_is_asks_for_the_same_tokens(unchecked):
    """Heads are measured in several threads. Here the second comes while the first draws the rows
    that both share."""
    real: Any = case("gpt2", "sdpa").calls()[0]
    probed = coverage_probe(Choice("value"), rows=5, n=3)
    found: dict[int, set[tuple[int, int]]] = {}

    def measure(head: int, call: Any) -> None:
        given: Any = SimpleNamespace(call=call, head=head, where={})
        rows = probed.measure(given, lambda kind: real.value[0, real.kv_head(head)])
        found[head] = {(row["row"], row["key"]) for row in rows}

    def drawn(heads: Any, places: Any) -> Any:
        if 1 not in found:
            found[1] = set()
            measure(1, call)
        return real.drawn(heads, places)

    facts = {name: getattr(real, name) for name in ("module", "occurrence", "queries")}
    call = SimpleNamespace(heads=real.heads, drawn=drawn, **facts)
    measure(0, call)
    assert found[0]
    assert found[0] == found[1]


def test_vectors_that_are_not_there_are_left_out(unchecked):
    call = case("gpt2", "sdpa").calls()[0]
    given: Any = SimpleNamespace(call=call, head=0, where={})
    assert coverage_probe(Choice("value"), rows=8).measure(given, lambda kind: None) == []


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
    found = coverage(frames.left("shared_tokens", [tokens[at] for at in order]))
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
    found = coverage(frames.left("shared_tokens", _tokens(table, 1)))
    assert found["heads"].to_list() == [1, 2]  # three heads there are not
    assert found["covered"].to_list() == [0.75, 1.0]
    assert found["low"].to_list() == found["high"].to_list() == [None, None]


def test_heads_that_were_asked_for_other_tokens_are_left_out(frames):
    same = _tokens(np.array([[True, False], [True, True]]), 1)
    odd = [each | {"row": 2} for each in same[:-1]]
    found = coverage(frames.left("shared_tokens", same + odd))
    assert set(found["rows"]) == {1}
    assert coverage(frames.left("shared_tokens")).is_empty()


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


# What goes with a head's separability

CHOICE = {"vectors": "final", "scale": "unit", "keys": "all"}


def _measured(frames, heads: int, seed: int, windows: int = 2):
    """Tables in a shuffled order, and what stands in them: (windows, heads)."""
    draw = np.random.default_rng(seed)
    share = draw.random((windows, heads))
    measures = {name: share * weight + draw.random((windows, heads)) for name, weight in
                zip(SIGNS, (-2.0, 1.0, 0.0, 5.0), strict=True)}  # fmt: skip
    place = [
        {"window": w, "length": 64, "layer": h // 3, "occurrence": 0, "module": "m", "head": h % 3}
        for w in range(windows) for h in range(heads)
    ]  # fmt: skip
    curves = [
        each | CHOICE | {"rule": "model", "top_n": 16, "rows": 9, "separability": float(value)}
        for each, value in zip(place, share.reshape(-1), strict=True)
    ]
    curves += [row | change | {"separability": 0.5} for row in curves for change in (
        {"rule": "ssmax"}, {"top_n": 8}, {"length": 32}, {"vectors": "value"},
    )]  # fmt: skip
    table = [
        each | {name: float(values.reshape(-1)[at]) for name, values in measures.items()}
        for at, each in enumerate(place)
    ]
    table += [row | {"length": 32, "entropy_share": 0.1} for row in table]
    shuffled = frames.curves([curves[at] for at in draw.permutation(len(curves))])
    heads_table = frames.left("heads", [table[at] for at in draw.permutation(len(table))])
    return (_chosen(shuffled), heads_table), share, measures


def _chosen(curves: pl.DataFrame) -> pl.DataFrame:
    """Of one choice at the longest L, as the figures are given them."""
    return curves.filter(length=64, **CHOICE)


@pytest.mark.parametrize("heads", [4, 9, 40])
def test_correlations_are_scipys_over_heads(frames, heads):
    measured, share, measures = _measured(frames, heads, seed=heads)
    found = signs(*measured)
    assert found["sign"].to_list() == list(SIGNS)
    for row in found.iter_rows(named=True):
        wanted = stats.spearmanr(measures[row["sign"]].mean(0), share.mean(0)).statistic  # type: ignore[attr-defined]
        assert row["correlation"] == pytest.approx(wanted, abs=1e-12)
        assert row["heads"] == heads
        half = 1.96 * math.sqrt(1.06 / (heads - 3))
        inside = min(1 - 1e-12, max(-1 + 1e-12, wanted))
        assert row["low"] == pytest.approx(math.tanh(math.atanh(inside) - half), abs=1e-9)
        assert row["high"] == pytest.approx(math.tanh(math.atanh(inside) + half), abs=1e-9)


def test_the_order_of_the_tables_does_not_show(frames):
    measured = _measured(frames, 12, seed=1)[0]
    found = signs(*measured)
    assert signs(*(table.reverse() for table in measured)).equals(found)


def test_few_heads_or_equal_ones_have_no_correlation(frames):
    for row in signs(*_measured(frames, 3, seed=0)[0]).iter_rows(named=True):
        assert row["correlation"] is row["low"] is row["high"] is None
    curves, heads = _measured(frames, 9, seed=0)[0]
    flat = signs(curves, heads.with_columns(sink_weight=0.25))
    rows = {row["sign"]: row for row in flat.iter_rows(named=True)}
    assert rows["sink_weight"]["correlation"] is None
    assert rows["entropy_share"]["correlation"] < 0


def test_the_interval_is_that_of_a_rank_correlation(frames):
    """Over many draws of heads that correlate by −.6, 95 % of the intervals hold the true one."""
    draw = np.random.default_rng(0)
    heads, inside = 60, 0
    true = 6 / math.pi * math.asin(-0.6 / 2)
    base = {"window": 0, "length": 64, "occurrence": 0, "module": "m", "head": 0}
    for _ in range(60):
        x = draw.normal(size=heads)
        y = -0.6 * x + 0.8 * draw.normal(size=heads)
        curves = [base | CHOICE | {"layer": at, "rule": "model", "top_n": 16, "separability": value}
                  for at, value in enumerate(y.tolist())]  # fmt: skip
        table = [
            base | {"layer": at, "entropy_share": value} for at, value in enumerate(x.tolist())
        ]
        row = signs(frames.curves(curves), frames.left("heads", table)).row(0, named=True)
        inside += row["low"] <= true <= row["high"]
    assert 53 <= inside <= 60


def test_the_run_has_signs_of_its_heads(kept):
    table = kept.paper["signs"]
    assert table["sign"].to_list() == list(SIGNS)
    assert set(table["heads"]) == {8}
    for row in table.drop_nulls("correlation").iter_rows(named=True):
        assert -1 <= row["low"] <= row["correlation"] <= row["high"] <= 1


# What a colder or length-aware rule changes


def _gains(frames, curves: list[dict], norms=()) -> pl.DataFrame:
    return gains(_chosen(frames.curves(curves)), frames.left("sensitivity", norms))


def _shares(values: np.ndarray, rule: str, **more) -> list[dict]:
    """(windows, heads) of N_s/N."""
    return [
        CHOICE
        | {"window": w, "length": 64, "layer": h, "occurrence": 0, "module": "m", "head": 0,
           "rule": rule, "top_n": 16, "rows": 10 + w, "separability": float(value)}
        | more
        for (w, h), value in np.ndenumerate(values)
    ]  # fmt: skip


def _of(table: pl.DataFrame, **where) -> dict:
    (row,) = table.filter(**where).iter_rows(named=True)
    return row


def test_differences_are_paired_by_window_and_head(frames):
    """The windows differ by far more than the rules do: bands of the curves would hide it."""
    draw = np.random.default_rng(0)
    base = draw.random((5, 1)) + 0.01 * draw.random((5, 7))
    change = 0.03 + 0.002 * draw.random((5, 7))
    rows = (
        _shares(base, COLD_RULES[0])
        + _shares(base + change, COLD_RULES[1])
        + _shares(base, "model")
    )
    rows += _shares(base + 9, COLD_RULES[1], top_n=8) + _shares(base + 9, COLD_RULES[1], length=32)
    rows += _shares(base + 9, COLD_RULES[1], vectors="value")
    shuffled = [rows[at] for at in draw.permutation(len(rows))]
    row = _of(_gains(frames, shuffled), measure="separability")
    windows = change.mean(1)
    assert (row["rule"], row["against"], row["top_n"]) == (COLD_RULES[1], COLD_RULES[0], 16)
    assert row["change"] == pytest.approx(windows.mean(), rel=1e-9)
    assert (row["low"], row["high"]) == pytest.approx(bootstrap(windows, 0), rel=1e-9)
    assert row["high"] - row["low"] < 0.002 < base.mean(1).std()
    assert (row["heads"], row["windows"], row["rows"]) == (7, 5, 12.0)


def test_windows_that_only_one_rule_has_do_not_count(frames):
    draw = np.random.default_rng(1)
    own, aware = draw.random((4, 3)), draw.random((2, 3))
    rows = _shares(own, "model") + _shares(aware, LENGTH_AWARE)
    row = _of(_gains(frames, rows), rule=LENGTH_AWARE)
    assert row["windows"] == 2
    assert row["change"] == pytest.approx((aware - own[:2]).mean())
    one = _shares(own[:1], "model") + _shares(aware[:1], LENGTH_AWARE)
    row = _of(_gains(frames, one), rule=LENGTH_AWARE)
    assert (row["low"], row["high"], row["windows"]) == (None, None, 1)


def _norms(values: dict[float, list[float]], spread: float = 0.2, rows: int = 16) -> list[dict]:
    return [
        {"window": 0, "length": 64, "layer": at, "occurrence": 0, "module": "m", "head": 0,
         "logits": "scaled", "direction": "exact", "epsilon": 0.0, "temperature": t, "rows": rows,
         "sensitivity": value, "spread": spread}
        for t, heads in values.items()
        for at, value in enumerate(heads)
    ]  # fmt: skip


def test_the_jacobian_rises_by_the_ratio_of_the_means(frames):
    norms = _norms({0.1: [1.0, 2.0, 3.0], 0.01: [2.0, 4.0, 3.0], 1.0: [9.0] * 3})
    norms += [row | {"direction": "random"} for row in norms]
    norms += [row | {"window": 1, "sensitivity": 7.0} for row in norms]
    model = _shares(np.ones((1, 3)), "model")
    table = _gains(frames, model, norms)
    row = _of(table, measure="jacobian")
    assert row["change"] == pytest.approx(1.5)
    errors = [math.sqrt(3 * 0.2**2 / 16) / 3 / mean for mean in (2.0, 3.0)]
    half = 1.96 * math.hypot(*errors)
    assert row["low"] == pytest.approx(1.5 * math.exp(-half))
    assert row["high"] == pytest.approx(1.5 * math.exp(half))
    assert (row["heads"], row["windows"], row["rows"], row["top_n"]) == (3, 1, 16.0, None)


def test_what_is_not_there_is_left_out(frames):
    model = _shares(np.ones((1, 3)), "model")
    assert _gains(frames, model).is_empty()
    for norms in (_norms({0.1: [1.0]}), _norms({0.1: [0.0], 0.01: [0.0]})):
        assert _gains(frames, model, norms).is_empty()


def test_the_run_compares_the_rules_in_every_window(kept):
    table = kept.paper["gains"]
    assert table.select("measure", "rule").rows() == [
        ("separability", COLD_RULES[1]),
        ("separability", LENGTH_AWARE),
        ("jacobian", COLD_RULES[1]),
    ]
    curves = pl.read_parquet(kept.scan.folder / "paper_curves.parquet").filter(
        length=110, top_n=16, **CHOICE
    )
    means = {
        (rule, window): mean
        for rule, window, mean in curves.group_by("rule", "window")
        .agg(pl.col("separability").mean()).rows()
    }  # fmt: skip
    wanted = [means[COLD_RULES[1], w] - means[COLD_RULES[0], w] for w in (0, 1)]
    row = _of(table, measure="separability", rule=COLD_RULES[1])
    assert row["change"] == pytest.approx(np.mean(wanted), abs=1e-12)
    assert (row["low"], row["high"]) == pytest.approx(sorted(wanted), abs=1e-12)
    exact = kept.paper["fig4"].filter(direction="exact")
    by = dict(exact.select("temperature", "mean").rows())
    assert _of(table, measure="jacobian")["change"] == pytest.approx(by[0.01] / by[0.1])
