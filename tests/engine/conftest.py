"""The literal loop over theory/, and the blocks of rows that the engine is held against it on."""

import math
from collections.abc import Callable, Iterator

import numpy as np
import pytest
import torch
from torch import Tensor

from elsewhere import Elsewhere, device_elsewhere
from headgauge import engine, kernels
from headgauge.theory.normalization import distance_bounds, expected_distance, separability
from headgauge.theory.normalization.distance import distance, distances_to_context
from headgauge.theory.normalization.selection import context_vector, selected_mass, top_n, weighted
from shape_checks import shapes_unchecked

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
Tables = dict[str, np.ndarray]


def literal(
    weights: Tensor, vectors: Tensor, n: int, sphere: float, within: float
) -> tuple[Tables, Tables]:
    """Theory's functions on rows of as many keys, and the size of what each one adds up."""
    chosen = top_n(weights, n)
    delta = separability.minimum_separation(vectors)
    lengths = torch.linalg.vector_norm(vectors, dim=-1)
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
    s = torch.linalg.vector_norm(context_vector(weights, vectors, chosen), dim=-1)
    mean = torch.linalg.vector_norm(weighted(weights, vectors).sum(-2), dim=-1)
    nu = n / max(weights.shape[-1] - 1, 1)
    each = distances_to_context(weights, vectors, chosen).masked_fill(chosen, math.inf)
    near = y.gather(-1, each.argmin(-1, keepdim=True))[:, 0]
    summed = ((s[:, None] + y) * ~chosen).sum(-1)
    mass = selected_mass(weights, chosen).abs()
    outside = (weights.abs() * ~chosen).sum(-1)
    rooms = ((mass[:, None] + weights.abs()) * ~chosen).sum(-1)
    # s is a sum too: where it cancels, its last digit depends on the processor.
    ball = s + near + 2**-52 * (y * chosen).sum(-1) / within
    ratio = torch.where(r > 0, xi.sum(-1) / (n * r), 0.0)
    # x̄ is one too, by a product whose order of terms is the processor's.
    lower = summed + 2**-52 * y.sum(-1) / within
    # A count whose decisions may hang on rounding: free where one does.
    margin = within * (ball[:, None] + xi.amax(-1, keepdim=True))
    hangs = (((xi - r[:, None]).abs() <= margin) & chosen).any(-1)
    appendix = ((1 + nu) * y + nu * mean[:, None]).sum(-1)
    longest = lengths.amax(-1) * (2 * outside + rooms)
    sizes = {
        "distance": summed,
        "expected_printed": ((weights.abs() + nu) * lengths + mean[:, None]).sum(-1),
        "expected_appendix": appendix,
        "expected_upper": appendix + e_upper,
        "bound_printed": longest,
        "bound_centroid": longest,
        "bound_lower": lower,
        "bound_upper": summed + upper,
        "radius": ball,
        "separable_count": 0 * ball,
        "separability": 0 * ball,
        "separability_printed_lower": 1 + ratio * torch.where(r > 0, 1 + ball / r, 0.0),
        "separability_printed_upper": 1 + (ball / sphere if sphere > 0 else 0 * ball),
        "separability_lower": torch.where(hangs, math.inf, 0.0),
    }
    return {k: v.double().numpy() for k, v in values.items()}, {
        k: v.double().numpy() for k, v in sizes.items()
    }


Worst = dict[str, float]


def groups(counting: Tensor, answers: Tensor, lengths: Tensor, raw: bool) -> Iterator[tuple]:
    """The rows that answer, those of as many keys and one M together."""
    found: dict[tuple[int, float], list[int]] = {}
    for row in answers.nonzero()[:, 0].tolist():
        sphere = float(lengths[counting[row]].max()) if raw else 1.0
        found.setdefault((int(counting[row].sum()), sphere), []).append(row)
    for (_, sphere), some in found.items():
        yield some, torch.stack([counting[row].nonzero()[:, 0] for row in some]), sphere


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
    lengths = torch.linalg.vector_norm(geometry.vectors, dim=-1)
    worst: Worst = {}
    for keys in ("visible", "all"):
        blocks = {}
        for compiled in paths:
            with kernels.use_compiled(compiled):
                blocks[compiled] = vars(engine.curves(weights, geometry, top_ns, visible, keys))
        counting = torch.ones_like(seen) if keys == "all" else seen
        for at, n in enumerate(top_ns):
            count = counting.sum(-1)
            answers = seen.any(-1) & (n <= count if keys == "all" else n < count)
            for block in blocks.values():
                silent = [table[~answers.numpy(), at] for table in block.values()]
                assert np.isnan(silent).all(), (keys, n)
            for some, places, sphere in groups(counting, answers, lengths, raw):
                a = (weights[some] * seen[some]).double().gather(-1, places)
                with shapes_unchecked():  # theory's shapes have tests of their own
                    values, sizes = literal(a, geometry.vectors[places], n, sphere, within)
                for compiled, block in blocks.items():
                    for name, value in values.items():
                        got, size = block[name][some, at], sizes[name]
                        finite = np.isfinite(value) & np.isfinite(got)
                        with np.errstate(invalid="ignore"):
                            error = np.where(finite, np.abs(got - value), 0.0)
                        fine = error <= within * size
                        lost = (name == "separability_printed_lower") & (values["radius"] < 1e-12)
                        same = (got == value) | (np.isnan(got) & np.isnan(value)) | lost
                        fine = np.where(finite, fine, same)
                        where = (name, keys, n, compiled, np.array(some)[~fine])
                        assert fine.all(), (*where, got[~fine], value[~fine], size[~fine])
                        real = finite & (size > 0) & (size < math.inf)
                        share = (error[real] / size[real]).max(initial=0.0)
                        worst[name] = max(worst.get(name, 0.0), float(share))
    return worst


@pytest.fixture(scope="session", name="check")
def _check() -> Callable[..., Worst]:
    return check


@pytest.fixture(scope="session")
def make() -> Callable[..., tuple[Tensor, Tensor, Tensor | None]]:
    """make(weights kinds, vectors kind, mask kind) → weights of all kinds as rows of one block,
    vectors, visible."""

    def block(
        kinds: tuple[str, ...], vectors: str, mask: str, rows: int = ROWS
    ) -> tuple[Tensor, Tensor, Tensor | None]:
        visible = make_visible(mask, rows)
        weights = torch.cat([make_weights(kind, visible, rows) for kind in kinds])
        seen = None if visible is None else visible.repeat(len(kinds), 1)
        return weights, make_vectors(vectors), seen

    return block


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    for name, kinds in (("vectors_kind", VECTORS), ("mask", MASKS)):
        if name in metafunc.fixturenames:
            metafunc.parametrize(name, kinds)


@pytest.fixture(params=[True, False], ids=["compiled", "torch"])
def path(request: pytest.FixtureRequest) -> Iterator[bool]:
    """Both implementations."""
    with kernels.use_compiled(request.param):
        yield request.param


@pytest.fixture(params=[True, False], ids=["double", "no-double"])
def elsewhere(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Elsewhere]:
    """A device that is not there, with double and without."""
    with device_elsewhere(monkeypatch, request.param) as mode:
        yield mode
