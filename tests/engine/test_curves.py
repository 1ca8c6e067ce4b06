"""The engine against the literal loop over theory/; which products are held at once, and what
single precision hands on to double."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from headgauge import engine
from headgauge.engine import geometry
from headgauge.theory.normalization import separability

from .conftest import MASKS, VECTORS, WEIGHTS

TOP_NS = [1, 2, 7, 17, 18, 40]
MODULE = sys.modules["headgauge.engine.curves"]  # the package has the function by this name


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_every_kind_of_rows_and_vectors(check, make, vectors_kind, precision):
    """Every kind of weights under every mask; unit and raw take turns."""
    turn = VECTORS.index(vectors_kind) + (precision == "float32")
    for step, mask in enumerate(MASKS):
        weights, vectors, visible = make(WEIGHTS, vectors_kind, mask)
        raw = bool((turn + step) % 2)
        check(weights, vectors, TOP_NS, visible, raw, precision=precision)


@pytest.mark.parametrize("raw", [False, True])
def test_single_precision_adds_up_long_rows(check, raw):
    """Rounding must not grow with the number of keys, nor with that of the selected ones."""
    source = torch.Generator().manual_seed(2)
    weights = torch.softmax(
        torch.tensor([[0.3], [6.0]]) * torch.randn(2, 1100, generator=source), -1
    )
    vectors = torch.randn(1100, 12, generator=source) + 0.5
    worst = check(weights, vectors, [1, 100, 800], raw=raw, precision="float32")
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


def test_every_mask(check, make, mask):
    weights, vectors, visible = make(("sink",), "random", mask)
    for raw in (False, True):
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


@settings(max_examples=30)
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
    # A row for every step, each over keys of its own.
    steps = [low * (1 + 1e-8 * step) for step in range(-25, 26)]
    seen = torch.eye(len(steps), dtype=torch.bool).repeat_interleave(3, dim=1)
    block = torch.zeros(seen.shape, dtype=torch.float64).masked_scatter(
        seen, weights.expand(len(steps), 3)
    )
    check(block, torch.cat([vectors(t) for t in steps]), [2], seen, raw=True, precision=precision)


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_rows_without_any_weight_need_no_reference(check, monkeypatch, precision):
    """Sparse rules leave many of them off the sink, and asking theory takes a millisecond each."""
    weights, vectors = torch.zeros(2, 6).double(), torch.randn(6, 3).double()
    check(weights, vectors, [1, 2, 5], precision=precision)
    monkeypatch.delattr(separability, "separable_count")
    found = engine.curves(weights, engine.Geometry.of(vectors, precision=precision), [1, 2, 5])
    assert (found.separability == 1.0).all()


def test_rows_with_nan_weights_do_not_count(path):
    weights = torch.full((2, 6), 1 / 6)
    weights[0, 2] = torch.nan
    found = engine.curves(weights, engine.Geometry.of(torch.randn(6, 3)), [1, 2])
    assert not found.counts[0].any()
    assert found.counts[1].all()


def block(rows=40, keys=90, dim=7, seed=0):
    source = torch.Generator().manual_seed(seed)
    visible = torch.ones(rows, keys, dtype=torch.bool).tril(keys - rows)
    visible[3] = torch.rand(keys, generator=source) < 0.5
    visible[4, :30] = False
    logits = 2 * torch.randn(rows, keys, generator=source)
    weights = torch.softmax(logits.masked_fill(~visible, -torch.inf), -1)
    return weights, torch.randn(keys, dim, generator=source), visible


def agree(found, wanted, within):
    for name, table in vars(found).items():
        wide = vars(wanted)[name]
        assert np.allclose(table, wide, rtol=within, atol=within, equal_nan=True), name


@pytest.mark.parametrize(("precision", "within"), [("float64", 1e-12), ("float32", 1e-5)])
@pytest.mark.parametrize("keys", ["visible", "all"])
def test_the_gram_matrix_in_pieces(monkeypatch, path, precision, within, keys):
    weights, vectors, visible = block()
    whole = engine.Geometry.of(vectors, precision=precision)
    wanted = engine.curves(weights, whole, [1, 4, 13, 90], visible, keys)
    row = 90 * whole.real.itemsize
    monkeypatch.setattr(geometry, "GRAM_BYTES", 30 * row)
    split = engine.Geometry.of(vectors, precision=precision)
    assert not split.held
    agree(engine.curves(weights, split, [1, 4, 13, 90], visible, keys), wanted, within)
    assert "gram" not in vars(split)


def test_pieces_keep_under_the_limit_and_cover_all_rows(monkeypatch):
    weights, vectors, visible = block()
    monkeypatch.setattr(geometry, "GRAM_BYTES", 30 * 90 * 8)
    held = []

    def watched(*arguments):
        for piece in whole(*arguments):
            held.append((piece[0], len(piece[1])))
            yield piece

    whole = MODULE._gram_pieces
    monkeypatch.setattr(MODULE, "_gram_pieces", watched)
    engine.curves(weights, engine.Geometry.of(vectors), [1, 4], visible)
    assert len(held) > 1
    assert max(rows for _, rows in held) <= 30
    assert [row for some, _ in held for row in range(some.start, some.stop)] == list(range(40))


@pytest.mark.parametrize("kind", ["nearly_equal", "cancelling", "tiny"])
def test_rows_that_single_precision_cannot_answer_are_answered_in_double(monkeypatch, kind):
    weights, vectors, visible = block()
    if kind == "nearly_equal":
        vectors = vectors[:1] + 1e-3 * vectors
    elif kind == "cancelling":
        vectors[1::2] = -vectors[::2]
        weights = torch.full_like(weights, 1 / 90)
        visible = torch.ones_like(visible)
    else:
        weights = weights * 1e-25
    asked = []

    def watched(weights, visible, shared, *rest):
        asked.append((shared.precision, len(weights)))
        answer(weights, visible, shared, *rest)

    answer = MODULE._compiled
    monkeypatch.setattr(MODULE, "_compiled", watched)
    single = engine.Geometry.of(vectors, raw=True, precision="float32")
    found = engine.curves(weights, single, [1, 4], visible)
    assert asked == [("float32", 40), ("float64", 40)]
    agree(found, engine.curves(weights, single.double, [1, 4], visible), 1e-12)


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
