"""What kernels hand over, against rows written out in float64; CUDA's by their contracts."""

import math
import warnings

import pytest
import torch
from torch.nn.attention.flex_attention import flex_attention

from dense_attention import MASKS, SHAPES, Dense, make
from headgauge import log_sum_exp as module
from headgauge import logits as logits_module
from headgauge.log_sum_exp import Asked, log_sum_exps, mean_is_exact

KINDS = (torch.float64, torch.float32, torch.bfloat16, torch.float16)


def right(dense: Dense, beta: float, biased: bool = True):
    """(l(β), mean) of the rows that see a key, in float64."""
    z = dense.z if biased else dense.raw.masked_fill(~dense.seen, -math.inf)
    z = z[dense.seen.any(-1)]
    weights = torch.softmax(beta * z, -1)
    return torch.logsumexp(beta * z, -1), (weights * z.nan_to_num(neginf=0.0)).sum(-1)


def close(dense: Dense, asked: Asked, found, tolerance: float):
    alive = dense.seen.any(-1)
    own, mean = right(dense, asked.beta, asked.biased)
    scale = max(1.0, float(own.abs().max()))
    torch.testing.assert_close(
        found.log_sum_exp[alive].double(), own, atol=tolerance * scale, rtol=0
    )
    assert (found.mean is not None) == asked.mean
    if asked.mean:
        torch.testing.assert_close(found.mean[alive].double(), mean, atol=tolerance * scale, rtol=0)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("masking", MASKS)
def test_the_cpus_kernel_under_every_mask(masking, shape, monkeypatch):
    monkeypatch.setattr(logits_module, "_LEAST_ROWS", 2)
    monkeypatch.setattr(logits_module, "_ENTRIES", 1)  # blocks of 16 rows where the mask has rows
    dense = make(masking, shape)
    mean = mean_is_exact(dense.logits)
    assert mean != dense.logits.biased
    asked = [Asked(mean=mean), Asked(2.0), Asked(1.5, biased=False)]
    found = log_sum_exps(dense.logits, asked)
    assert found is not None
    for each, made in zip(asked, found, strict=True):
        close(dense, each, made, 2e-6)


@pytest.mark.parametrize("kv_heads", [1, 2, 4])
@pytest.mark.parametrize("size", [1.0, 500.0])
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_number_is_as_exact_as_float32(kind, size, kv_heads):
    """β on the queries would cost a bfloat16 row whole nats."""
    dense = make("causal", kind=kind, size=size, kv_heads=kv_heads)
    for beta in (0.99, 1.0, 2.0, 2.0**16):
        asked = Asked(beta, mean=beta == 1)
        found = log_sum_exps(dense.logits, [asked])
        assert found is not None
        close(dense, asked, found[0], 1e-12 if kind == torch.float64 else 1e-6)


def test_what_no_kernel_serves():
    assert log_sum_exps(make(softcap=4.0).logits, [Asked()]) is None
    elsewhere = make().logits
    elsewhere = type(elsewhere)(elsewhere.query.to("meta"), elsewhere.key.to("meta"), 1.0)
    assert log_sum_exps(elsewhere, [Asked()]) is None


def test_without_the_kernel_there_is_no_answer(monkeypatch):
    monkeypatch.setattr(module, "_CPU", "_no_such_kernel")
    assert module.cpu_kernel() is None
    assert log_sum_exps(make().logits, [Asked()]) is None


class Cuda:
    """CUDA's kernels as their sources describe them, in plain torch."""

    def __init__(self):
        self.called = []

    def _plain(self, query, key, bias, seen, scale):
        z = (query.float() @ key.float().mT) * scale + (0 if bias is None else bias.float())
        z = z.masked_fill(~seen, -math.inf)
        return (torch.softmax(z, -1).nan_to_num() @ key.float()).to(query.dtype), z.logsumexp(-1)

    def _scaled_dot_product_flash_attention(self, query, key, value, dropout, causal, *, scale):
        self.called.append("flash")
        assert query.dtype in (torch.bfloat16, torch.float16)
        assert query.shape[-1] % 8 == 0
        queries, keys = query.shape[2], key.shape[2]
        seen = torch.ones(queries, keys, dtype=torch.bool)
        seen = seen.tril(keys - queries) if causal else seen  # its rows end at the last key
        key = key.repeat_interleave(query.shape[1] // key.shape[1], 1)
        return *self._plain(query, key, None, seen, scale), *[None] * 7

    def _scaled_dot_product_efficient_attention(
        self, query, key, value, bias, wanted, dropout, causal, *, scale
    ):
        self.called.append("efficient")
        assert wanted
        assert query.shape[:2] == key.shape[:2]
        queries, keys = query.shape[2], key.shape[2]
        if bias is not None:
            assert bias.shape == (*query.shape[:3], keys)
            assert bias.dtype == query.dtype
            assert bias.stride(2) % 16 == 0
            assert not causal
        seen = torch.ones(queries, keys, dtype=torch.bool)
        made, found = self._plain(query, key, bias, seen.tril() if causal else seen, scale)
        padded = torch.full((*found.shape[:2], -(-queries // 32) * 32), 77.0)
        padded[..., :queries] = found
        return made, padded, None, None


@pytest.fixture
def cuda(monkeypatch):
    made = Cuda()
    monkeypatch.setattr(module, "_ATEN", made)
    monkeypatch.setattr(module, "_on_gpu", lambda tensor: True)
    monkeypatch.setattr(module, "_flex", lambda: flex_attention)
    monkeypatch.setattr(logits_module, "_LEAST_ROWS", 2)
    monkeypatch.setattr(logits_module, "_ENTRIES", 1)
    with warnings.catch_warnings(action="ignore"):  # that it is not compiled
        yield made


@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("shape", [(48, 48), (20, 48)])
@pytest.mark.parametrize("masking", MASKS)
def test_cudas_kernels_are_called_as_they_want_it(cuda, masking, shape, kind):
    dense = make(masking, shape, kind)
    exact = mean_is_exact(dense.logits)
    assert exact == (kind == torch.float32 and not dense.logits.biased)
    asked = [Asked(mean=exact), Asked(2.0), Asked(2.0**16)]
    found = log_sum_exps(dense.logits, asked)
    if kind == torch.bfloat16 and dense.logits.biased:
        assert found is None
        return
    assert found is not None
    for each, made in zip(asked, found, strict=True):
        close(dense, each, made, 2e-6)
    flash = kind == torch.bfloat16 and (
        masking == "none" or (masking == "causal" and shape[0] == shape[1])
    )
    flex = masking in ("flex", "flex_alike")
    assert set(cuda.called) == (set() if flex else {"flash"} if flash else {"efficient"})


def test_a_kernel_that_refuses_leaves_no_answer(cuda, monkeypatch):
    def refuse(*args, **kwargs):
        raise RuntimeError("expects head sizes of another kind")

    monkeypatch.setattr(cuda, "_scaled_dot_product_efficient_attention", refuse)
    assert log_sum_exps(make("boolean").logits, [Asked()]) is None
