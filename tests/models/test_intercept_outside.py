"""Families outside the interface: the weights are seen, what cannot be seen is None or named."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import transformers as hf
from torch import nn

from headgauge import models


def test_a_family_is_seen_as_far_as_it_can_be(outside: Any) -> None:
    """Its output to the bit, its weights; values and scale are unknown."""
    plain = outside.run().logits
    calls: list[models.ObservedCall] = []
    with models.intercept(outside.model, calls.append) as seen:
        assert torch.equal(outside.run().logits, plain)
    assert seen.unseen == []
    expected = outside.weights()
    assert len(calls) == len(expected) == outside.family.attentions
    for call in calls:
        assert isinstance(call, models.SoftmaxCall)
        weights = torch.zeros(call.shape)
        for block in call.blocks(block_rows=10):
            assert block.raw is None
            assert block.value is None
            rows = torch.softmax(block.logits.masked_fill(~block.visible, -torch.inf), -1)
            alive = ~block.dead
            torch.testing.assert_close(block.weights[alive], rows[alive])
            weights[block.batch, block.head, block.start : block.stop, : block.reach] = (
                block.weights
            )
        alive = weights.sum(-1) > 0
        theirs = expected[call.layer]
        torch.testing.assert_close(weights[alive], theirs[alive], atol=1e-6, rtol=0)
        assert alive.float().mean() > 0.85


def test_masks_are_read_from_the_logits(build: Callable[[str, str], Any]) -> None:
    call = build("gptj", "eager").calls()[0]
    assert call.block(0, 0, 0, 24).visible.sum(-1).tolist() == list(range(1, 25))
    call = build("gpt-neo", "eager").calls()[1]
    assert call.block(0, 0, 0, 24).visible.sum(-1).tolist() == [min(n, 7) for n in range(1, 25)]
    call = build("bloom", "eager").calls()[0]
    assert call.block(0, 0, 0, 24).dead.tolist() == [True] * 5 + [False] * 19


def test_a_direct_call_of_sdpa_is_seen_whole(build: Callable[[str, str], Any]) -> None:
    case, eager = build("falcon-sdpa", "sdpa"), build("falcon", "eager")
    plain = case.run().logits
    calls = case.calls()
    assert torch.equal(case.run().logits, plain)
    assert all(isinstance(call, models.AttentionCall) for call in calls)
    for ours, theirs in zip(case.gather().values(), eager.weights(), strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=0)


@pytest.mark.parametrize(
    "model",
    [
        hf.NystromformerModel(
            hf.NystromformerConfig(
                vocab_size=50, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                intermediate_size=48, segment_means_seq_len=16, num_landmarks=4,
                max_position_embeddings=64,
            )
        ),
        hf.LongformerModel(
            hf.LongformerConfig(
                vocab_size=50, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                intermediate_size=48, attention_window=4, max_position_embeddings=64,
            )
        ),
    ],
    ids=["nystromformer", "longformer"],
)  # fmt: skip
def test_a_softmax_that_is_no_row_of_weights_is_not_handed_over(model: Any) -> None:
    """Landmarks and bands pass through a softmax too."""
    with torch.no_grad(), models.intercept(model, lambda call: pytest.fail("no rows")) as seen:
        model.eval()(torch.arange(3, 19).unsqueeze(0))
    assert seen.unseen == list(models.attention_modules(model))
    assert len(seen.unseen) == 2


class StrangeAttention(nn.Module):
    """Attention without a softmax that could be tapped."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scores = (x @ x.mT).exp()
        return scores / scores.sum(-1, keepdim=True) @ x


def test_attention_that_cannot_be_seen_is_named() -> None:
    model = nn.Sequential(StrangeAttention(), nn.Softmax(-1), StrangeAttention())
    with models.intercept(model, lambda call: None) as seen:
        model(torch.randn(2, 3, 4))
    assert seen.unseen == ["0", "2"]


def test_a_softmax_outside_attention_is_no_attention() -> None:
    model = nn.Sequential(nn.Softmax(-1))
    with models.intercept(model, lambda call: None) as seen:
        model(torch.randn(2, 3, 4, 4))
    assert not seen.observed
