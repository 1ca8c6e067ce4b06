"""Kernels and blocks of rows agree, and both with float64."""

import math
from typing import Any

import pytest
import torch

from dense_attention import MASKS, Dense, make
from headgauge.engine import row_sums
from headgauge.engine.row_sums import Sums, Wanted, by_kernel, by_rows, sums


def right(dense: Dense) -> Sums:
    alive = dense.seen.any(-1)
    z, raw = dense.z[alive], dense.raw.masked_fill(~dense.seen, -math.inf)[alive]
    mean = (torch.softmax(z, -1) * z.nan_to_num(neginf=0.0)).sum(-1)
    one, two = torch.logsumexp(z, -1), torch.logsumexp(2 * z, -1)
    return Sums(torch.zeros(1, 1, 1), one, mean, two, z.amax(-1), raw.amax(-1))


def whole(made: Sums) -> dict[str, Any]:
    """With the offset back in its place."""
    times = {"one": 1, "mean": 1, "two": 2, "top": 1, "raw_top": 0}
    found = {name: getattr(made, name) for name in times}
    return {n: e if e is None else e + times[n] * made.offset for n, e in found.items()}


def differ(dense: Dense, made: Sums) -> dict[str, float]:
    alive = dense.seen.any(-1)
    found = whole(made)
    return {
        name: float((found[name].expand(alive.shape)[alive] - own).abs().max())
        for name, own in whole(right(dense)).items()
    }


@pytest.mark.parametrize("masking", MASKS)
def test_both_ways_agree_with_float64(masking, monkeypatch):
    dense = make(masking)
    for made in (by_kernel(dense.logits, Wanted()), by_rows(dense.logits, Wanted())):
        assert made is not None
        off = differ(dense, made)
        assert off.pop("mean") < (1e-3 if dense.logits.biased and not made.offset.any() else 1e-5)
        assert max(off.values()) < 4e-5, off  # log(48)/2^16 is 6e-5, were all keys tied


@pytest.mark.parametrize("size", [1.0, 30.0, 500.0])
def test_the_difference_serves_where_a_mean_is_rounded(size):
    dense = make("causal", (256, 256), torch.bfloat16, size, dim=64)
    made = by_kernel(dense.logits, Wanted(), difference=True)
    assert made is not None
    assert differ(dense, made)["mean"] < 3e-3


def test_fewer_wants_are_fewer_calls(monkeypatch):
    calls = []

    def counted(logits, asked):
        calls.append(len(asked))
        return None

    monkeypatch.setattr(row_sums, "log_sum_exps", counted)
    logits, biased = make("causal").logits, make("alibi").logits
    assert by_kernel(logits, Wanted()) is None
    by_kernel(logits, Wanted(two=False))
    by_kernel(logits, Wanted(two=False, top=False))
    by_kernel(logits, Wanted(two=False, top=False, raw_top=False))
    by_kernel(logits, Wanted(False, False, False, False, True))
    by_kernel(logits, Wanted(), difference=True)
    by_kernel(biased, Wanted())
    assert calls == [3, 2, 2, 1, 1, 5, 6]


@pytest.mark.parametrize("each", range(5))
def test_what_is_not_wanted_is_not_made(each):
    wanted = Wanted(*(place == each for place in range(5)))
    for way in (by_kernel, by_rows, sums):
        made = way(make("causal").logits, wanted)
        assert made is not None
        found = [name for name, value in made._asdict().items() if value is not None]
        assert wanted._fields[each] in found
        extra = {"offset", "one"} | ({"top", "raw_top"} if each > 2 else set())
        assert set(found) - {wanted._fields[each]} <= extra


def test_a_bias_is_exact_by_rows_unless_only_largest_logits_are_wanted(monkeypatch):
    logits = make("alibi").logits
    assert sums(logits, Wanted()).offset.any()
    assert not sums(logits, Wanted(False, False, False, False, True)).offset.any()
    assert sums(make(softcap=3.0).logits, Wanted()).offset.any()
    assert not sums(make().logits, Wanted()).offset.any()
