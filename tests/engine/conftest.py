"""The literal loop over theory/, and the blocks of rows that the engine is held against it on."""

import math
from collections.abc import Callable, Iterator

import numpy as np
import pytest
import torch
from torch import Tensor

from headgauge import engine, kernels
from headgauge.theory.normalization import distance_bounds, expected_distance, separability
from headgauge.theory.normalization.distance import distance, distances_to_context
from headgauge.theory.normalization.selection import context_vector, selected_mass, top_n, weighted
from unchecked import shapes_unchecked

ROWS, KEYS, DIM = 6, 18, 5
WEIGHTS = (
    "random", "sharp", "flat", "one_hot", "underflow", "tied", "sink", "sigmoid", "below_one",
    "negative",
)  # fmt: skip
VECTORS = (
    "random", "near_duplicates", "nearly_equal", "identical", "some_identical", "outlier_norm",
    "cancelling", "zero",
)  # fmt: skip
MASKS = ("none", "causal", "window", "holes")


def make_visible(kind: str, rows: int = ROWS, keys: int = KEYS) -> Tensor | None:
    # The last rows of a square: the first query here already sees some keys.
    query = torch.arange(keys - rows, keys)[:, None]
    key = torch.arange(keys)
    if kind == "none":
        return None
    if kind == "causal":
        return key <= query
    if kind == "window":
        return (key <= query) & (key > query - 5)
    source = torch.Generator().manual_seed(3)
    holes = torch.rand(rows, keys, generator=source) < 0.6
    holes[0] = False  # a padding query sees nothing
    holes[1] = key == 4  # one key
    return holes


def make_weights(kind: str, visible: Tensor | None, rows: int = ROWS, keys: int = KEYS) -> Tensor:
    source = torch.Generator().manual_seed(11)
    logits = torch.randn(rows, keys, dtype=torch.float64, generator=source)
    if kind == "sharp":
        logits *= 15
    elif kind == "flat":
        logits *= 0
    elif kind == "one_hot":
        logits[:, 3] = 40
    elif kind == "underflow":
        logits[:, 3] = 1e4
    elif kind == "tied":
        logits = logits.round()
    elif kind == "sink":
        logits[:, 0] += 6
    seen = torch.ones_like(logits, dtype=torch.bool) if visible is None else visible
    if kind == "sigmoid":
        return torch.sigmoid(logits) * seen
    if kind == "negative":
        return torch.softmax(logits, -1) * logits * seen
    logits = logits.masked_fill(~seen, -math.inf)
    weights = torch.softmax(logits, -1).nan_to_num(0.0)
    return 0.3 * weights if kind == "below_one" else weights


def make_vectors(kind: str, keys: int = KEYS, dim: int = DIM) -> Tensor:
    source = torch.Generator().manual_seed(5)
    x = torch.randn(keys, dim, dtype=torch.float64, generator=source)
    if kind == "near_duplicates":
        x = x[:1] + 1e-9 * x
    elif kind == "nearly_equal":
        x = x[:1] + 1e-4 * x
    elif kind == "identical":
        x = x[:1].expand(keys, dim).contiguous()
    elif kind == "some_identical":
        x[::3] = x[0]
    elif kind == "outlier_norm":
        x[2] *= 1e3
    elif kind == "cancelling":
        x[1::2] = -x[::2]
    elif kind == "zero":
        x[4] = 0.0
    return x


# Of the size of what a measure adds up: what `curves` promises for each precision.
WITHIN = {"float64": 1e-9, "float32": 5e-6}


def literal(
    weights: Tensor, vectors: Tensor, n: int, unit: bool, within: float
) -> tuple[dict, dict]:
    """Theory's functions on one row, and the size of what each one adds up."""
    chosen = top_n(weights, n)
    delta = separability.minimum_separation(vectors)
    lengths = torch.linalg.vector_norm(vectors, dim=-1)
    sphere = 1.0 if unit else float(lengths.max())
    r = separability.radius(weights, vectors, chosen)
    xi = separability.xi(weights, chosen, delta, sphere)
    lower, upper = distance_bounds.sandwich(weights, vectors, chosen)
    e_lower, e_upper = expected_distance.sandwich(weights, vectors, n)
    values = {
        "distance": distance(weights, vectors, chosen),
        "expected_printed": expected_distance.printed(weights, vectors, n),
        "expected_appendix": expected_distance.appendix(weights, vectors, n),
        "expected_upper": e_upper,
        "bound_printed": distance_bounds.printed_bound(weights, vectors, chosen),
        "bound_centroid": distance_bounds.centroid_bound(weights, vectors, chosen),
        "bound_lower": lower,
        "bound_upper": upper,
        "radius": r,
        "separable_count": separability.separable_count(weights, vectors, chosen),
        "separability": separability.separability(weights, vectors, chosen),
        "separability_printed_lower": separability.printed_lower_bound(xi, chosen, r),
        "separability_printed_upper": separability.printed_upper_bound(xi, chosen, r, sphere),
        "separability_lower": separability.deterministic_lower_bound(xi, chosen, r),
    }
    assert torch.equal(e_lower, values["expected_appendix"])
    y = torch.linalg.vector_norm(weighted(weights, vectors), dim=-1)
    s = torch.linalg.vector_norm(context_vector(weights, vectors, chosen))
    mean = torch.linalg.vector_norm(weighted(weights, vectors).sum(0))
    others = max(len(weights) - 1, 1)
    nu = n / others
    near = distances_to_context(weights, vectors, chosen).masked_fill(chosen, math.inf).argmin()
    summed = float(((s + y) * ~chosen).sum())
    mass = float(selected_mass(weights, chosen).abs())
    outside = float((weights.abs() * ~chosen).sum())
    rooms = float(((mass + weights.abs()) * ~chosen).sum())
    # s is a sum too: where it cancels, its last digit depends on the processor.
    rounding = 2**-52 * float((y * chosen).sum()) / within
    ball = float(s + y[near]) + rounding
    ratio = float(xi.sum() / (n * r)) if r > 0 else 0.0
    sizes = {
        "distance": summed,
        "expected_printed": float(((weights.abs() + nu) * lengths + mean).sum()),
        "expected_appendix": float(((1 + nu) * y + nu * mean).sum()),
        "expected_upper": float(((1 + nu) * y + nu * mean).sum() + e_upper),
        "bound_printed": float(lengths.max()) * (2 * outside + rooms),
        "bound_centroid": float(lengths.max()) * (2 * outside + rooms),
        "bound_lower": summed,
        "bound_upper": summed + float(upper),
        "radius": ball,
        "separable_count": 0.0,
        "separability": 0.0,
        "separability_printed_lower": 1 + ratio * (1 + ball / float(r) if r > 0 else 0.0),
        "separability_printed_upper": 1 + (ball / sphere if sphere > 0 else 0.0),
        # A count whose decisions may hang on rounding: free where one does.
        "separability_lower": math.inf
        if bool(((xi - r).abs() <= within * (ball + xi.max()))[chosen].any())
        else 0.0,
    }
    return {name: float(value) for name, value in values.items()}, sizes


Worst = dict[str, float]


def check(
    weights: Tensor,
    vectors: Tensor,
    top_ns: list[int],
    visible: Tensor | None = None,
    raw: bool = False,
    paths: tuple[bool, ...] = (True, False),
    precision: engine.Precision = "float64",
) -> Worst:
    """Engine against the loop for both conventions; the largest error seen of each measure."""
    geometry = engine.Geometry.of(vectors, raw=raw, precision=precision)
    within = WITHIN[precision]
    weights = weights.to(geometry.real)
    seen = torch.ones(weights.shape, dtype=torch.bool) if visible is None else visible
    worst: Worst = {}
    for keys in ("visible", "all"):
        blocks = {}
        for compiled in paths:
            with kernels.use_compiled(compiled):
                blocks[compiled] = engine.curves(weights, geometry, top_ns, visible, keys)
        for row, at in np.ndindex(len(weights), len(top_ns)):
            counting = torch.ones_like(seen[row]) if keys == "all" else seen[row]
            n, count = top_ns[at], int(counting.sum())
            answers = bool(seen[row].any()) and (n <= count if keys == "all" else n < count)
            if not answers:
                for block in blocks.values():
                    assert all(np.isnan(v[row, at]) for v in vars(block).values())
                continue
            a = (weights[row] * seen[row])[counting].double()
            with shapes_unchecked():  # theory's shapes have tests of their own
                expected, sizes = literal(a, geometry.vectors[counting], n, not raw, within)
            for compiled, block in blocks.items():
                for name, value in expected.items():
                    got = vars(block)[name][row, at]
                    where = (name, keys, row, n, compiled, got, value)
                    if not math.isfinite(value) or not math.isfinite(got):
                        lost = name == "separability_printed_lower" and expected["radius"] < 1e-12
                        assert got == value or (np.isnan(got) and np.isnan(value)) or lost, where
                        continue
                    error = abs(got - value)
                    assert error <= within * sizes[name], (*where, error, sizes[name])
                    if 0 < sizes[name] < math.inf:
                        worst[name] = max(worst.get(name, 0.0), error / sizes[name])
    return worst


@pytest.fixture(scope="session", name="check")
def _check() -> Callable[..., Worst]:
    return check


@pytest.fixture(scope="session")
def make() -> Callable[..., tuple[Tensor, Tensor, Tensor | None]]:
    """make(weights kind, vectors kind, mask kind) → weights, vectors, visible."""

    def block(weights: str, vectors: str, mask: str) -> tuple[Tensor, Tensor, Tensor | None]:
        visible = make_visible(mask)
        return make_weights(weights, visible), make_vectors(vectors), visible

    return block


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    for name, kinds in (("weights_kind", WEIGHTS), ("vectors_kind", VECTORS), ("mask", MASKS)):
        if name in metafunc.fixturenames:
            metafunc.parametrize(name, kinds)


@pytest.fixture(params=[True, False], ids=["compiled", "torch"])
def path(request: pytest.FixtureRequest) -> Iterator[bool]:
    """Both implementations."""
    with kernels.use_compiled(request.param):
        yield request.param
