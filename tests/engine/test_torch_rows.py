"""Where the compiled rows do not serve: everything over keys stays on the device it is on, in
pieces as large as that has room for, and in double only where it has double."""

import numpy as np
import pytest
import torch

from elsewhere import Elsewhere
from headgauge import devices, engine, kernels
from headgauge.engine.torch_pieces import Piece

ROWS, KEYS, DIM = 12, 30, 4
TOP_NS = [1, 4, 9]
PLACE = KEYS - ROWS


@pytest.fixture
def given():
    """Logits, what they see, weights, vectors; the vectors of the last keys lie close together, so
    that single precision cannot answer for all rows."""
    source = torch.Generator().manual_seed(0)
    logits = torch.randn(ROWS, KEYS, generator=source)
    visible = torch.ones(ROWS, KEYS, dtype=torch.bool).tril(PLACE)
    visible[3, 5], visible[4, :7], visible[5], visible[6, 20:] = False, False, False, False
    visible[7] = torch.arange(KEYS) >= 24
    weights = torch.softmax(logits.masked_fill(~visible, -1e9), -1) * visible
    weights[8, :4] = 0.25
    vectors = torch.randn(KEYS, DIM, generator=source)
    vectors[24:] = vectors[24] + 1e-3 * vectors[24:]
    return logits, visible, weights, vectors


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("keys", ["visible", "all"])
def test_curves_of_another_device(elsewhere: Elsewhere, unchecked, given, precision, keys):
    _, visible, weights, vectors = (elsewhere.far(each) for each in given)
    geometry = engine.Geometry.of(vectors, raw=True, precision=precision)
    assert geometry.vectors.device.type == "cuda"
    elsewhere.left.clear()
    found = engine.curves(weights, geometry, TOP_NS, visible, keys)
    # The spans, the numbers, and what one piece or another says of itself; in double once more.
    whole = [shape for shape in elsewhere.left if shape]
    assert len(whole) <= 9
    assert (3, ROWS) in whole
    if elsewhere.double:  # else the rows that single cannot tell go to the CPU
        assert not [shape for shape in whole if KEYS in shape]
    here = engine.Geometry.of(given[3], raw=True, precision=precision)
    wanted = engine.curves(given[2], here, TOP_NS, given[1], keys)
    assert np.array_equal(found.separable_count, wanted.separable_count, equal_nan=True)
    within = 1e-9 if elsewhere.double and precision == "float64" else 2e-5
    for name, table in vars(found).items():
        other = vars(wanted)[name]
        assert np.allclose(table, other, rtol=within, atol=within, equal_nan=True), name


def test_single_curves_have_no_table_in_double(elsewhere: Elsewhere, unchecked):
    """Also where only double tells N_s, which some of these rows need: of a few keys each."""
    source = torch.Generator().manual_seed(0)
    weights = torch.softmax(2 * torch.randn(24, 200, generator=source), -1)
    vectors, found = torch.randn(200, 576, generator=source), []
    for place in (elsewhere.far, torch.clone):
        geometry = engine.Geometry.of(place(vectors), precision="float32")
        seen = place(torch.ones(1, 200, dtype=torch.bool))
        elsewhere.doubled.clear()
        found.append(engine.curves(place(weights), geometry, [32, 64], seen).separable_count)
        assert not [shape for shape in elsewhere.doubled if len(shape) == 2 and shape[1] == 200]
    assert np.array_equal(*found)


def test_the_other_measures_of_another_device(elsewhere: Elsewhere, unchecked, given):
    logits, visible, weights, _ = (elsewhere.far(each) for each in given)
    ids, lengths = torch.arange(KEYS) % 5, torch.linspace(1, 2, KEYS)
    seen = torch.tensor([row for row in range(ROWS) if row != 5])  # sensitivity needs a key
    unit = torch.nn.functional.normalize(given[0], dim=-1)
    far = [elsewhere.far(each[seen]) for each in (given[0], given[1], unit)]
    near = [given[0][seen], given[1][seen], unit[seen]]
    asked = [1.0, 0.05], [0.1, 1.0]
    elsewhere.left.clear()
    elsewhere.doubled.clear()
    found = [
        engine.row_measures(weights, visible, logits),
        engine.looks(weights, visible, PLACE, ids, lengths),
    ]
    assert not [shape for shape in elsewhere.doubled if len(shape) > 1 and KEYS in shape]
    found.append(engine.sensitivity(far[0], far[1], *asked, far[2]))
    assert not [shape for shape in elsewhere.left if KEYS in shape]
    assert len([shape for shape in elsewhere.left if shape]) <= 8
    wanted = [
        engine.row_measures(given[2], given[1], given[0]),
        engine.looks(given[2], given[1], PLACE, ids, lengths),
        engine.sensitivity(near[0], near[1], *asked, near[2]),
    ]
    for there, here in zip(found, wanted, strict=True):
        # Algorithm 5 divides a temperature by a hundredth: in single precision digits are lost.
        rough = not elsewhere.double and isinstance(here, engine.Sensitivity)
        within = 1e-3 if rough else 2e-6
        for name, table in vars(there).items():
            other = vars(here)[name]
            assert np.allclose(table, other, rtol=within, atol=1e-6, equal_nan=True), name


def test_tables_in_single_precision_lose_little(elsewhere: Elsewhere, unchecked):
    """From flat rows to nearly one-hot ones, also with a share missing."""
    source = torch.Generator().manual_seed(7)
    visible = torch.arange(300) <= torch.arange(10, 300, 20)[:, None]
    logits = torch.randn(visible.shape, generator=source)
    within = 2e-6 if elsewhere.double else 1e-4  # a sum in double tells what is missing to one
    for scale in (0.0, 1e-3, 1.0, 5.0, 30.0):
        for share in (1.0, 0.999, 0.4):
            z = (scale * logits).masked_fill(~visible, -torch.inf)
            weights = torch.softmax(z, -1) * share
            here = engine.row_measures(weights, visible, z)
            there = engine.row_measures(*(elsewhere.far(each) for each in (weights, visible, z)))
            for name, wanted in vars(here).items():
                found = vars(there)[name]
                assert np.allclose(found, wanted, within, 0, equal_nan=True), (name, scale)


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("room", [1 << 12, 1 << 16, 1 << 30])
def test_pieces_of_any_size(monkeypatch, given, room, precision):
    _, visible, weights, vectors = given
    geometry = engine.Geometry.of(vectors, precision=precision)
    wanted = engine.curves(weights, geometry, TOP_NS, visible)
    monkeypatch.setattr("headgauge.engine.torch_rows.room", lambda device: room)
    with kernels.use_compiled(False):
        found = engine.curves(weights, geometry, TOP_NS, visible)
    for name, table in vars(found).items():
        within = 1e-9 if precision == "float64" else 2e-5
        other = vars(wanted)[name]
        assert np.allclose(table, other, rtol=within, atol=within, equal_nan=True), name


def test_rows_of_several_heads_come_together_that_see_as_much(monkeypatch, given):
    """Else every piece would be as wide as the last rows of a head."""
    entries = []

    class Counted(Piece):
        def __init__(self, geometry, span, weights, *rest):
            entries.append(weights.numel())
            super().__init__(geometry, span, weights, *rest)

    monkeypatch.setattr("headgauge.engine.torch_rows.Piece", Counted)
    monkeypatch.setattr("headgauge.engine.torch_rows._ENTRIES", KEYS * KEYS // 4)
    vectors, heads = given[3], 3
    visible = torch.ones(KEYS, KEYS, dtype=torch.bool).tril().repeat(heads, 1)
    weights = visible / visible.sum(-1, keepdim=True)
    with kernels.use_compiled(False):
        engine.curves(weights, engine.Geometry.of(vectors), TOP_NS, visible)
    assert sum(entries) < 0.65 * weights.numel()


@pytest.mark.parametrize("seen", ["window", "holes"])
def test_the_least_distance_of_rows_that_are_no_prefix(monkeypatch, seen):
    """δ shows in ξ: against the compiled rows, which look for it key by key."""
    source = torch.Generator().manual_seed(1)
    vectors = torch.randn(200, 6, generator=source)
    vectors[150:160] = vectors[40:50] + 1e-2 * vectors[:10]  # near ones that few rows see together
    place = torch.arange(200)
    visible = (place[:, None] >= place) & (place[:, None] - place < 30)
    if seen == "holes":
        visible = torch.rand(200, 200, generator=source) < 0.3
    weights = torch.softmax(torch.randn(200, 200, generator=source), -1) * visible
    geometry = engine.Geometry.of(vectors, raw=True)
    wanted = engine.curves(weights, geometry, TOP_NS, visible)
    with kernels.use_compiled(False):
        for limit in (1 << 30, 5 * 200 * 8):  # all products held, and five rows of them
            monkeypatch.setattr("headgauge.engine.geometry.GRAM_BYTES", limit)
            again = engine.Geometry.of(vectors, raw=True)
            found = engine.curves(weights, again, TOP_NS, visible)
            assert ("gram" in vars(again.products)) == (limit > 1 << 20)
            for name, table in vars(found).items():
                assert np.allclose(table, vars(wanted)[name], rtol=1e-9, equal_nan=True), name


def test_what_a_training_allows_itself_is_not_taken_over(given):
    """TF32 and autocast around a call change nothing, and stay as they were."""
    _, visible, weights, vectors = given
    geometry = engine.Geometry.of(vectors, precision="float32")
    with kernels.use_compiled(False):
        wanted = engine.curves(weights, geometry, TOP_NS, visible)
        torch.set_float32_matmul_precision("medium")
        try:
            with torch.autocast("cpu", dtype=torch.bfloat16):
                found = engine.curves(weights, geometry, TOP_NS, visible)
            assert torch.get_float32_matmul_precision() == "medium"
        finally:
            torch.set_float32_matmul_precision("highest")
    for name, table in vars(found).items():
        assert np.array_equal(table, vars(wanted)[name], equal_nan=True), name


def test_room_is_a_share_of_what_is_free(monkeypatch):
    free = {"mem_get_info": (4000, 9000), "memory_reserved": 1000, "memory_allocated": 200}
    for name, value in free.items():
        monkeypatch.setattr(torch.cuda, name, lambda device, value=value: value)
    assert devices.room(torch.device("cuda")) == (4000 + 800) // 4
    assert devices.room(torch.device("cpu")) > 1 << 20
