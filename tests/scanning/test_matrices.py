"""Kept weights against those that the plain eager model returns."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch
from torch import Tensor

import headgauge
from headgauge import models
from headgauge.errors import InputError
from headgauge.models.head_names import named_heads
from headgauge.options.commands import ScanOptions
from headgauge.scanning.matrices import LEAST, rows_of
from headgauge.scanning.scanning import run_scan, scan_plan, scan_settings
from model_families import Case

SMALL: dict[str, Any] = {"top_n": [1], "threads": 1}


# One way of doing attention each: grouped keys, a sliding window, sinks, no mask, tapped softmax.
@pytest.mark.parametrize("family", ["llama", "mistral", "gpt-oss", "bert", "gptj", "t5"])
def test_every_weight_is_the_models_own(
    build: Callable[..., Case], ids: Tensor, family: str
) -> None:
    case = build(family)
    loaded = models.wrap(case.model)
    inputs = models.model_inputs(loaded, ids[:1])
    case = Case(case.family, "eager", case.model, inputs)
    expected = case.weights()
    asked = [(layer, head) for layer in range(len(expected)) for head in (0, 3)]
    settings = scan_settings(ScanOptions(matrix=asked, **SMALL, heads=[0, 3]))
    plan = scan_plan(loaded, ids[:1], replace(settings, block_rows=7))
    result = run_scan(plan, None)
    matrices, tokens = result.tables["matrices"], result.tables["tokens"]
    assert matrices.select("layer", "head").unique().sort("layer", "head").rows() == asked
    for layer, head in asked:
        weights = expected[layer][0, head].double().numpy()
        own = matrices.filter(layer=layer, head=head)
        found = np.zeros_like(weights)
        found[own["row"], own["key"]] = own["weight"]
        kept = np.where(weights >= LEAST, weights, 0)
        assert (kept > 0).any()
        assert np.allclose(found, kept, atol=1e-6)
        sums = [share for *_, share in rows_of(own, len(weights))]
        assert np.allclose(sums, kept.sum(1), atol=1e-5)
        decoder = inputs.get("decoder_input_ids", ids[:1])[0].tolist()
        # T5 has two layers of its encoder, then self and cross attention by turns.
        sides = ("key", ids[0].tolist() if layer in (0, 1, 3, 5) else decoder)
        sides += ("query", ids[0].tolist() if layer in (0, 1) else decoder)
        for side, there in zip(sides[::2], sides[1::2], strict=True):
            known = tokens.filter(layer=layer, head=head, side=side)
            assert known["id"].to_list() == there
            assert known["place"].to_list() == list(range(len(there)))


def test_what_is_kept_is_bounded_and_what_is_not_is_known() -> None:
    uniform = pl.DataFrame({"row": [2, 0, 2], "key": [5, 0, 1], "weight": [0.25, 1.0, 0.5]})
    rows = [
        (keys.tolist(), weights.tolist(), share) for keys, weights, share in rows_of(uniform, 4)
    ]
    assert rows == [([0], [1.0], 1.0), ([], [], 0.0), ([1, 5], [0.5, 0.25], 0.75), ([], [], 0.0)]


def test_the_windows_of_the_longest_length(llama: Any, ids: Tensor) -> None:
    result = headgauge.scan(llama, ids, matrix="l1h2, L0H1", length=[8, 24], **SMALL)
    units = result.tables["matrices"].select("window", "length").unique().sort("window").rows()
    assert units == [(window, 24) for window in range(len(ids))]
    assert result.manifest["settings"]["matrix"] == [[0, 1], [1, 2]]
    assert result.tables["tokens"]["text"].is_null().all()  # without a tokenizer


@pytest.mark.parametrize(
    ("asked", "line"),
    [
        ({"matrix": ["L2H0"]}, "has heads L0H0 to L1H3, not L2H0"),
        ({"matrix": [(0, 4)]}, "has heads L0H0 to L1H3, not L0H4"),
        ({"matrix": ["L1H0"], "layers": [0]}, "L1H0 is not among the layers and heads"),
        ({"matrix": ["L1H0"], "heads": [2, 3]}, "L1H0 is not among the layers and heads"),
        ({"matrix": "18.7"}, "heads such as L18H7, got '18.7'"),
        ({"matrix": ["L18H7", "H7"]}, "heads such as L18H7, got 'H7'"),
        ({"matrix": []}, "at least one head such as L18H7, got none"),
    ],
)
def test_heads_that_are_not_there(
    llama: Any, ids: Tensor, asked: dict[str, Any], line: str
) -> None:
    with pytest.raises(InputError, match=line) as error:
        headgauge.scan(llama, ids, **SMALL, **asked)
    assert "\n" not in str(error.value)


def test_names_of_heads() -> None:
    assert named_heads("matrix", ["L18H7", (2, 3), "l2h3"]) == ((2, 3), (18, 7))
    assert torch.tensor(LEAST).log2() == -10
