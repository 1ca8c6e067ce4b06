"""Assumptions 1 and 2 on a model's own vectors, against all pairs."""

from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
import torch

from headgauge.paper import assumptions
from model_families import case

SET = {"window": 0, "length": 9, "layer": 0, "occurrence": 0, "module": "m", "head": 0}


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

        given: Any = SimpleNamespace(call=call, head=head, where=SET | {"head": head})
        for row in assumptions.PROBE.measure(given, vectors):
            wanted = _pairs(call.value[0, call.kv_head(head)])
            for name, value in wanted.items():
                assert row[name] == pytest.approx(value, rel=1e-6, abs=1e-7), name
    assert asked == [
        (0, "embedding"), (0, "hidden"), (0, "final"), (0, "value"), (2, "value"),
    ]  # fmt: skip


def test_the_figure_is_the_mean_over_sets(frames):
    one = SET | {
        "vectors": "hidden", "dim": 4, "tokens": 9, "mean_cosine": 0.2, "effective_dim": 3.0,
        "delta": 0.5, "nearest": 0.7, "same": 0.0,
    }  # fmt: skip
    other = one | {"layer": 1, "mean_cosine": -0.4, "effective_dim": 1.0, "delta": 0.0, "same": 0.5}
    found = assumptions.run(frames.left("vector_sets", [one, other]))
    row = found.row(0, named=True)
    assert len(found) == 1
    assert row["mean_cosine"] == pytest.approx(-0.1)
    assert (row["mean_cosine_low"], row["mean_cosine_high"]) == (-0.4, 0.2)
    assert (row["effective_dim"], row["delta"], row["same"], row["sets"]) == (2.0, 0.0, 0.25, 2)
    assert assumptions.run(frames.left("vector_sets")).is_empty()
