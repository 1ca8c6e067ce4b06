"""What a call was told of its mask, in the form that sdpa has; whole models in training's tests."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from headgauge.errors import InputError
from headgauge.models.call_masks import kind_of, settled


def call(implementation: str, queries: int = 5, **more: Any) -> dict[str, Any]:
    query, key = torch.zeros(2, 1, queries, 4), torch.zeros(2, 1, 5, 4)
    return settled(implementation, nn.Identity(), {"query": query, "key": key, **more})


def test_names_tell_the_kind():
    names = [
        "eager",
        "sdpa",
        "flash_attention_2",
        "kernels-community/flash-attn3",
        "flex_attention",
    ]
    kinds = ["eager", "sdpa", "flash", "flash", "flex"]
    assert list(map(kind_of, names)) == kinds
    assert kind_of("mine") is None


def test_causality_is_a_flag_where_it_is_all_there_is():
    assert call("sdpa")["causal"]
    assert call("flash_attention_2")["causal"]
    assert call("flash_attention_2")["attention_mask"] is None
    assert not call("sdpa", is_causal=False)["causal"]
    assert not call("sdpa", queries=1)["causal"]  # a token that is generated sees all
    # A mask has it within, and may let more through (a prefix).
    assert not call("sdpa", attention_mask=torch.ones(1, 1, 5, 5, dtype=torch.bool))["causal"]
    assert "causal" not in call("eager")


def dense(given: dict[str, Any]) -> Tensor:
    whole = torch.ones(2, 1, 5, 5, dtype=torch.bool) & given["attention_mask"]
    return whole.tril() if given["causal"] else whole


def test_flash_has_flags_windows_and_documents():
    flags = torch.tensor([[0, 0, 1, 1, 1], [1, 1, 1, 1, 1]])
    found = call("flash_attention_2", attention_mask=flags)
    assert found["attention_mask"].shape == (2, 1, 1, 5)  # no matrix for padding
    both = dense(call("flash_attention_2", attention_mask=flags, sliding_window=2))
    rows, keys = torch.meshgrid(torch.arange(5), torch.arange(5), indexing="ij")
    band = (keys <= rows) & (rows - keys < 2)
    assert torch.equal(both[:, 0], band & flags[:, None].bool())
    assert call("flash_attention_2", sliding_window=5)["attention_mask"] is None  # hides nothing
    edges = torch.tensor([0, 2, 5])
    packed = dense(call("flash_attention_2", cu_seq_lens_q=edges))
    apart = (rows < 2) == (keys < 2)
    assert torch.equal(packed[0, 0], apart & (keys <= rows))


def test_a_paged_cache_is_refused():
    with pytest.raises(InputError, match="paged cache"):
        call("flash_attention_2", cache=object())
