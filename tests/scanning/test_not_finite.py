"""NaN and infinity in a model: said first, with the place, and never in a table."""

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest
import torch
from torch import Tensor

import headgauge
from headgauge.report.page import page
from headgauge.runs.schema import HEAD
from headgauge.scanning import ScanResult
from headgauge.scanning.thresholds import HEALTHY, INCOMPLETE


def _query(model: Any) -> None:
    model.model.layers[1].self_attn.q_proj.weight[17, 3] = torch.nan  # head 2 of 4, of 8 rows each


def _value(model: Any) -> None:
    model.model.layers[0].self_attn.v_proj.weight[9, 3] = torch.inf  # that of heads 2 and 3


def _mlp(model: Any) -> None:
    model.model.layers[0].mlp.down_proj.weight[9, 3] = torch.nan


def _embedding(model: Any) -> None:
    model.model.embed_tokens.weight[:] = torch.nan


def _scan(model: Any, ids: Tensor, spoil: Callable[[Any], None], **more: Any) -> ScanResult:
    with torch.no_grad():
        spoil(model)
    return headgauge.scan(model, ids[:1], top_n=[1, 4], threads=1, **more)


@pytest.mark.parametrize(
    ("spoil", "place", "broken"),
    [
        (_query, "layer 1 (model.layers.1.self_attn), head 2:", {(1, 2)}),
        (
            _value,
            "layer 0 (model.layers.0.self_attn), heads 2, 3 and 1 layer after it:",
            {(0, 2), (0, 3)} | {(1, head) for head in range(4)},
        ),
        (_mlp, "layer 1 (model.layers.1.self_attn), all heads:", {(1, head) for head in range(4)}),
        (
            _embedding,
            "layer 0 (model.layers.0.self_attn), all heads and 1 layer after it:",
            {(layer, head) for layer in range(2) for head in range(4)},
        ),
    ],
)
def test_the_place_is_said_first_and_has_no_verdict(
    llama: Any, ids: Tensor, spoil: Callable[[Any], None], place: str, broken: set[tuple[int, int]]
) -> None:
    result = _scan(llama, ids, spoil, vectors=["value", "final"], keep_rows=True)
    assert place in result.notes()[0]
    assert result.notes()[0].startswith("not finite: ")
    assert result.untrained() is None
    assert page(result).warnings[0] == result.notes()[0]
    told = result.verdicts().group_by("layer", "head").agg("verdict", "source")
    assert len(told) == 8
    for layer, head, verdicts, sources in told.iter_rows():
        assert ("not finite" in sources) == ((layer, head) in broken)
        if (layer, head) in broken:
            assert verdicts == [INCOMPLETE]
    assert result.rows is not None
    for table in (result.heads, result.curves, result.samples, result.rows.collect()):
        floats = table.select(pl.selectors.float())
        assert floats.select(pl.all().is_nan().sum()).sum_horizontal().sum() == 0
    seen = set(result.samples.select("layer", "head").unique().iter_rows())
    assert not seen & broken
    assert len(seen) == 8 - len(broken)


def test_layers_before_it_keep_their_numbers(build: Any, ids: Tensor) -> None:
    sound = _scan(build("llama", "sdpa").model, ids, lambda model: None)
    spoilt = _scan(build("llama", "sdpa").model, ids, _mlp)
    first = pl.col("layer") == 0
    assert spoilt.heads.filter(first).equals(sound.heads.filter(first))
    assert spoilt.curves.filter(first).equals(sound.curves.filter(first))
    verdicts = spoilt.verdicts().filter(first)
    assert verdicts.equals(sound.verdicts().filter(first))


def test_a_softmax_alone(build: Any, ids: Tensor) -> None:
    def spoil(model: Any) -> None:
        model.transformer.h[1].attn.q_proj.weight[3, 3] = torch.nan

    result = _scan(build("gptj").model, ids, spoil)
    assert "layer 1 (transformer.h.1.attn), head 0:" in result.notes()[0]
    assert len(result.heads) == 8
    assert result.heads.filter(pl.col("entropy").is_null()).select("layer", "head").rows() == [
        (1, 0)
    ]


def test_a_head_that_breaks_in_one_window_has_no_verdict(llama: Any, ids: Tensor) -> None:
    """A token whose embedding is infinite stands in the second window alone."""
    only = next(token for token in ids[1].tolist() if token not in ids[0].tolist())
    with torch.no_grad():
        llama.model.embed_tokens.weight[only] = torch.inf
    result = headgauge.scan(llama, ids[:2], top_n=[1, 4], threads=1)
    assert result.heads["entropy"].null_count() == 8
    assert set(result.verdicts()["verdict"]) == {INCOMPLETE}
    assert "not finite" in result.notes()[0]
    assert HEALTHY not in result.frame()["verdicts"].str.join(", ").item()
    assert result.verdicts().select(HEAD).n_unique() == 8


def test_it_survives_the_folder(llama: Any, ids: Tensor, tmp_path: Any) -> None:
    result = _scan(llama, ids, _query, out=tmp_path / "run")
    assert ScanResult.load(tmp_path / "run").notes() == result.notes()
    assert result.notes()[0].startswith("not finite: ")


def test_a_short_window_of_which_sdpa_makes_zeros(llama: Any, ids: Tensor) -> None:
    with torch.no_grad():
        _query(llama)
    result = headgauge.scan(llama, ids[:1, :12], top_n=[1, 4], threads=1)
    assert "layer 1 (model.layers.1.self_attn), head 2:" in result.notes()[0]
    assert result.samples["weight"].is_nan().sum() == 0


def test_everything_that_is_drawn_and_told_of_a_model_without_numbers(
    llama: Any, ids: Tensor, tmp_path: Any
) -> None:
    more: dict[str, Any] = {"length": [12, 24], "depth": True, "out": tmp_path / "run"}
    result = _scan(llama, ids, _embedding, **more)
    assert headgauge.draw(result)[0].name == "report.html"
    assert result.outlook_grounds(48).longest == 24
    assert result.outlook(48)["heads"].sum() == 0
    assert result.depth is not None
    assert result.depth["radius"].null_count() == len(result.depth)
