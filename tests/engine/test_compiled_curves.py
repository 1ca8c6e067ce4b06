"""Which products are held at once, and what single precision hands on to double."""

import numpy as np
import pytest
import torch

from headgauge import engine
from headgauge.engine import compiled_curves, geometry


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

    whole = compiled_curves._gram_pieces
    monkeypatch.setattr(compiled_curves, "_gram_pieces", watched)
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

    answer = compiled_curves.measure
    monkeypatch.setattr(compiled_curves, "measure", watched)
    single = engine.Geometry.of(vectors, raw=True, precision="float32")
    found = engine.curves(weights, single, [1, 4], visible)
    assert asked == [("float32", 40), ("float64", 40)]
    agree(found, engine.curves(weights, single.double, [1, 4], visible), 1e-12)
