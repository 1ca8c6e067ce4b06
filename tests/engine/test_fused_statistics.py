"""`headgauge.stats` against the weights written out in float64."""

import math
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

import headgauge
from dense_attention import HEADS, MASKS, Dense, make
from headgauge import log_sum_exp
from headgauge.engine import fused_statistics, row_sums
from headgauge.engine.fused_statistics import STATISTICS, Statistics, stats
from headgauge.errors import InputError
from headgauge.theory.normalization import concentration, sensitivity

SINKS = torch.tensor([-1.0, 0.0, 2.0, 100.0])
LISTED = [0, 3, -1]


def given(dense: Dense) -> dict:
    logits = dense.logits
    own = {"scaling": logits.scaling, "mask": logits.mask, "causal": logits.causal}
    return {"query": logits.query, "key": logits.key, "softcap": logits.softcap, **own}


def right(dense: Dense, sinks: torch.Tensor | None = None) -> dict[str, torch.Tensor]:
    """By the definitions, NaN where a row sees nothing."""
    sink = dense.z[..., :0] if sinks is None else sinks.double()[:, None, None]
    sink = sink.expand(*dense.z.shape[:-1], -1)
    weights = torch.softmax(torch.cat([dense.z, sink], -1), -1)[..., : dense.z.shape[-1]]
    found = {
        "entropy": concentration.entropy(weights),
        "collision_entropy": -(weights**2).sum(-1).log(),
        "max_logit": dense.raw.masked_fill(~dense.seen, -math.inf).amax(-1),
        "largest_weight": weights.amax(-1),
    }
    dead = ~dense.seen.any(-1)
    found = {name: each.masked_fill(dead, math.nan) for name, each in found.items()}
    found["listed"] = weights[..., LISTED].masked_fill(dead[..., None], math.nan)
    return {"weights": weights.nan_to_num(), **found}


def hold(found: Statistics, dense: Dense, sinks=None, tolerance: float = 1e-5) -> None:
    wanted = right(dense, sinks)
    norm = sensitivity.largest_eigenvalue(wanted.pop("weights"))
    for name, own in wanted.items():
        made = getattr(found, name).double()
        torch.testing.assert_close(
            made, own, atol=tolerance, rtol=0, equal_nan=True, msg=lambda m, n=name: f"{n}: {m}"
        )
    alive = dense.seen.any(-1)
    assert (found.jacobian_lower[alive] <= norm[alive] + tolerance).all()
    assert (found.jacobian_upper[alive] >= norm[alive] - tolerance).all()
    assert torch.equal(found.length, dense.seen.sum(-1))
    assert (found.entropy[alive] >= 0).all()
    assert (found.collision_entropy[alive] >= 0).all()
    assert (found.largest_weight[alive] <= 1).all()


@pytest.mark.parametrize("softcap", [None, 3.0])
@pytest.mark.parametrize("sinks", [None, SINKS])
@pytest.mark.parametrize("masking", MASKS)
def test_every_statistic_under_every_mask(masking, sinks, softcap):
    dense = make(masking, softcap=softcap)
    found = stats(**given(dense), sinks=sinks, listed=LISTED)
    # Largest logits may be too high by log(48)/2^16 = 6e-5, and L beside a sink of 100 is rounded.
    hold(found, dense, sinks, 7e-5 if sinks is None else 2e-4)


@pytest.mark.parametrize("kv_heads", [1, 4])
@pytest.mark.parametrize("shape", [(48, 20), (20, 48), (1, 48), (1, 1)])
def test_queries_and_keys_of_other_numbers(shape, kv_heads):
    dense = make("causal", shape, kv_heads=kv_heads)
    found = stats(**given(dense), listed=LISTED if shape[1] > 3 else [0, 0, 0])
    if shape[1] > 3:
        hold(found, dense, tolerance=7e-5)
    assert (found.length == dense.seen.sum(-1)).all()


@pytest.mark.parametrize("way", ["kernel", "difference", "rows"])
@pytest.mark.parametrize("size", [1.0, 10.0, 100.0, 500.0])
@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16, torch.float16])
def test_errors_against_float64(kind, size, way, monkeypatch):
    """The table in docs/training.md has what is seen; these are its limits."""
    if way == "rows":
        monkeypatch.setattr(fused_statistics, "sums", row_sums.by_rows)
    elif way == "difference":
        differ = lambda logits, want: row_sums.by_kernel(logits, want, True)  # noqa: E731
        monkeypatch.setattr(fused_statistics, "sums", differ)
    dense = make("causal", (384, 384), kind, size, dim=64, batch=1)
    found, wanted = stats(**given(dense), listed=LISTED), right(dense)
    del wanted["weights"]
    limit = 2e-5 + 6e-7 * size  # a float32 of that size is rounded by 6e-8 of it
    limits: dict[str, Any] = dict.fromkeys(wanted, limit)
    if way == "difference":
        limits["entropy"] = 3e-3
    for name, most in limits.items():
        off = float((getattr(found, name) - wanted[name]).abs().max())
        assert off <= most, name
    assert float(found.entropy.min()) >= 0
    assert float(found.largest_weight.max()) <= 1


def test_entropy_is_in_its_range_where_rounding_could_leave_it():
    """Rows of one key, all alike, and one far above the rest."""
    key = torch.randn(1, 1, 64, 32, generator=torch.Generator().manual_seed(0)) * 30
    for query in (torch.zeros(1, 1, 64, 32), key * 30):
        found = stats(query, key, causal=True)
        assert (found.entropy >= 0).all()
        assert (found.entropy <= found.length.log()).all()
        assert (found.collision_entropy <= found.length.log()).all()
        assert (found.largest_weight <= 1).all()
        assert found.entropy[0, 0, 0] == 0
        assert found.jacobian_lower.min() >= 0


def test_no_matrix_of_queries_and_keys_is_made():
    class Largest(TorchDispatchMode):
        most = 0

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            made = func(*args, **(kwargs or {}))
            for each in made if isinstance(made, tuple | list) else [made]:
                if isinstance(each, torch.Tensor) and each.untyped_storage().nbytes():
                    self.most = max(self.most, each.untyped_storage().nbytes())
            return made

    length, dim = 2048, 8
    query = torch.randn(1, 4, length, dim).bfloat16()
    key, keep = query[:, :2], torch.ones(1, 1, 1, length, dtype=torch.bool)
    whole = 4 * length * length  # bytes of one head's, in float32
    ways: list[tuple[dict[str, Any], int]] = [({}, 40), ({"mask": keep}, 40), ({"softcap": 5.0}, 4)]
    for more, share in ways:
        with Largest() as largest:
            stats(query, key, causal=True, listed=[0], **more)
        assert 0 < largest.most <= whole / share


def test_only_what_is_wanted_is_there(monkeypatch):
    calls = []
    kernel = log_sum_exp.cpu_kernel()
    monkeypatch.setattr(
        log_sum_exp, "cpu_kernel", lambda: lambda *a, **k: calls.append(1) or kernel(*a, **k)
    )
    dense = make()
    whole = stats(**given(dense))
    assert len(calls) == 3
    for want, cost in (
        (("entropy",), 1),
        (("max_logit",), 1),
        ("max_logit", 1),
        (("entropy", "max_logit"), 2),
        (("entropy", "max_logit", "largest_weight", "jacobian_upper"), 2),
        (("collision_entropy",), 2),
        ((), 0),
    ):
        calls.clear()
        found = stats(**given(dense), want=want)
        assert len(calls) == cost
        names = (want,) if isinstance(want, str) else want
        assert set(vars(found)) == {"length", *names}
        for name in names:
            assert torch.equal(getattr(found, name), getattr(whole, name))
    with pytest.raises(AttributeError, match="no 'entropy' was asked for; there are length"):
        _ = found.entropy
    assert repr(whole).startswith("Statistics of (2, 4, 48) rows: length, ")
    calls.clear()
    assert set(vars(stats(**given(dense), want=(), listed=[1]))) == {"length", "listed"}
    assert len(calls) == 1


def test_listed_keys_of_each_sequence_its_own():
    dense = make("left_padding")
    places = torch.tensor([[0, 1], [7, 2]])
    found = stats(**given(dense), listed=places).listed
    weights = torch.softmax(dense.z, -1)
    own = torch.take_along_dim(weights, places[:, None, None], -1)
    torch.testing.assert_close(found.double(), own, atol=1e-5, rtol=0, equal_nan=True)
    assert stats(**given(dense), listed=[]).listed.shape == (2, 4, 48, 0)


def test_it_is_public_and_leaves_the_graph_alone():
    dense = make(size=3.0)
    query = dense.logits.query.clone().requires_grad_()
    before = query.detach().clone()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = headgauge.stats(query, dense.logits.key, scaling=1.0, causal=True, listed=LISTED)
        by_rows = headgauge.stats(
            query, dense.logits.key, scaling=1.0, causal=True, listed=LISTED, softcap=1e4
        )
    hold(found, dense, tolerance=7e-5)
    hold(by_rows, dense, tolerance=7e-5)
    assert not any(each.requires_grad for each in vars(found).values())
    assert torch.equal(query, before)
    assert query.grad is None


def test_numbers_that_are_none_stay_so():
    dense = make("causal")
    for wrong in (math.nan, math.inf):
        for softcap in (None, 5.0):
            query = dense.logits.query.clone()
            query[0, 0, 7, 0] = wrong
            found = stats(query, dense.logits.key, scaling=1.0, causal=True, softcap=softcap)
            if wrong == math.inf and softcap:
                assert found.max_logit[0, 0, 7] == math.inf
                continue  # whose cap makes an ordinary row of it
            assert not found.entropy[0, 0, 7].isfinite()
            assert found.entropy[0, 0, 8:].isfinite().all()


@pytest.mark.parametrize("shape", [(0, 5), (5, 0)])
def test_no_rows_and_no_keys(shape):
    query, key = (torch.zeros(2, HEADS, each, 8, dtype=torch.bfloat16) for each in shape)
    found = stats(query, key, causal=True, listed=[] if shape[1] == 0 else [1])
    for name in STATISTICS:
        assert getattr(found, name).shape == (2, HEADS, shape[0])
        assert getattr(found, name).dtype == torch.float32
        assert getattr(found, name).isnan().all()
    assert (found.length == 0).all()
    assert found.listed.shape[:3] == (2, HEADS, shape[0])


QUERY, KEY = torch.zeros(2, 4, 6, 8), torch.zeros(2, 2, 5, 8)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"query": [1.0]}, "query must be a torch tensor, got list"),
        ({"query": QUERY.long()}, "query must be floating point"),
        ({"query": QUERY[0]}, r"query must be \(batch, heads, tokens, dim\), got \(4, 6, 8\)"),
        ({"key": KEY[..., :4]}, "must have the same batch and dim"),
        ({"key": KEY[:1]}, "must have the same batch and dim"),
        ({"query": QUERY[:, :3]}, "heads of query must be a multiple of those of key"),
        ({"key": KEY.half()}, "must be of one kind, got torch.float32 on cpu and torch.float16"),
        ({"scaling": math.nan}, "scaling must be a finite number, got nan"),
        ({"softcap": 0.0}, "softcap must be a number above 0, or None, got 0.0"),
        ({"sinks": torch.zeros(2)}, r"one logit for each of 4 heads, got \(2,\)"),
        ({"sinks": torch.zeros(4).long()}, "sinks must be floating point"),
        ({"mask": "causal"}, "mask must be a tensor or a BlockMask, got str"),
        ({"mask": torch.ones(6, 5).long()}, r"mask must be boolean.*`mask.bool\(\)`"),
        ({"mask": torch.ones(6, 4).bool()}, r"must fit logits of \(2, 4, 6, 5\), got \(6, 4\)"),
        ({"mask": torch.ones(2, 6, 5).bool()}, r"must fit logits of .*, got \(2, 6, 5\)"),
        ({"listed": [5]}, "listed must be in -5 to 4, got"),
        ({"listed": [0.5]}, "listed must be whole numbers"),
        ({"listed": [[0], [1], [2]]}, r"listed must be whole numbers, \(listed,\) or \(2, listed"),
        ({"want": ("entropie",)}, "no statistic 'entropie'; there are entropy, "),
        ({"want": "entropie"}, "no statistic 'entropie'; there are entropy, "),
    ],
)
def test_a_mistake_is_told_in_one_line(wrong, message, unchecked):
    with pytest.raises(InputError, match=message) as told:
        stats(**{"query": QUERY, "key": KEY, **wrong})
    assert "\n" not in str(told.value)
