"""The literal loops of Algorithms 1 to 5: theory's functions, row by row and N by N.

They are timed on a sample of rows of one real head and extrapolated to all rows, N, heads and
temperatures of the run. In double precision, as `theory` is, on one thread or all, whichever is
faster for tensors this small.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from headgauge import models
from headgauge.measure.plan import Plan
from headgauge.paper.settings import ReproduceSettings
from headgauge.theory.normalization import expected_distance, finite_difference, separability
from headgauge.theory.normalization.distance import distance
from headgauge.theory.normalization.selection import top_n

ROWS = 6  # evenly spread
_TIMES = 50  # that Algorithm 5's short step is repeated


@dataclass(frozen=True)
class LiteralTime:
    """Seconds the whole loop would take, and the share of it that was timed."""

    algorithm: str
    seconds: float
    share: float


@dataclass(frozen=True, eq=False)
class _Head:
    """The last head of the middle layer: its rows, as the closest choice sees them."""

    weights: Tensor  # (rows, keys)
    logits: Tensor
    vectors: Tensor
    visible: Tensor


def literal_times(plan: Plan, settings: ReproduceSettings, heads: int) -> list[LiteralTime]:
    """Times of the five loops over `heads` heads, from a sample."""
    head = _capture(plan, settings)
    if head is None:  # nothing to time it on
        return []
    everything = settings.chosen.keys == "all"
    length = settings.length
    largest = settings.fig2c.largest
    separation = separability.minimum_separation(head.vectors)  # once for all rows

    def first(row: int, n: int) -> None:
        a, x, chosen = _selected(head, row, n, everything)
        distance(a, x, chosen)
        _printed_bound(a, x, chosen)
        expected_distance.printed(a, x, n)

    def third(row: int, n: int) -> None:
        a, x, chosen = _selected(head, row, n, everything)
        distance(a, x, chosen)
        expected_distance.printed(a, x, n)

    def fourth(row: int, n: int) -> None:
        a, x, chosen = _selected(head, row, n, everything)
        separability.separable_count(a, x, chosen)
        ball = separability.radius(a, x, chosen)
        xi = separability.xi(a, chosen, separation)
        separability.printed_lower_bound(xi, chosen, ball)
        separability.printed_upper_bound(xi, chosen, ball)

    def fifth(row: int, n: int) -> None:
        seen = head.logits[row][head.visible[row]]
        for _ in range(_TIMES):
            direction = finite_difference.random_direction(seen)
            finite_difference.sensitivity(seen, direction, 0.1, 1.0)

    grid = len(settings.fig4.temperatures) * len(settings.fig4.epsilons)
    # Algorithm 1 repeats its loop at every length; a row's cost is linear in the keys it has.
    shorter = sum((each / length) ** 2 for each in settings.lengths)
    tens = list(range(5, largest + 1, 10))
    every = tuple(range(ROWS))
    return [
        _timed("1", first, every, [settings.fig2a.top_n], heads * shorter, length, head),
        _timed("2", first, every, settings.fig2b.top_ns, heads, length, head),
        _timed("3", third, every, tens, heads * largest / len(tens), length, head),
        _timed("4", fourth, every, settings.fig3.top_ns, heads, length, head),
        _timed("5", fifth, every, [1], heads * grid / _TIMES, length, head),
    ]


def _timed(
    algorithm: str,
    step: Callable[[int, int], None],
    rows: Sequence[int],
    top_ns: Sequence[int],
    times: int | float,
    length: int,
    head: _Head,
) -> LiteralTime:
    """All sampled rows × N once, on as many threads as suit the first step."""
    pairs = [(row, n) for row in rows for n in top_ns]
    pairs = [(row, n) for row, n in pairs if n < int(head.visible[row].sum())]
    share = len(rows) / (length * times)
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(_better(lambda: step(*pairs[0]), threads) if pairs else threads)
        began = time.perf_counter()
        for row, n in pairs:
            step(row, n)
        return LiteralTime(algorithm, (time.perf_counter() - began) / share, share)
    finally:
        torch.set_num_threads(threads)


def _better(step: Callable[[], None], threads: int) -> int:
    """One thread or all: small tensors can lose by sharing."""
    seconds = {}
    for count in (threads, 1):
        torch.set_num_threads(count)
        step()
        began = time.perf_counter()
        step()
        seconds[count] = time.perf_counter() - began
    return min(seconds, key=lambda count: seconds[count])


def _printed_bound(a: Tensor, x: Tensor, chosen: Tensor) -> Tensor:
    """Theorem 1.1 with only the distances it needs; theory's own takes those of all pairs."""
    apart = torch.cdist(x[chosen], x[~chosen], compute_mode="donot_use_mm_for_euclid_dist").max()
    mass, outside = a[chosen].sum(), a[~chosen].sum()
    longest = torch.linalg.vector_norm(x[chosen], dim=-1).max()
    return outside * apart + longest * (mass * (~chosen).sum() - outside)


def _selected(head: _Head, row: int, n: int, everything: bool) -> tuple[Tensor, Tensor, Tensor]:
    counting = torch.ones_like(head.visible[row]) if everything else head.visible[row]
    a, x = head.weights[row][counting], head.vectors[counting]
    return a, x, top_n(a, n)


def _capture(plan: Plan, settings: ReproduceSettings) -> _Head | None:
    """Some rows of one head in a pass of their own."""
    loaded = plan.loaded
    unit = next(each for each in plan.units if each.key.length == settings.length)
    inputs = models.model_inputs(loaded, torch.tensor([unit.ids], dtype=torch.long))
    layers = len(models.attention_modules(loaded.model))
    kind = settings.chosen.vectors
    found: list[_Head] = []

    def observer(call: models.ObservedCall) -> None:
        if call.layer != layers // 2 or found:
            return
        x = vectors.of(call, kind)
        if x is None:
            return
        head = call.heads - 1
        chosen = x[0, call.kv_head(head) if x.shape[1] > 1 else 0].cpu().double()
        if settings.chosen.scale == "unit":
            chosen = torch.nn.functional.normalize(chosen, dim=-1)
        places = [int((at + 0.5) * call.queries / ROWS) for at in range(ROWS)]
        blocks = [call.block(0, head, place, place + 1) for place in places]
        wide = call.keys
        found.append(
            _Head(
                torch.stack([_widened(each.weights[0], wide, 0.0) for each in blocks]),
                torch.stack([_widened(each.logits[0], wide, 0.0) for each in blocks]),
                chosen,
                torch.stack([_widened(each.visible[0], wide, 0.0) for each in blocks]).bool(),
            )
        )

    vectors = models.KeyVectors(loaded.model, inputs, (kind,))
    with torch.no_grad(), vectors, models.intercept(loaded.model, observer):
        loaded.model(**inputs)
    return found[0] if found else None


def _widened(row: Tensor, wide: int, value: float) -> Tensor:
    return torch.nn.functional.pad(row.cpu().double(), (0, wide - len(row)), value=value)
