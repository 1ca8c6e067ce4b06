"""Blocks of rows against all of them written out in float64."""

import pytest
import torch

from dense_attention import MASKS, SHAPES, make
from headgauge import logits as module
from headgauge.logits import Logits, hides, through


@pytest.mark.parametrize("softcap", [None, 3.0])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("masking", MASKS)
def test_rows_are_those_written_out(masking, shape, softcap, monkeypatch):
    monkeypatch.setattr(module, "_ENTRIES", 1)  # several blocks
    dense = make(masking, shape, softcap=softcap)
    logits, (_, _, queries, keys) = dense.logits, dense.z.shape
    ends = 0
    for start, stop in logits.edges():
        assert start == ends
        ends, reach = stop, logits.reach(stop)
        found = logits.rows(start, stop)
        seen = dense.seen[:, :, start:stop]
        assert not seen[..., reach:].any()
        for made, right in ((found.z, dense.z), (found.raw, dense.raw)):
            assert made.shape[-1] == reach
            right = right[:, :, start:stop, :reach]
            shown = seen[..., :reach]
            torch.testing.assert_close(made[shown].double(), right[shown], atol=1e-5, rtol=0)
            assert (made[~shown] == torch.finfo(torch.float32).min).all()
    assert ends == queries
    assert torch.equal(logits.lengths, dense.seen.sum(-1))
    places = torch.tensor([[0, keys - 1, 3], [2, 5, keys - 2]])
    for asked in (places, places[:1]):
        right = torch.take_along_dim(dense.z, asked[:, None, None], -1)
        found = logits.at(asked)
        lowest = found == torch.finfo(torch.float32).min
        assert torch.equal(lowest, right.isinf())
        torch.testing.assert_close(found[~lowest].double(), right[~lowest], atol=1e-5, rtol=0)


def test_an_additive_mask_hides_or_is_a_bias():
    for masking in MASKS:
        dense = make(masking)
        assert dense.logits.biased == (masking in ("alibi", "causal_alibi"))
        assert dense.logits.plain != dense.logits.biased
    assert not make("causal", softcap=5.0).logits.plain
    mask = torch.tensor([0.0, -9e3, torch.finfo(torch.float16).min, -torch.inf]).half()
    assert through(mask).tolist() == [True, True, False, False]
    for lowest in (-1e4, -1e9, torch.finfo(torch.float16).min, torch.finfo(torch.bfloat16).min):
        assert through(torch.tensor([0.0, lowest])).tolist() == [True, False]
    assert hides(mask[[0, 2, 3]])
    assert not hides(mask)
    assert hides(mask == 0)


def test_a_block_holds_few_entries():
    long = torch.zeros(1, 1, 1, 1).expand(2, 8, 4096, 16)
    mask = torch.ones(1, 1, 1, 1, dtype=torch.bool).expand(2, 1, 4096, 4096)
    logits = Logits(long, long, 1.0, mask)
    for start, stop in logits.edges():
        assert (stop - start) * 2 * 8 * 4096 <= 1 << 20  # 16 rows at least
    for start, stop in logits.mask_edges():
        assert (stop - start) * 2 * 4096 <= 1 << 22
