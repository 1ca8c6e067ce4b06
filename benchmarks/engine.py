"""The engine against the literal loop: theory's functions, for each row and each N.

Ours is one head in float64: all rows, all N, all 14 measures, the Gram matrix built anew each time
(a layer whose heads share the vectors builds it once). Theirs is the same head in float64,
only d̃, E (three forms), r and N_s, on rows drawn evenly from the causal square and every tenth N;
both gaps are filled by multiplying. Last, what serves on other devices than the CPU: plain torch
against the compiled rows, on a whole layer.
"""

import time
from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from benchmarks.timing import Comparison, compare
from headgauge import engine, kernels
from headgauge.theory.normalization import expected_distance, separability
from headgauge.theory.normalization.distance import distance
from headgauge.theory.normalization.selection import top_n

LENGTH = 1024
TOP_NS = list(range(1, 101))
SAMPLED_NS = TOP_NS[4::10]
SAMPLED_ROWS = list(range(LENGTH // 12, LENGTH, LENGTH // 6))
GOALS = {576: 200.0, 64: 100.0}
FEW = [1, 2, 4, 8, 16, 32, 64, 100]
HEADS = 9
SCANNED = FEW[:-1]  # a scan's own
TORCH_LIMIT = 12  # times the compiled kernels' seconds that plain torch may take; the aim is 6


def run(rounds: int) -> Iterator[Comparison]:
    """The table's rows, one at a time."""
    source = torch.Generator().manual_seed(0)
    visible = torch.ones(LENGTH, LENGTH, dtype=torch.bool).tril()
    logits = 1.5 * torch.randn(LENGTH, LENGTH, generator=source)
    logits[:, 0] += 4  # a mild sink
    weights = torch.softmax(logits.masked_fill(~visible, -torch.inf), -1)
    for dim, goal in GOALS.items():
        vectors = torch.randn(LENGTH, dim, generator=source)
        yield from _one_head(weights, vectors, visible, goal, rounds)
    yield _one_layer(max(GOALS), rounds)


def _one_head(
    weights: Tensor, vectors: Tensor, visible: Tensor, goal: float, rounds: int
) -> Iterator[Comparison]:
    def ours(top_ns: list[int], precision: engine.Precision = "float64") -> Callable[[], object]:
        return lambda: engine.curves(
            weights, engine.Geometry.of(vectors, precision=precision), top_ns, visible
        )

    what = f"one head, d = {vectors.shape[-1]}"
    sampled, share = _literal(weights.double(), engine.Geometry.of(vectors).vectors)
    name = f"theory's loop: {share:.3%} of it timed, × {1 / share:.0f}"
    measured = compare(
        f"{what}, N = 1…100", (name, sampled), ("headgauge", ours(TOP_NS)), goal, rounds
    )
    whole = [seconds / share for seconds in measured.theirs]
    yield Comparison(measured.what, name, "headgauge", whole, measured.ours, goal)
    few = compare(
        f"{what}, {len(FEW)} N", ("ours, N = 1…100", ours(TOP_NS)), ("headgauge", ours(FEW)), None,
        rounds,
    )  # fmt: skip
    yield few
    for name, top_ns in (("N = 1…100", TOP_NS), (f"{len(FEW)} N", FEW)):
        yield compare(
            f"{what}, {name}, in single precision", ("ours, in float64", ours(top_ns)),
            ("headgauge", ours(top_ns, "float32")), None, rounds,
        )  # fmt: skip


def _one_layer(dim: int, rounds: int) -> Comparison:
    """The default model's layer as a scan asks for it: 9 heads that share their vectors, whole."""
    source = torch.Generator().manual_seed(1)
    visible = torch.ones(LENGTH, LENGTH, dtype=torch.bool).tril()
    logits = 1.5 * torch.randn(HEADS, LENGTH, LENGTH, generator=source)
    logits[..., 0] += 4
    heads = torch.softmax(logits.masked_fill(~visible, -torch.inf), -1)
    vectors = torch.randn(LENGTH, dim, generator=source)

    def layer() -> None:
        geometry = engine.Geometry.of(vectors, precision="float32")
        geometry.prepare()
        for weights in heads:
            engine.curves(weights, geometry, SCANNED, visible)

    def plain() -> None:
        with kernels.use_compiled(False):
            layer()

    what = f"a layer of {HEADS} heads, d = {dim}, {len(SCANNED)} N, in single precision"
    name = "headgauge without the compiled kernels, as on other devices"
    return compare(what, ("ours, compiled", layer), (name, plain), 1 / TORCH_LIMIT, rounds)


def _literal(weights: Tensor, vectors: Tensor) -> tuple[Callable[[], object], float]:
    """The loop over the sample, and the share of all (row, N) that the sample is."""
    pairs = [(row, n) for row in SAMPLED_ROWS for n in SAMPLED_NS if n <= row]
    every = sum(n <= row for row in range(LENGTH) for n in TOP_NS)

    def loop() -> object:
        for row, n in pairs:
            a, x = weights[row, : row + 1], vectors[: row + 1]
            chosen = top_n(a, n)
            distance(a, x, chosen)
            expected_distance.printed(a, x, n)
            expected_distance.appendix(a, x, n)
            expected_distance.sandwich(a, x, n)
            separability.radius(a, x, chosen)
            separability.separable_count(a, x, chosen)
        return pairs

    return _on_fewer_threads_if_faster(loop), len(pairs) / every


def _on_fewer_threads_if_faster(loop: Callable[[], object]) -> Callable[[], object]:
    """The loop as it is or on one thread: small tensors on a busy machine can lose by sharing."""
    threads = torch.get_num_threads()

    def alone() -> object:
        torch.set_num_threads(1)
        try:
            return loop()
        finally:
            torch.set_num_threads(threads)

    loop()  # warm
    seconds = []
    for call in (loop, alone):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return loop if seconds[0] <= seconds[1] else alone


def setting() -> str:
    """What was measured, for the line above the table."""
    return (
        f"{LENGTH} causal rows, Gaussian logits with a mild sink, unit vectors; theirs: distance, "
        f"E, r and N_s on {len(SAMPLED_ROWS)} rows × {len(SAMPLED_NS)} N, extrapolated to all"
    )
