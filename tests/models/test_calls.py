"""How far a block reaches, and what it leaves alone; its weights are tested in test_intercept."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

Build = Callable[[str, str], Any]


@pytest.mark.parametrize(
    ("family", "implementation"),
    [("llama", "sdpa"), ("llama", "eager"), ("mistral", "sdpa"), ("gptj", "eager")],
)
def test_a_block_holds_the_keys_that_its_rows_reach(
    build: Build, family: str, implementation: str
) -> None:
    call = build(family, implementation).calls()[0]
    whole = call.block(1, 2, 0, 24)
    assert whole.reach == 24
    for block in call.blocks(block_rows=10, heads=[2]):
        assert block.reach == block.stop
        if block.batch != 1:
            continue
        for name in ("raw", "logits", "visible", "weights"):
            ours, all_keys = getattr(block, name), getattr(whole, name)
            if all_keys is not None:
                assert ours.shape == (block.stop - block.start, block.reach)
                cut = all_keys[block.start : block.stop, : block.reach]
                torch.testing.assert_close(ours, cut)
        assert not bool(whole.visible[block.start : block.stop, block.reach :].any())
        assert block.value is None or len(block.value) == block.reach


def test_blocks_that_see_nothing_keep_a_column(build: Build) -> None:
    block = build("llama-left-padded", "sdpa").calls()[0].block(0, 0, 0, 4)
    assert block.reach == 1
    assert bool(block.dead.all())
    assert torch.equal(block.weights, torch.zeros(4, 1))


def test_blocks_leave_the_models_own_tensors_alone(build: Build) -> None:
    for family in ("gemma2", "t5", "gpt-oss", "llama-left-padded", "gptj"):
        for call in build(family, "eager").calls():
            own = {k: v for k, v in vars(call).items() if isinstance(v, Tensor)}
            before = {name: tensor.clone() for name, tensor in own.items()}
            for block in call.blocks(block_rows=10):
                assert block.weights.shape == block.logits.shape
            assert all(torch.equal(before[name], own[name]) for name in own)
