"""No compiled row reads or writes beyond its arrays.

Compiled, an index too far would read or write anywhere. Here every kernel runs as the Python it is
written in, where numpy looks at each index, on rows that take every branch.
"""

import importlib
from pathlib import Path

import numpy as np
import pytest
import torch
from numba.core.dispatcher import Dispatcher

from headgauge import engine, normalizers
from headgauge.engine import bits
from headgauge.particles import schemes, sphere
from headgauge.particles.attention import Attention
from headgauge.particles.inner_products import InnerProducts
from headgauge.particles.integrate import states_at
from headgauge.theory.dynamics.observables import gaps_of

MODULES = [
    importlib.import_module(name)
    for name in (
        *(f"headgauge.engine.{file.stem}" for file in Path(engine.__path__[0]).glob("[a-z]*.py")),
        "headgauge.normalizers.entmax_rows",
        "headgauge.particles.gap_rows",
    )
]
KERNELS = {
    value: f"{value.py_func.__module__}.{value.py_func.__name__}"
    for module in MODULES
    for value in vars(module).values()
    if isinstance(value, Dispatcher)
}
# How much of a row is worked on at once, and from where on: small, so that short rows have it all.
SMALL = {
    "engine.distance_rows": {"PIECE": 16},
    "engine.expected_rows": {"PIECE": 16},
    "engine.rows": {"PIECE": 16},
    "engine.separability_rows": {"_SOME": 8},
    "engine.selection_rows": {"_LANES": 4},
    "engine.sharpness_rows": {"FEW": 8, "BUCKETS": 8},
    "engine.concentration_rows": {"BUCKETS": 8},
    "particles.gap_rows": {"_PIECE": 16},
}


@pytest.fixture
def ran(monkeypatch) -> set[str]:
    """The kernels as plain Python; which of them ran."""
    ran: set[str] = set()

    def watched(name, function):
        def run(*arguments):
            ran.add(name)
            return function(*arguments)

        return run

    plain = {kernel: watched(name, kernel.py_func) for kernel, name in KERNELS.items()}
    for module in MODULES:
        for name, value in list(vars(module).items()):
            if isinstance(value, Dispatcher):
                monkeypatch.setattr(module, name, plain[value])
    for module, numbers in SMALL.items():
        for name, number in numbers.items():
            monkeypatch.setattr(f"headgauge.{module}.{name}", number)
    return ran


def softmax_rows(rows: int, keys: int, scale: float = 2.0) -> tuple[torch.Tensor, torch.Tensor]:
    logits = scale * torch.randn(rows, keys, generator=torch.Generator().manual_seed(keys))
    return logits, torch.softmax(logits, -1)


def curves_of_all_kinds(make) -> None:
    kinds = ("sharp", "tied", "negative", "below_one")
    ways: tuple[tuple[str, engine.Precision, engine.Keys], ...] = (
        ("causal", "float64", "visible"),
        ("holes", "float64", "all"),
        ("holes", "float32", "visible"),
        ("causal", "float32", "all"),
    )
    for vectors_kind in ("random", "near_duplicates", "identical", "cancelling", "zero"):
        for mask, precision, keys in ways:
            weights, vectors, visible = make(kinds, vectors_kind, mask, rows=2)
            geometry = engine.Geometry.of(vectors, raw=True, precision=precision)
            engine.curves(weights, geometry, [1, 17, 18, 40], visible, keys)


def curves_of_long_rows() -> None:
    """Several pieces, and crowds of equal weights."""
    logits, weights = softmax_rows(2, 40)
    weights[1] = torch.softmax(1e-3 * logits[1], -1)
    vectors = torch.randn(40, 3, generator=torch.Generator().manual_seed(0))
    vectors[:20] = vectors[:1] + 1e-4 * vectors[:20]
    for precision in ("float64", "float32"):
        engine.curves(weights, engine.Geometry.of(vectors, precision=precision), [3, 20])
    edge = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])  # of the ball, in single precision
    geometry = engine.Geometry.of(edge, raw=True, precision="float32")
    engine.curves(torch.tensor([[0.4, 0.3, 0.3]]), geometry, [2])


def row_measures_of_all_kinds(make) -> None:
    kinds = ("random", "one_hot", "tied", "below_one", "negative")
    for mask in ("causal", "holes"):
        weights, _, visible = make(kinds, "random", mask, rows=3)
        engine.row_measures(weights, visible, weights, 2 * weights)
    for keys in (2, 10, 100):
        logits, weights = softmax_rows(2, keys)
        logits[1] = -torch.arange(1, keys + 1).log()  # all buckets alike
        engine.row_measures(weights, None, logits)


def looks_of_all_kinds() -> None:
    _, weights = softmax_rows(6, 300)
    ids, lengths = torch.arange(310) % 7, torch.ones(310, dtype=torch.float64)
    holes = torch.rand(6, 300, generator=torch.Generator().manual_seed(1)) < 0.5
    holes[0] = False
    for seen in (torch.ones(6, 300, dtype=torch.bool).tril(294), holes):
        engine.looks(weights, seen, 294, ids, lengths)
    engine.looks(weights[:, :5], holes[:, :5], 0, ids, lengths)
    engine.looks(weights, holes, 0)


def sensitivities() -> None:
    logits, _ = softmax_rows(2, 20)
    seen = torch.ones(2, 20, dtype=torch.bool).tril(10)
    engine.sensitivity(logits, seen, (0.01, 1.0), (1e-3, 10.0), torch.ones(2, 20) / 20**0.5)


def entmax_and_its_gradients() -> None:
    logits, _ = softmax_rows(3, 12)
    logits[0, 3] = torch.nan
    mask = torch.ones(3, 12, dtype=torch.bool).tril(6)
    for alpha in (1.0, 1.3, 1.5, 2.0):
        given = torch.tensor(alpha, requires_grad=True), logits.clone().requires_grad_()
        normalizers.get("entmax", alpha=given[0])(given[1], mask)[1:].square().sum().backward()


def swarms() -> None:
    """Tokens that are no multiple of four, and more than share a pass."""
    for tokens in (1, 5, 18):
        gaps = gaps_of(torch.stack([sphere.uniform(tokens, 3, seed) for seed in range(2)]))
        attention = Attention(torch.tensor([1.0, 2.0], dtype=torch.float64))
        pair = [schemes.get("mix_ln", switch=0.2), schemes.get("peri_ln")]
        system, state = InnerProducts.of(gaps, attention, pair)
        states_at(system, state, [0.1, 0.5], 1e-4)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_every_index_of_the_compiled_rows_is_within_its_array(ran, make, unchecked) -> None:
    curves_of_all_kinds(make)
    curves_of_long_rows()
    row_measures_of_all_kinds(make)
    looks_of_all_kinds()
    sensitivities()
    entmax_and_its_gradients()
    swarms()
    assert set(KERNELS.values()) - ran == set()


@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_bits_are_ordered_like_the_numbers(real) -> None:
    numbers = np.array([-np.inf, -2.5, -1e-30, 0.0, 1e-30, 1.0, 3.5, np.inf], real)
    assert [bits.from_ordered(bits.ordered(x)) for x in numbers] == numbers.tolist()
    for of, some in ((bits.ordered, numbers), (bits.as_bits, numbers[3:])):
        found = [of(x) for x in some]
        assert found == sorted(found)
        assert {x.itemsize for x in found} == {real().itemsize}
