"""Algorithm 5 on blocks of rows (and its compiled rows) against the plain version in theory/."""

import math
import os
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from headgauge import engine, kernels
from headgauge.engine import finite_differences
from headgauge.theory.normalization import finite_difference as theory
from headgauge.theory.normalization.sensitivity import spectral_norm

TEMPERATURES = (1e-2, 0.07, 0.5, 1.0, 8.0, 1e2)
EPSILONS = (1e-3, 1e-1, 10.0)
KEYS = 23
KINDS = ("random", "one-hot", "tied", "near-tied", "flat", "single", "huge", "masked")
SAMPLES = sorted(
    Path(os.environ.get("HEADGAUGE_DATA_DIR", "/nonexistent")).glob("gpt2_attention/*.npz")
)


def _rows(kind: str) -> tuple[Tensor, Tensor]:
    source = torch.Generator().manual_seed(KINDS.index(kind))
    logits = torch.randn(5, KEYS, dtype=torch.float64, generator=source)
    visible = torch.ones(5, KEYS, dtype=torch.bool)
    if kind == "one-hot":
        logits[:, 4] += torch.tensor([10.0, 20.0, 40.0, 300.0, 2000.0])
    elif kind == "tied":
        logits = logits.round()
        logits[0, :2] = logits[1, :3] = 5.0
    elif kind == "near-tied":
        gaps = torch.tensor([1e-15, 1e-12, 1e-9, 1e-6, 1e-3], dtype=torch.float64)
        logits[:, 0], logits[:, 7] = 4.0, 4.0 - gaps
    elif kind == "flat":
        logits *= torch.tensor([0.0, 0.0, 1e-13, 1e-9, 1e-5])[:, None]
    elif kind == "single":
        visible[:] = False
        visible[torch.arange(5), torch.tensor([0, 3, 7, 7, KEYS - 1])] = True
    elif kind == "huge":
        logits *= torch.tensor([50.0, 500.0, 1e4, 1e6, 1e8])[:, None]
    elif kind == "masked":
        visible = torch.rand(5, KEYS, generator=source) < 0.5
        visible[:, 2] = True
        logits = torch.where(visible, logits, 30.0)  # would win every row
    return logits, visible


def _unit(visible: Tensor, seed: int = 9) -> Tensor:
    """Directions over the visible keys."""
    source = torch.Generator().manual_seed(seed)
    normal = torch.randn(visible.shape, dtype=torch.float64, generator=source) * visible
    return normal / normal.norm(dim=-1, keepdim=True)


def _near(got: np.ndarray, wanted: Tensor, epsilon: float) -> bool:
    # A long step is taken by softmax itself: its weights' last digits are divided by ε.
    small = max(1e-14, 1e-15 / epsilon)
    return bool(
        (np.abs(got - wanted.numpy()) <= (1e-8 * wanted.abs()).clamp(min=small).numpy()).all()
    )


def _check(logits: Tensor, visible: Tensor) -> None:
    """Every number of the block is theory's on the visible keys of its row."""
    direction = _unit(visible)
    found = engine.sensitivity(logits, visible, TEMPERATURES, EPSILONS, direction)
    assert found.worst is not None
    assert found.exact is not None
    assert found.exact_mean is not None
    grid = (len(TEMPERATURES), len(EPSILONS), len(logits))
    assert found.random.shape == found.worst.shape == grid
    assert found.exact.shape == found.exact_mean.shape == (grid[0], grid[2])
    for count in visible.sum(-1).unique().tolist():  # theory takes rows of as many keys at once
        rows = (visible.sum(-1) == count).nonzero()[:, 0]
        keys = torch.stack([visible[row].nonzero()[:, 0] for row in rows])
        z, v = logits[rows].double().gather(-1, keys), direction[rows].gather(-1, keys)
        for t, temperature in enumerate(TEMPERATURES):
            weights = torch.softmax(z / temperature, -1)
            where, some = (count, temperature), rows.numpy()
            norm = spectral_norm(weights, temperature).numpy()
            assert found.exact[t, some] == pytest.approx(norm, rel=1e-12, abs=1e-300), where
            mean = theory.mean_over_directions(weights, temperature).numpy()
            assert found.exact_mean[t, some] == pytest.approx(mean, rel=1e-3, abs=1e-300), where
            for e, epsilon in enumerate(EPSILONS):
                random, worst = found.random[t, e, some], found.worst[t, e, some]
                wanted = theory.sensitivity(z, v, epsilon, temperature)
                assert _near(random, wanted, epsilon), (*where, epsilon, random, wanted)
                # Row by row: on a nearly flat one the last digits of a sum choose the direction.
                alone = [theory.worst_sensitivity(each, epsilon, temperature) for each in z]
                wanted = torch.stack(alone)
                assert _near(worst, wanted, epsilon), (*where, epsilon, worst, wanted)
                bound = theory.sharp_bound(epsilon, temperature)
                assert max(random.max(), worst.max()) <= bound * (1 + 1e-9) + 1e-14


def test_every_kind_of_rows_against_theory(unchecked):
    """The compiled rows; that the others give the same numbers has a test of its own."""
    logits, visible = zip(*map(_rows, KINDS), strict=True)
    _check(torch.cat(logits), torch.cat(visible))


def test_the_mean_over_directions_is_theorys(unchecked):
    """Over theory's 121 nodes, from flat rows to nearly one-hot ones: what `NODES` promises."""
    source = torch.Generator().manual_seed(1)
    for keys in (2, 5, 23, 400):
        logits = torch.randn(60, keys, dtype=torch.float64, generator=source)
        logits *= torch.logspace(-3, 2.5, 60, dtype=torch.float64)[:, None]
        weights = torch.softmax(logits, -1)
        dims = torch.full((60,), keys)
        wanted = theory.mean_over_directions(weights, nodes=121).numpy()
        found = finite_differences._mean_over_directions(weights, dims)
        assert np.allclose(found, wanted, rtol=1e-6, atol=1e-300), keys
        with kernels.use_compiled(False):  # theory itself, row by row
            found = finite_differences._mean_over_directions(weights[::20], dims[::20])
        assert np.allclose(found, wanted[::20], rtol=1e-9, atol=1e-300), keys


def test_weights_next_to_the_smallest_number_are_measured(path):
    """At T = .01 a gap of 7 between the two largest logits is such a row, and every model has it.

    C ≈ p₂·(1, −1)(1, −1)ᵀ, so that its norm is 2p₂ and the mean over directions of R² is 2/π of it.
    """
    gaps = torch.tensor([600.0, 690.0, 697.0, 705.0, 720.0], dtype=torch.float64)
    logits = torch.stack([torch.zeros(5), -gaps], dim=-1)
    seen = torch.ones(5, 2, dtype=torch.bool)
    found = engine.sensitivity(logits, seen, (1.0,), (0.1,), _unit(seen))
    assert found.exact is not None
    assert found.exact_mean is not None
    second = torch.exp(-gaps).numpy()
    assert found.exact[0] == pytest.approx(2 * second, rel=1e-3, abs=1e-305)
    assert found.exact_mean[0] == pytest.approx(4 / math.pi * second, rel=1e-3, abs=1e-305)


def test_two_equal_logits_attain_the_sharp_bound(path):
    """A test that a bound holds says little of a g that is too small."""
    logits = torch.zeros(1, 2, dtype=torch.float64)
    seen = torch.ones(1, 2, dtype=torch.bool)
    direction = torch.tensor([[1.0, -1.0]], dtype=torch.float64) / 2**0.5
    found = engine.sensitivity(logits, seen, TEMPERATURES, (1e-3,), direction)
    assert found.exact is not None
    assert found.exact[:, 0] == pytest.approx([1 / (2 * t) for t in TEMPERATURES], rel=1e-14)
    # tanh is odd: a step of ε around the middle of two logits that are ε√2 apart.
    for t in TEMPERATURES:
        apart = torch.tensor([[-0.05, 0.05]], dtype=torch.float64) / 2**0.5
        g = engine.sensitivity(apart, seen, (t,), (0.1,), direction, worst=False).random
        assert g.item() == pytest.approx(theory.sharp_bound(0.1, t), rel=1e-12)


@pytest.mark.skipif(not SAMPLES, reason="HEADGAUGE_DATA_DIR has no GPT-2 attention")
def test_real_rows_against_theory(unchecked):
    sample = SAMPLES[0]
    logits = torch.from_numpy(np.load(sample)["scaled"])[::6, ::6]
    last = logits[..., [1, logits.shape[-2] // 2, -1], :].flatten(0, -2)
    places = torch.tensor([1, logits.shape[-2] // 2, logits.shape[-2] - 1])
    causal = torch.arange(logits.shape[-1]) <= places[:, None]
    visible = causal.repeat(len(last) // 3, 1)
    _check(torch.where(visible, last, 0.0), visible)


def test_keys_that_are_not_visible_never_matter(path, unchecked):
    logits, visible = _rows("masked")
    direction = _unit(visible)
    some = TEMPERATURES[1::3]
    first = engine.sensitivity(logits, visible, some, EPSILONS, direction)
    hidden = ~visible
    other = torch.where(hidden, -77.0, logits), visible, some, EPSILONS
    again = engine.sensitivity(*other, torch.where(hidden, 5.0, direction))
    alone = [
        engine.sensitivity(
            logits[row : row + 1, keys], visible[row : row + 1, keys], *other[2:],
            direction[row : row + 1, keys],
        )
        for row, keys in enumerate(visible)
    ]  # fmt: skip
    for name, values in vars(first).items():
        assert np.array_equal(values, vars(again)[name]), name
        cut = np.concatenate([vars(each)[name] for each in alone], axis=-1)
        assert np.allclose(cut, values, rtol=1e-9, atol=1e-14), name


def test_a_direction_over_all_keys_acts_through_the_visible_ones(path):
    """As Figure 4's "random over all keys" asks: no longer of unit length where it counts."""
    logits, visible = _rows("masked")
    over_all = _unit(torch.ones_like(visible))
    found = engine.sensitivity(logits, visible, (1.0,), (0.1,), over_all, worst=False)
    for row, keys in enumerate(visible):
        wanted = theory.sensitivity(logits[row, keys], over_all[row, keys], 0.1, 1.0)
        assert found.random[0, 0, row] == pytest.approx(float(wanted), rel=1e-9)
    assert (found.worst, found.exact, found.exact_mean) == (None, None, None)


def test_both_paths_give_the_same_numbers(unchecked):
    logits, visible = (torch.cat(each) for each in zip(*map(_rows, KINDS), strict=True))
    block = (logits, visible, TEMPERATURES[::3], EPSILONS, _unit(visible))
    compiled = vars(engine.sensitivity(*block))
    with kernels.use_compiled(False):
        plain = vars(engine.sensitivity(*block))
    for name, values in compiled.items():
        within = 1e-3 if name == "exact_mean" else 1e-8  # a test of its own is stricter
        if name == "worst":  # next to a flat row the leading direction itself hangs on rounding
            within = 1e-7
        absolute = 1e-14 if name in ("random", "worst") else 0.0
        close = np.isclose(values, plain[name], rtol=within, atol=absolute)
        if name in ("random", "worst"):  # the far branch, see `_near`
            close |= np.abs(values - plain[name]) <= 1e-15 / np.array(EPSILONS)[:, None]
        assert close.all(), name


def test_pieces_and_single_precision_are_the_same(monkeypatch, path, unchecked):
    """Temperatures a few at a time; float32 logits are measured in double."""
    logits, visible = _rows("random")
    some = TEMPERATURES[::2]
    whole = vars(engine.sensitivity(logits, visible, some, EPSILONS, _unit(visible)))
    short = vars(engine.sensitivity(logits.float(), visible, some, EPSILONS, _unit(visible)))
    rounded = logits.float().double()
    monkeypatch.setattr(finite_differences, "_ENTRIES", 2 * logits.numel())
    for given, wanted in ((logits, whole), (rounded, short)):
        pieces = vars(engine.sensitivity(given, visible, some, EPSILONS, _unit(visible)))
        for name, values in pieces.items():
            assert np.array_equal(values, wanted[name]), name


def test_threads_do_not_show():
    source = torch.Generator().manual_seed(3)
    logits = torch.randn(64, 200, dtype=torch.float64, generator=source)
    visible = torch.ones_like(logits, dtype=torch.bool)
    block = (logits, visible, TEMPERATURES, EPSILONS, _unit(visible))
    threads, found = torch.get_num_threads(), []
    try:
        for number in (1, 3):
            torch.set_num_threads(number)
            found.append(vars(engine.sensitivity(*block)))
    finally:
        torch.set_num_threads(threads)
    for name in ("random", "exact", "exact_mean"):
        assert np.array_equal(found[0][name], found[1][name]), name


def test_the_mean_over_directions_is_that_of_many_draws():
    logits, visible = _rows("random")
    draws = 4000
    some = logits[:1].expand(draws, KEYS)
    seen = torch.ones_like(some, dtype=torch.bool)
    g = engine.sensitivity(some, seen, (1.0,), (1e-3,), _unit(seen), worst=False).random[0, 0]
    exact = engine.sensitivity(logits[:1], visible[:1], (1.0,), (1e-3,), _unit(visible[:1]))
    assert exact.exact_mean is not None
    assert g.mean() == pytest.approx(exact.exact_mean.item(), abs=4 * g.std() / draws**0.5)


@pytest.mark.parametrize("keys", [1, 4])
def test_rows_without_weights_have_no_sensitivity(path, keys):
    """A NaN may not vanish into a zero, and stays in its row."""
    logits = torch.zeros(3, keys, dtype=torch.float64)
    logits[:2, -1] = torch.tensor([math.nan, math.inf])
    seen = torch.ones(3, keys, dtype=torch.bool)
    found = engine.sensitivity(logits, seen, (1.0,), (0.1,), _unit(seen))
    for name, numbers in vars(found).items():
        assert np.isnan(numbers[..., :2]).all(), name
        assert np.isfinite(numbers[..., 2]).all(), name


def test_only_digits_that_mean_something_are_kept():
    values = np.array([0.0, 1 / 3, 2e-171, 5e-324, 0.1 + 1e-16])
    kept = finite_differences._rounded(values)
    assert kept == pytest.approx(values, rel=1e-9, abs=0.0)
    assert (finite_differences._rounded(kept) == kept).all()
    assert kept[1] != values[1]
    assert kept[4] == finite_differences._rounded(np.array([0.1]))[0]
