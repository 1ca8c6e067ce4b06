"""The default model under each rule, against its plain forward pass.

A rule on the model's own function (a factor) or on the kernel's log-sum-exp (a sink) is held
against the sdpa pass, one that needs its rows against the eager pass; then the same when tokens are
generated, and the peak memory of a process of its own at a great length, where the model is cut to
two layers and has no logits, which would hide it. All in turns, on all threads. Each rule on the
model's own function is timed beside a plain pass of its own, before or behind it, because a machine
drifts by more than such a rule costs; a plain pass in a rule's place shows how near these can tell.
"""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import torch

import headgauge
from benchmarks import memory, scan
from benchmarks.scan import Share
from headgauge import models, normalizers

LENGTH, PROMPT, TOKENS = 1024, 128, 64
FACTOR, SINK, ROWS, COMPILED_ROWS, DECODING = 1.05, 1.3, 2.5, 1.5, 1.5
MEMORY_LENGTH, MEMORY_LAYERS, MEMORY_GOAL = 8192, 2, 1.0  # GB above the plain pass
COMPILED = ("sparsemax", "entmax")  # whose rows have a kernel of their own
# One of each path for what is measured of paths, and of the rows the one with most of them.
DECODED = ("ssmax", "sink", "sparsemax", "lssar")
Way = Callable[[], AbstractContextManager[Any]]


def run(rounds: int) -> Iterator[Share]:
    """The median of pairs on the model's own function; the limit is of all pairs there. Elsewhere
    the fastest of the rounds, since whatever else the machine does only adds; of the slow ones,
    eager attention and rules by rows, there are two."""
    loaded = models.load("default")
    ids = torch.randint(100, 40_000, (1, LENGTH), generator=torch.Generator().manual_seed(0))
    rules = {name: normalizers.get(name) for name in normalizers.names() if name != "softmax"}
    rules["softmax"] = normalizers.get("softmax", temperature=0.9)
    n = torch.tensor([LENGTH])
    factors = [name for name, rule in rules.items() if rule.factor_on_logits(n) is not None]
    sinks = [name for name, rule in rules.items() if rule.mass_of_sink() is not None]
    by_rows = [name for name in rules if name not in (*factors, *sinks)]
    ways: dict[str, Way] = {name: partial(headgauge.swap, loaded, rules[name]) for name in rules}
    forward = partial(_forward, loaded.model, ids)
    pairs = _pairs(forward, {"sdpa": nullcontext, **_of(ways, factors + sinks)}, rounds)
    fast = {name: _median(each) for name, each in pairs.items()}
    yield Share("plain sdpa forward: times itself", *fast["sdpa"])
    # All of them do the same, and one rule's few pairs tell no closer than the limit is to 1.
    together = _median([pair for name in factors for pair in pairs[name]])
    yield Share("factor, all of these: times sdpa", *together, FACTOR)
    for names, goal, path in ((factors, None, "factor"), (sinks, SINK, "log-sum-exp")):
        for name in names:
            yield Share(f"{name}, {path}: times sdpa", *fast[name], goal)
    eager = partial(_eager, loaded.model)
    slow = _seconds(forward, {"eager": eager, **_of(ways, by_rows)}, min(rounds, 2))
    yield Share("plain eager forward: times sdpa", slow["eager"], fast["sdpa"][1])
    for name in by_rows:
        goal = COMPILED_ROWS if name in COMPILED else ROWS
        yield Share(f"{name}, rows: times eager", slow[name], slow["eager"], goal)
    decode = partial(_decode, loaded.model, ids[:, :PROMPT])
    decoded = _seconds(decode, {"sdpa": nullcontext, **_of(ways, DECODED)}, min(rounds, 3))
    for name in DECODED:
        what = f"{name}, {TOKENS} tokens generated: times sdpa"
        yield Share(what, decoded[name], decoded["sdpa"], DECODING)
    plain, *peaks = (_peak(name) for name in ("", *DECODED))
    for name, peak in zip(DECODED, peaks, strict=True):
        what = f"{name}, GB above sdpa at {MEMORY_LENGTH} ({plain:.2f} GB)"
        yield Share(what, peak - plain, 1.0, MEMORY_GOAL)


def _of(ways: dict[str, Way], names: Any) -> dict[str, Way]:
    return {name: ways[name] for name in names}


Pairs = list[tuple[float, float]]


def _pairs(call: Callable[[], object], ways: dict[str, Way], rounds: int) -> dict[str, Pairs]:
    """Seconds of each way, and of a plain call beside it; the first round fills the caches."""
    seconds: dict[str, Pairs] = {name: [] for name in ways}
    for turn in range(rounds + 1):
        for name, way in ways.items():
            pair = [(way, 0), (nullcontext, 1)][:: 1 if turn % 2 else -1]
            found = {place: _once(call, each) for each, place in pair}
            seconds[name] += [(found[0], found[1])] if turn else []
    return seconds


def _median(pairs: Pairs) -> tuple[float, float]:
    """The pair whose ratio is the median."""
    return sorted(pairs, key=lambda pair: pair[0] / pair[1])[len(pairs) // 2]


def _once(call: Callable[[], object], way: Way) -> float:
    with torch.no_grad(), way():
        began = time.perf_counter()
        call()
        return time.perf_counter() - began


def _seconds(call: Callable[[], object], ways: dict[str, Way], rounds: int) -> dict[str, float]:
    """The fastest of each way, taken in turns; the first turn fills the caches."""
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(rounds + 1):
        for name, way in ways.items():
            spent = _once(call, way)
            seconds[name] += [spent] if turn else []
    return {name: min(each) for name, each in seconds.items()}


def _forward(model: Any, ids: torch.Tensor) -> None:
    model(ids, use_cache=False)


def _decode(model: Any, ids: torch.Tensor) -> None:
    length = {"max_new_tokens": TOKENS, "min_new_tokens": TOKENS}
    model.generate(ids, attention_mask=torch.ones_like(ids), do_sample=False, **length)


def _eager(model: Any) -> AbstractContextManager[Any]:
    hooks = ExitStack()
    hooks.callback(model.set_attn_implementation, model.config._attn_implementation)
    model.set_attn_implementation("eager")
    return hooks


def _peak(name: str) -> float:
    """GB of a process that runs a long window under a rule, or plainly."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.swap", name],
        check=True,
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[1],
    )
    return float(done.stdout.split()[-1])


def _child(name: str) -> float:
    loaded = models.load("default")
    body: Any = getattr(loaded.model, "base_model")  # noqa: B009
    del body.layers[MEMORY_LAYERS:]
    ids = torch.randint(100, 40_000, (1, MEMORY_LENGTH))
    with torch.no_grad(), headgauge.swap(loaded, name) if name else nullcontext():
        body(ids, use_cache=False)
    return memory.highest()


def setting() -> str:
    """What was measured, for the line above the table."""
    return f"default model, one window of {LENGTH} random tokens, all layers and heads"


table = partial(scan.table, against="ratio")


if __name__ == "__main__":
    print(_child(sys.argv[1]))
