"""The engine against the literal loop over theory/."""

import os
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from headgauge import engine
from headgauge.theory.normalization import separability

TOP_NS = [1, 2, 7, 17, 18, 40]


def test_every_kind_of_rows_and_vectors(check, make, weights_kind, vectors_kind):
    # Masks and scaling go round, so that each meets each over the kinds.
    turn = sum(map(ord, weights_kind + vectors_kind))
    mask = ("none", "causal", "window", "holes")[turn % 4]
    weights, vectors, visible = make(weights_kind, vectors_kind, mask)
    check(weights, vectors, TOP_NS, visible, raw=turn % 3 == 0)


def test_single_precision_on_every_kind(check, make, weights_kind, vectors_kind):
    turn = sum(map(ord, weights_kind + vectors_kind))
    mask = ("none", "causal", "window", "holes")[turn % 4]
    weights, vectors, visible = make(weights_kind, vectors_kind, mask)
    for raw in (False, True):
        check(weights, vectors, TOP_NS, visible, raw, paths=(True,), precision="float32")


@pytest.mark.parametrize("raw", [False, True])
def test_single_precision_adds_up_long_rows(check, raw):
    """Rounding must not grow with the number of keys, nor with that of the selected ones."""
    source = torch.Generator().manual_seed(2)
    weights = torch.softmax(
        torch.tensor([[0.3], [6.0]]) * torch.randn(2, 1500, generator=source), -1
    )
    vectors = torch.randn(1500, 12, generator=source) + 0.5
    worst = check(weights, vectors, [1, 5, 100, 1000], raw=raw, paths=(True,), precision="float32")
    assert max(worst.values()) > 1e-9  # it was single precision


@pytest.mark.parametrize("keys", ["visible", "all"])
def test_the_last_keys_may_be_missing(path, keys):
    source = torch.Generator().manual_seed(4)
    weights = torch.softmax(torch.randn(5, 9, generator=source), -1)
    geometry = engine.Geometry.of(torch.randn(14, 3, generator=source))
    seen = torch.rand(5, 9, generator=source) < 0.8
    for visible in (None, seen):
        narrow = engine.curves(weights, geometry, [1, 3, 8, 12], visible, keys)
        given = torch.ones(5, 9, dtype=torch.bool) if visible is None else visible
        wide = engine.curves(
            torch.nn.functional.pad(weights, (0, 5)),
            geometry,
            [1, 3, 8, 12],
            torch.nn.functional.pad(given, (0, 5)),
            keys,
        )
        assert wide.counts.any()
        for name, table in vars(narrow).items():
            assert np.allclose(table, vars(wide)[name], rtol=1e-12, equal_nan=True), name


def test_weight_where_a_row_may_not_look_is_none(path):
    source = torch.Generator().manual_seed(6)
    clean = torch.softmax(torch.randn(4, 9, generator=source), -1)
    visible = torch.ones(4, 9, dtype=torch.bool).tril(4)
    visible[3, 2] = False
    junk = torch.where(visible, clean, torch.tensor([1.0, torch.nan, -7.0, torch.inf])[:, None])
    geometry = engine.Geometry.of(torch.randn(9, 3, generator=source))
    wanted = engine.curves(clean * visible, geometry, [1, 3], visible)
    for name, table in vars(engine.curves(junk, geometry, [1, 3], visible)).items():
        assert np.array_equal(table, vars(wanted)[name], equal_nan=True), name


@pytest.mark.parametrize("raw", [False, True])
def test_every_mask(check, make, mask, raw):
    weights, vectors, visible = make("sink", "random", mask)
    worst = check(weights, vectors, [1, 2, 3, 5, 8, 17, 18], visible, raw=raw)
    assert max(worst.values()) < 1e-12  # nothing cancels here


def test_every_n_is_the_same_in_any_list(path):
    source = torch.Generator().manual_seed(0)
    weights = torch.softmax(torch.randn(5, 12, generator=source), -1)
    geometry = engine.Geometry.of(torch.randn(12, 3, generator=source))
    together = engine.curves(weights, geometry, list(range(1, 12)))
    shuffled = engine.curves(weights, geometry, [5, 2, 5])
    for name, table in vars(shuffled).items():
        wanted = vars(together)[name][:, [4, 1, 4]]
        assert np.allclose(table, wanted, rtol=1e-12, equal_nan=True), name


@settings(max_examples=40)
@given(
    rows=st.integers(1, 4),
    keys=st.integers(1, 24),
    dim=st.integers(1, 9),
    spread=st.sampled_from([0.0, 0.5, 3.0, 30.0]),
    density=st.sampled_from([0.3, 0.8, 1.0]),
    raw=st.booleans(),
    seed=st.integers(0, 2**16),
)
def test_any_shape(check, rows, keys, dim, spread, density, raw, seed):
    source = torch.Generator().manual_seed(seed)
    visible = torch.rand(rows, keys, generator=source) < density
    logits = spread * torch.randn(rows, keys, dtype=torch.float64, generator=source)
    weights = torch.softmax(logits.masked_fill(~visible, -1e4), -1)
    vectors = torch.randn(keys, dim, dtype=torch.float64, generator=source)
    top_ns = sorted({1, 2, max(keys - 1, 1), keys, keys + 1})
    check(weights, vectors, top_ns, visible, raw=raw)


def test_longer_rows_in_both_precisions_and_threads(check):
    """Enough entries for threads; float32 weights are read as they are."""
    source = torch.Generator().manual_seed(1)
    logits = 2 * torch.randn(512, 160, generator=source)
    logits[:, 0] += 4
    weights = torch.softmax(logits, -1)
    vectors = torch.randn(160, 24, generator=source)
    every = engine.curves(weights, engine.Geometry.of(vectors), [1, 4, 32])
    picked = [0, 100, 511]
    few = engine.curves(weights[picked], engine.Geometry.of(vectors), [1, 4, 32])
    for name, table in vars(few).items():
        assert np.allclose(vars(every)[name][picked], table, rtol=1e-12), name
    check(weights[picked], vectors, [1, 4, 32])


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_the_edge_of_the_ball_is_the_references(check, precision):
    """‖y₂ − s‖ is 0.4 and r is 0.4 − 0.3t: the guard of 8e-10 ends at some t near 2.67e-9, and the
    last bits around it decide."""
    weights = torch.tensor([[0.4, 0.3, 0.3]], dtype=getattr(torch, precision)).double()

    def vectors(t: float) -> torch.Tensor:
        return torch.tensor([[1.0, 0.0], [0.0, 1.0], [t, 1.0]], dtype=torch.float64)

    def held(t: float) -> int:
        chosen = torch.tensor([True, True, False])
        return int(separability.separable_count(weights[0], vectors(t), chosen))

    low, high = 0.0, 1e-8
    assert (held(low), held(high)) == (2, 1)
    while high - low > 1e-8 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if held(middle) == 2 else (low, middle)
    for step in range(-25, 26):
        check(weights, vectors(low * (1 + 1e-8 * step)), [2], raw=True, precision=precision)


def test_rows_with_nan_weights_do_not_count(path):
    weights = torch.full((2, 6), 1 / 6)
    weights[0, 2] = torch.nan
    found = engine.curves(weights, engine.Geometry.of(torch.randn(6, 3)), [1, 2])
    assert not found.counts[0].any()
    assert found.counts[1].all()


SAMPLES = sorted(
    Path(os.environ.get("HEADGAUGE_DATA_DIR", "/nonexistent")).glob("gpt2_attention/*.npz")
)


@pytest.mark.skipif(not SAMPLES, reason="HEADGAUGE_DATA_DIR has no GPT-2 attention")
def test_real_rows(check):
    for sample in SAMPLES[:2]:
        weights = torch.from_numpy(np.load(sample)["softmax"])
        length = weights.shape[-1]
        source = torch.Generator().manual_seed(0)
        vectors = torch.randn(length, 16, generator=source)
        causal = torch.ones(length, length, dtype=torch.bool).tril()
        heads = weights.reshape(-1, length, length)[::24]
        block = heads.reshape(-1, length)
        check(block, vectors, [1, 2, 4], causal.repeat(len(heads), 1))
