"""The engine against the literal loop: theory's functions, for each row and each N.

Ours is one head in float64: all rows, all N, all 14 measures, the Gram matrix built anew each time
(a layer whose heads share the vectors builds it once). Theirs is the same head in float64, only d̃,
E (three forms), r and N_s, in full: rows, N and keys of a window that takes minutes. Last, what
serves on other devices than the CPU: plain torch against the compiled rows, on all that a scan asks
of a whole layer.
"""

import itertools
from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from benchmarks.timing import Comparison, Result, Share, compare, in_turns, seconds
from headgauge import engine, kernels
from headgauge.measure.head import most_entries
from headgauge.measure.settings import UnitSettings
from headgauge.theory.normalization import expected_distance, separability
from headgauge.theory.normalization.distance import distance
from headgauge.theory.normalization.selection import top_n

LENGTH = 1024
TOP_NS = list(range(1, 101))
LITERAL = 512  # rows of the literal loop: two minutes at 576 dimensions
GOALS = {576: 200.0, 64: 100.0}
FEW = [1, 2, 4, 8, 16, 32, 64, 100]
HEADS = 9
SCANNED = FEW[:-1]  # a scan's own
TORCH_LIMIT, TORCH_TARGET = 12.0, 6.0  # times the compiled kernels' seconds


def run(rounds: int) -> Iterator[Result]:
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
    part = slice(LITERAL)
    x = engine.Geometry.of(vectors[part]).vectors
    loop = _literal(weights[part, part].double(), x)

    def short() -> object:
        return engine.curves(
            weights[part, part], engine.Geometry.of(vectors[part]), TOP_NS, visible[part, part]
        )

    taken = in_turns({"ours": short}, rounds)["ours"]
    yield Comparison(
        f"{what}, {LITERAL} rows, N = 1…100", "theory's loop, in full", "headgauge",
        seconds(loop), taken, goal,
    )  # fmt: skip
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


def _one_layer(dim: int, rounds: int) -> Share:
    """The default model's layer as a scan asks for it: 9 heads that share their vectors, the
    compiled kernels head by head, plain torch with all heads at once, each in a scan's blocks."""
    source = torch.Generator().manual_seed(1)
    visible = torch.ones(LENGTH, LENGTH, dtype=torch.bool).tril()
    logits = 1.5 * torch.randn(HEADS, LENGTH, LENGTH, generator=source)
    logits[..., 0] += 4
    weights = torch.softmax(logits.masked_fill(~visible, -torch.inf), -1)
    vectors, lengths = torch.randn(LENGTH, dim, generator=source), torch.ones(LENGTH)
    ids = torch.randint(300, (LENGTH,), generator=source)
    before = engine.earlier_places(ids)

    def layer(heads: int, rows: int) -> None:
        geometry = engine.Geometry.of(vectors, precision="float32")
        geometry.prepare()
        for head, start in itertools.product(range(0, HEADS, heads), range(0, LENGTH, rows)):
            some = slice(start, min(start + rows, LENGTH))
            own = slice(head, head + heads), some, slice(some.stop)
            z, a = (each[own].flatten(0, 1) for each in (logits, weights))
            seen = visible[own[1:]].repeat(heads, 1)
            places = torch.arange(LENGTH)[some].repeat(heads)
            engine.curves(a, geometry, SCANNED, seen)
            engine.row_measures(a, seen, z, z)
            engine.looks(a, seen, places, ids, lengths, before)

    def compiled() -> None:
        layer(1, UnitSettings().rows_at_once(LENGTH))

    def plain() -> None:
        with kernels.use_compiled(False):
            layer(HEADS, most_entries(torch.device("cpu")) // (HEADS * LENGTH))

    taken = in_turns({"plain": plain, "compiled": compiled}, rounds)
    return Share(
        f"plain torch, as on other devices: {HEADS} heads, d = {dim}, {len(SCANNED)} N",
        taken["plain"], taken["compiled"], TORCH_LIMIT, TORCH_TARGET, "the compiled kernels",
    )  # fmt: skip


def _literal(weights: Tensor, vectors: Tensor) -> Callable[[], object]:
    """The loop over all rows and N."""

    def loop(rows: range = range(len(weights))) -> object:
        for row in rows:
            a, x = weights[row, : row + 1], vectors[: row + 1]
            for n in (n for n in TOP_NS if n <= row):
                chosen = top_n(a, n)
                distance(a, x, chosen)
                expected_distance.printed(a, x, n)
                expected_distance.appendix(a, x, n)
                expected_distance.sandwich(a, x, n)
                separability.radius(a, x, chosen)
                separability.separable_count(a, x, chosen)
        return rows

    return _on_fewer_threads_if_faster(loop)


def _on_fewer_threads_if_faster(loop: Callable[..., object]) -> Callable[[], object]:
    """The loop as it is or on one thread: small tensors on a busy machine can lose by sharing."""
    threads = torch.get_num_threads()

    def alone(*rows: range) -> object:
        torch.set_num_threads(1)
        try:
            return loop(*rows)
        finally:
            torch.set_num_threads(threads)

    some = range(LITERAL // 4, LITERAL, LITERAL // 4)
    loop(some)  # warm
    return min((loop, alone), key=lambda way: seconds(lambda: way(some)))


def setting() -> str:
    """What was measured, for the line above the table."""
    return (
        f"{LENGTH} causal rows, Gaussian logits with a mild sink, unit vectors; theory's loop has "
        f"distance, E, r and N_s of {LITERAL} rows and every N, once, in full"
    )
