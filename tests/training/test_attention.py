"""Rows that are drawn from a call, against the same rows of attention written out."""

from dataclasses import replace

import pytest
import torch

from dense_attention import HEADS, MASKS, make
from headgauge.training.attention import Call, closely, largest_logits, measured

SINKS = torch.tensor([-1.0, 0.0, 2.0, 5.0])


@pytest.mark.parametrize("masking", MASKS)
@pytest.mark.parametrize("shape", [(48, 48), (20, 48)])
@pytest.mark.parametrize("sinks", [None, SINKS])
def test_rows_are_those_of_the_whole_matrix(masking, shape, sinks):
    dense = make(masking, shape, softcap=3.0 if sinks is None else None)
    value = torch.randn(2, 2, shape[1], 6, generator=torch.Generator().manual_seed(0))
    of, at = torch.tensor([0, 1, 1, 0]), torch.tensor([19, 9, 19, 11])
    weights, visible, vectors = Call(dense.logits, sinks, value, None).rows(of, at)
    z = dense.z
    if sinks is not None:
        z = torch.cat([z, sinks.double()[:, None, None].expand(*z.shape[:3], 1)], -1)
    whole = torch.softmax(z, -1)[..., : shape[1]]
    for row, (batch, place) in enumerate(zip(of.tolist(), at.tolist(), strict=True)):
        seen = dense.seen[batch, :, place]
        assert torch.equal(visible[row], seen)
        wanted = whole[batch, :, place]
        torch.testing.assert_close(weights[row].double(), wanted, atol=1e-5, rtol=0)
        for head in range(HEADS):
            assert torch.equal(vectors[row, head], value[batch, head // 2])


def test_calls_of_several_shapes_are_told_apart():
    """What is measured together is what each call would give alone."""
    source = torch.Generator().manual_seed(0)
    several = []
    for rows, heads, keys in ((3, 4, 20), (2, 4, 20), (3, 4, 20), (3, 2, 31)):
        weights = torch.softmax(torch.randn(rows, heads, keys, generator=source), -1)
        vectors = torch.randn(rows, heads, keys, 5, generator=source)
        several.append((weights, torch.ones_like(weights, dtype=torch.bool), vectors))
    together = closely(several)
    for each, own in zip(several, together, strict=True):
        (alone,) = closely([each])
        assert alone.keys() == own.keys() == {"separability", "jacobian_norm"}
        for name, numbers in alone.items():
            assert numbers.shape == (1, each[0].shape[1], each[0].shape[0])
            assert torch.equal(numbers, own[name])


def test_a_mask_that_adds_a_large_number_is_one_that_hides():
    dense = make("padding")
    assert isinstance(dense.logits.mask, torch.Tensor)
    hidden = torch.zeros(dense.logits.mask.shape).masked_fill(~dense.logits.mask, -1e9)
    boolean, additive = (
        measured(Call(replace(dense.logits, mask=mask), None, None, None))
        for mask in (dense.logits.mask, hidden)
    )
    for name, numbers in boolean.items():
        assert torch.equal(numbers.isnan(), additive[name].isnan()), name
        torch.testing.assert_close(numbers, additive[name], equal_nan=True)


def test_rows_of_padding_have_no_largest_logit():
    """The same wherever it is asked for: by the log, or by QK-clip alone."""
    call = Call(make("causal_padding").logits, None, None, None)
    alone = largest_logits(call)
    assert torch.equal(alone.isnan(), measured(call)["max_logit"].isnan())
    assert alone[1, :, -5:].isnan().all()
    assert alone[0].isfinite().all()
