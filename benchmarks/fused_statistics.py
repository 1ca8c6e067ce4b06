"""`headgauge.stats` beside materialising the weights, and beside the plain sdpa pass, as L grows.

Random q and k, causal, all of the statistics; of materialising the leanest way, in place where it
can be. Seconds are of rounds in turns, on all threads; gigabytes are what a process of its own
needed at most above one that only made q and k.
"""

import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

import headgauge
from benchmarks import memory
from benchmarks.timing import Result, Share, in_turns
from headgauge.engine.row_sums import Wanted, by_rows
from headgauge.logits import Logits

LENGTHS = (1024, 2048, 4096, 8192, 16384)
HEADS, KV_HEADS, DIM = 2, 1, 64
FASTER, SMALLER = 1.5, 10.0  # than materialising: in time from 2048 on, in memory from 4096 on
CHEAP = ("entropy", "max_logit")


def run(rounds: int) -> Iterator[Result]:
    """A few of the rounds where one takes long."""
    for length in LENGTHS:
        query, key = _given(length)
        ways: dict[str, Callable[[], object]] = {
            name: partial(way, query, key) for name, way in WAYS.items() if name != "nothing"
        }
        seconds = in_turns(ways, max(2, rounds * 1024 // length))
        stats, whole = seconds["stats"], seconds["materialised"]
        at, faster = f"L = {length}", FASTER if length >= 2048 else None
        materialising = "materialising the weights"
        yield Result(f"{at}: all", materialising, stats, whole, faster, direction="at least")
        for name, what in {"stats": "all", "cheap": " + ".join(CHEAP), "rows": "by rows"}.items():
            yield Share(f"{at}: {what}", seconds[name], seconds["sdpa"], against="sdpa forward")
        nothing = _peak("nothing", length)
        small, great = (_peak(name, length) - nothing for name in ("stats", "materialised"))
        small = max(small, 0.01)  # a process is not measured more finely
        limit = None if length < 4096 else 1 / SMALLER
        what = f"{at}: memory, {small:.3f} GB or less"
        yield Result(what, materialising, (small,), (great,), limit, unit="GB")


def _given(length: int) -> tuple[Tensor, Tensor]:
    source = torch.Generator().manual_seed(0)
    return (
        torch.randn(1, HEADS, length, DIM, generator=source),
        torch.randn(1, KV_HEADS, length, DIM, generator=source),
    )


def _sdpa(query: Tensor, key: Tensor) -> object:
    return F.scaled_dot_product_attention(query, key, key, is_causal=True, enable_gqa=True)


def _rows(query: Tensor, key: Tensor) -> object:
    return by_rows(Logits(query, key, DIM**-0.5, causal=True), Wanted())


def _materialised(query: Tensor, key: Tensor) -> object:
    length = query.shape[2]
    z = (query @ key.mT).mul_(DIM**-0.5)
    z.masked_fill_(torch.ones(length, length, dtype=torch.bool).triu_(1), -torch.inf)
    top, one = z.amax(-1), z.logsumexp(-1)
    weights = torch.softmax(z, -1)
    largest = weights.amax(-1)
    lower = largest * (1 - largest)
    entropy = -torch.special.xlogy(weights, weights).sum(-1)
    collision = -weights.square_().sum(-1).log()
    return entropy, collision, top, one, largest, lower, largest.minimum(2 * lower)


WAYS: dict[str, Callable[[Tensor, Tensor], object]] = {
    "nothing": lambda query, key: None,
    "sdpa": _sdpa,
    "stats": partial(headgauge.stats, causal=True),
    "cheap": partial(headgauge.stats, causal=True, want=CHEAP),
    "rows": _rows,
    "materialised": _materialised,
}


def _peak(name: str, length: int) -> float:
    """GB of a process that does it once."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.fused_statistics", name, str(length)],
        check=True,
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[1],
    )
    return float(done.stdout.split()[-1])


def setting() -> str:
    """What was measured, for the line above the table."""
    return (
        f"{HEADS} heads on {KV_HEADS} key head, {DIM} dimensions, float32, causal, all statistics"
    )


if __name__ == "__main__":
    WAYS[sys.argv[1]](*_given(int(sys.argv[2])))
    print(memory.highest())
