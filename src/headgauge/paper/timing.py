"""Table 1: the paper's times, ours, and the literal loop's, algorithm by algorithm.

The literal loops are theory's functions, row by row and N by N. They are timed on a sample of rows
of one real head and extrapolated to all rows, N, heads and temperatures of the run. In double
precision, as `theory` is, on one thread or all, whichever is faster for tensors this small.
"""

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, TypedDict

import torch
from torch import Tensor

from headgauge import models
from headgauge.measure.plan import Plan
from headgauge.paper.figures import SEPARABILITY_NS
from headgauge.paper.settings import ReproduceSettings
from headgauge.registry import published
from headgauge.runs import UnitKey
from headgauge.theory.normalization import expected_distance, finite_difference, separability
from headgauge.theory.normalization.distance import distance
from headgauge.theory.normalization.selection import top_n

ROWS = 6  # of the head, evenly spread
_TIMES = 50  # that Algorithm 5's short step is repeated
_SHARED = "one pass serves Algorithms 2, 3 and 4; its whole time stands in each row"


# What a text's time goes into, by the phases that its units tell; all others are a scan's.
_PARTS = {
    "forward": "the model's own passes",
    "vectors": "vectors and their inner products",
    "paper": "Algorithms 1 to 4",
    "sensitivity": "Algorithm 5",
    "beyond": "N beyond 100",
    "choices": "the other choices of vectors and keys",
    "windows": "other windows, for the bands",
    "rules": "other rules",
    "vanishing": "vanishing weights",
    "points": "Figure 1",
    "assumptions": "how vectors lie",
    "coverage": "what heads cover together",
}
_SCANNED = "what a scan measures"


class SpentRow(TypedDict):
    """Seconds of one part of a reproduction, on one text or (null) beside them all."""

    part: str
    text: str | None
    seconds: float


def spent_on(text: str, units: dict[str, dict[str, float]]) -> list[SpentRow]:
    """Where a text's time went, by its units' seconds of each phase."""
    parts = dict.fromkeys([*_PARTS.values(), _SCANNED], 0.0)
    for phases in units.values():
        for phase, seconds in phases.items():
            parts[_PARTS.get(phase, _SCANNED)] += seconds
    return [SpentRow(part=part, text=text, seconds=round(s, 3)) for part, s in parts.items() if s]


class LiteralTime(NamedTuple):
    """Seconds the whole loop would take, and the share of it that was timed."""

    seconds: float
    share: float


class TimingRow(TypedDict):
    """An algorithm's times in seconds; null where there is none."""

    algorithm: str
    what: str
    paper_seconds: float
    ours_seconds: float | None
    shared: bool
    literal_seconds: float | None
    literal_share: float | None  # of the loop that was timed
    ratio: float | None
    note: str


def timing_table(
    units: dict[str, dict[str, float]],
    literal: dict[str, LiteralTime],
    settings: ReproduceSettings,
) -> list[dict[str, Any]]:
    """TimingRows. `units` has the seconds of each unit by phase.

    Algorithms 2, 3 and 4 share one pass over the longest window: each row has the whole of it, so
    that no ratio is flattered. Algorithm 1 is that pass and those over the shorter windows.
    """
    keys = {UnitKey.from_name(name): spent for name, spent in units.items()}
    first = {key.length: spent for key, spent in keys.items() if key and key.window == 0}
    passes = {
        each: sum(spent.get(phase, 0.0) for phase in ("forward", "vectors", "paper"))
        for each, spent in first.items()
    }
    length, rows = settings.length, settings.sensitivity_rows
    ours = dict.fromkeys("234", passes.get(length, 0.0)) | {
        "1": sum(passes.values()) if passes.keys() - {length} else None,
        "5": first.get(length, {}).get("sensitivity"),
    }
    shorter = ", ".join(map(str, sorted(settings.lengths)[:-1])) or "none shorter"
    notes = dict.fromkeys("234", _SHARED) | {
        "1": f"passes over L = {shorter}, with every N that Algorithm 3 needs there, and the pass "
        "of Algorithms 2 to 4 at the longest L",
        "3": f"{_SHARED}; without the tests themselves, which take a second or two",
        "5": "all query rows of each head",
    }
    if rows < length:
        notes["5"] = (
            f"{rows} of {length} query rows per head, the literal loop all of them: per row the "
            f"ratio is {length / rows:.2g} times smaller"
        )
    compares = dict.fromkeys(ours, True)
    if settings.paper_rows is not None:
        few = f"{settings.paper_rows} of {length} query rows and a grid of N"
        notes |= dict.fromkeys("1234", f"{few}, the literal loop all of them: no ratio")
        compares |= dict.fromkeys("1234", False)
    table = []
    for number, what in published.ALGORITHMS.items():
        spent, loop = ours[number], literal.get(number)
        ratio = None
        if loop and loop.seconds and spent and compares[number]:
            ratio = round(loop.seconds / spent, 1)
        table.append(
            {
                "algorithm": number,
                "what": what,
                "paper_seconds": published.SECONDS[number],
                "ours_seconds": None if spent is None else round(spent, 3),
                "shared": number in "234",
                "literal_seconds": None if loop is None else _rounded(loop.seconds),
                "literal_share": None if loop is None else loop.share,
                "ratio": ratio,
                "note": notes[number],
            }
        )
    return table


def _rounded(seconds: float) -> float:
    """To a tenth, or to three digits where that is finer: a short loop is no loop of 0 s."""
    return round(seconds, 1) if seconds >= 100 else float(f"{seconds:.3g}")


class _Row(NamedTuple):
    """A query row of the last head of the middle layer, as the choice sees it."""

    weights: Tensor  # of the keys that the choice is about
    vectors: Tensor
    logits: Tensor  # of those that the row sees


def literal_times(plan: Plan, settings: ReproduceSettings, heads: int) -> dict[str, LiteralTime]:
    """Times of the five loops over `heads` heads, from a sample."""
    rows, vectors = _capture(plan, settings)
    if vectors is None:  # nothing to time it on
        return {}
    separation = separability.minimum_separation(vectors)  # once for all rows

    def distances(row: _Row, n: int, bound: bool = True) -> None:
        a, x, chosen = row.weights, row.vectors, top_n(row.weights, n)
        distance(a, x, chosen)
        if bound:
            _printed_bound(a, x, chosen)
        expected_distance.printed(a, x, n)

    def separable(row: _Row, n: int) -> None:
        a, x, chosen = row.weights, row.vectors, top_n(row.weights, n)
        separability.separable_count(a, x, chosen)
        r = separability.radius(a, x, chosen)
        xi = separability.xi(a, chosen, separation)
        separability.printed_lower_bound(xi, chosen, r)
        separability.printed_upper_bound(xi, chosen, r)

    def sensitive(row: _Row, n: int) -> None:
        for _ in range(_TIMES):
            direction = finite_difference.random_direction(row.logits)
            finite_difference.sensitivity(row.logits, direction, 0.1, 1.0)

    # Algorithm 1 repeats its loop at every length; a row's cost is linear in the keys it has.
    lengths = sum((each / settings.length) ** 2 for each in settings.lengths)
    tens = range(5, published.LARGEST_N + 1, 10)
    grid = len(settings.temperatures) * len(published.EPSILONS)
    # The step, the N it is timed at, and how often all rows of the head at these are in the loop.
    loops: dict[str, tuple[Callable[[_Row, int], None], Sequence[int], float]] = {
        "1": (distances, [published.DISTANCE_N], heads * lengths),
        "2": (distances, published.DISTANCE_NS, heads),
        "3": (partial(distances, bound=False), tens, heads * published.LARGEST_N / len(tens)),
        "4": (separable, SEPARABILITY_NS, heads),
        "5": (sensitive, [1], heads * grid / _TIMES),
    }
    found = {}
    for number, (step, top_ns, times) in loops.items():
        share = ROWS / (settings.length * times)
        steps = [partial(step, row, n) for row in rows for n in top_ns if n < len(row.logits)]
        found[number] = LiteralTime(_seconds(steps) / share, share)
    return found


def _seconds(steps: Sequence[Callable[[], None]]) -> float:
    """Of all steps, on as many threads as suit the first: small tensors can lose by sharing."""
    threads = torch.get_num_threads()

    def timed(steps: Sequence[Callable[[], None]]) -> float:
        began = time.perf_counter()
        for step in steps:
            step()
        return time.perf_counter() - began

    try:
        tried = {}
        for count in (threads, 1):
            torch.set_num_threads(count)
            timed(steps[:1])
            tried[count] = timed(steps[:1])
        torch.set_num_threads(min(tried, key=lambda count: tried[count]))
        return timed(steps)
    finally:
        torch.set_num_threads(threads)


def _printed_bound(a: Tensor, x: Tensor, chosen: Tensor) -> Tensor:
    """Theorem 1.1 with only the distances it needs; theory's own takes those of all pairs."""
    apart = torch.cdist(x[chosen], x[~chosen], compute_mode="donot_use_mm_for_euclid_dist").max()
    mass, outside = a[chosen].sum(), a[~chosen].sum()
    longest = torch.linalg.vector_norm(x[chosen], dim=-1).max()
    return outside * apart + longest * (mass * (~chosen).sum() - outside)


def _capture(plan: Plan, settings: ReproduceSettings) -> tuple[list[_Row], Tensor | None]:
    """Some rows of one head in a pass of their own, and the vectors of all keys."""
    loaded, choice = plan.loaded, settings.chosen
    unit = next(each for each in plan.units if each.key.length == settings.length)
    inputs = models.model_inputs(loaded, torch.tensor([unit.ids], dtype=torch.long))
    middle = len(models.attention_modules(loaded.model)) // 2
    rows: list[_Row] = []
    every: Tensor | None = None

    def observer(call: models.ObservedCall) -> None:
        nonlocal every
        x = None if call.layer != middle or rows else vectors.of(call, choice.vectors)
        if x is None:
            return
        head = call.heads - 1
        every = choice.scaled(x[0, call.kv_head(head) if x.shape[1] > 1 else 0])
        for at in range(ROWS):
            place = int((at + 0.5) * call.queries / ROWS)
            block = call.block(0, head, place, place + 1)
            weights, logits = block.weights[0].cpu().double(), block.logits[0].cpu().double()
            seen = block.visible[0].cpu()
            if choice.keys == "visible":
                own, counted = weights[seen], every[: block.reach][seen]
            else:
                own = torch.nn.functional.pad(weights, (0, call.keys - block.reach))
                counted = every
            rows.append(_Row(own, counted, logits[seen]))

    vectors = models.KeyVectors(loaded.model, inputs, (choice.vectors,))
    with torch.no_grad(), vectors, models.intercept(loaded.model, observer):
        loaded.model(**inputs)
    return rows, every
