"""`headgauge.stats` beside materialising the weights, and beside the plain sdpa pass, as L grows.

Random q and k, causal, all of the statistics; of materialising the leanest way, in place where it
can be. Seconds are the fastest of the rounds, in turns, on all threads; gigabytes are what a
process of its own needed at most above one that only made q and k.
"""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch
from rich.table import Table
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

import headgauge
from benchmarks import memory
from headgauge.engine.row_sums import Wanted, by_rows
from headgauge.logits import Logits

LENGTHS = (1024, 2048, 4096, 8192, 16384)
HEADS, KV_HEADS, DIM = 2, 1, 64
FASTER, SMALLER = 1.5, 10.0  # than materialising: in time from 2048 on, in memory from 4096 on
CHEAP = ("entropy", "max_logit")


@dataclass(frozen=True)
class Cost:
    """One row: seconds and gigabytes at one length."""

    what: str
    length: int
    sdpa: float
    stats: float
    cheap: float
    rows: float
    materialised: float
    stats_memory: float
    materialised_memory: float

    @property
    def ratio(self) -> float:
        return self.materialised / self.stats

    @property
    def met(self) -> bool | None:
        if self.length < 4096:
            return None if self.length < 2048 else self.ratio >= FASTER
        least = max(self.stats_memory, 0.01)  # a process is not measured more finely
        return self.ratio >= FASTER and self.materialised_memory >= SMALLER * least


def run(rounds: int) -> Iterator[Cost]:
    """A few of the rounds where one takes long: whatever else the machine does only adds."""
    for length in LENGTHS:
        query, key = _given(length)
        ways: dict[str, Callable[[], object]] = {
            name: partial(way, query, key) for name, way in WAYS.items() if name != "nothing"
        }
        seconds = _seconds(ways, max(2, rounds * 1024 // length))
        nothing = _peak("nothing", length)
        peaks = {
            f"{name}_memory": _peak(name, length) - nothing for name in ("stats", "materialised")
        }
        yield Cost(f"L = {length}", length, **seconds, **peaks)


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


def _seconds(ways: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """The fastest of each, in turns; the first turn fills the caches."""
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(rounds + 1):
        for name, way in ways.items():
            began = time.perf_counter()
            way()
            seconds[name] += [time.perf_counter() - began] if turn else []
    return {name: min(each) for name, each in seconds.items()}


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
        f"{HEADS} heads on {KV_HEADS} key head, {DIM} dimensions, float32, causal, all statistics; "
        f"from 2048 on at least {FASTER:g} times as fast as materialising, from 4096 on in "
        f"{SMALLER:g} times less memory"
    )


def table(title: str, caption: str, results: list[Cost]) -> Table:
    """The rows as a table; sdpa in seconds, the rest in times of it."""
    made = Table(title=title, caption=caption)
    headings = ("L", "sdpa, s", "stats", " + ".join(CHEAP), "by rows", "materialised", "faster")
    for heading in (*headings, "stats, GB", "materialised, GB", "met"):
        made.add_column(heading, justify="right")
    for each in results:
        times = (each.stats, each.cheap, each.rows, each.materialised)
        made.add_row(
            str(each.length),
            f"{each.sdpa:.3f}",
            *(f"{seconds / each.sdpa:.2f}" for seconds in times),
            f"{each.ratio:.2f}",
            f"{each.stats_memory:.3f}",
            f"{each.materialised_memory:.3f}",
            {True: "yes", False: "no", None: ""}[each.met],
        )
    return made


if __name__ == "__main__":
    WAYS[sys.argv[1]](*_given(int(sys.argv[2])))
    print(memory.highest())
