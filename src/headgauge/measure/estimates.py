"""How long a run will take and how much memory and disk it needs, before it starts.

Times are those of this machine: one matrix product and one small block through the same kernels are
timed, and scaled by the size of the run. They are good to a factor of two.
"""

import timeit
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

import torch

from headgauge import engine, models
from headgauge.measure.depth import SAMPLE
from headgauge.measure.plan import Plan
from headgauge.measure.requests import Task
from headgauge.models import predicting
from headgauge.threads import one_thread

_ROWS, _KEYS = 64, 1024  # of the block that is timed
# Bytes per row of the tables as they come out of the writer, twice: units and merged.
HEAD_BYTES, CURVE_BYTES, _SAMPLE_BYTES, _ROW_BYTES = 2 * 350, 2 * 150, 2 * 14, 2 * 60
_DEPTH_BYTES = 2 * 400
_FIGURE_BYTES = 8 << 20
_LIBRARIES = 1 << 30  # of memory: Python, torch, the tokenised text


@dataclass(frozen=True)
class Estimate:
    """Seconds of wall time after loading, peak bytes of memory (with the model), bytes on disk."""

    seconds: float
    memory: int
    disk: int


def estimate(plan: Plan, jobs: int = 1, left: int | None = None) -> Estimate:
    """For the units of a plan whose tasks are alike, or for the `left` longest of them."""
    settings, facts, heads = plan.settings, plan.loaded.facts, head_count(plan)
    task = plan.task(plan.units[-1])
    lengths = sorted(len(unit.ids) for unit in plan.units)
    lengths = lengths if left is None else lengths[len(lengths) - left :]
    passes = lengths * (1 + ("final" in task.kinds) + task.depth)
    if task.ablate is not None:  # with the layers from the head's on, and the output layer
        longest = [length for length in lengths if length == max(lengths)]
        passes += longest * round(0.6 * (len(task.ablate.groups) or heads))
    if lengths:  # the first window is read the other way too
        passes += [len(unit.other) for unit in plan.units if unit.other is not None]
    seen = 0.5 if facts.kind == "decoder" else 1.0  # of the entries of an attention matrix
    queries = [min(settings.rows or length, length) for length in lengths]
    entries = heads * seen * sum(a * b for a, b in zip(lengths, queries, strict=True))
    seconds = sum(_pass_flops(plan, length) for length in passes) / _forward_rate(plan)
    # Under a rule all is measured twice: on the original's logits and inside the swapped model.
    ways = 1 + 2 * len(task.rules)
    seconds += len(task.rules) * sum(pass_seconds(plan, length) for length in lengths)
    if task.judged or task.curves:
        seconds += ways * entries * _measure_rate(plan, task)
    memory = memory_needed(plan, max(lengths, default=0), task.depth) * jobs
    curves = sum(len(request.top_ns) for request in task.curves) * CURVE_BYTES
    samples = settings.sample_rows * settings.sample_keys * _SAMPLE_BYTES
    depth = task.depth * (facts.layers + 1) * _DEPTH_BYTES
    rows = heads * sum(queries) * _ROW_BYTES * settings.keep_rows
    tables = len(lengths) * (ways * heads * (HEAD_BYTES + curves + samples) + depth) + rows
    return Estimate(seconds / jobs, memory, tables + _FIGURE_BYTES)


def pass_seconds(plan: Plan, length: int) -> float:
    """Of one pass over a window of so many tokens, with its loss."""
    return _pass_flops(plan, length) / _forward_rate(plan)


def head_count(plan: Plan) -> int:
    """Heads that are measured."""
    layers = plan.settings.layers
    modules = len(models.attention_modules(plan.loaded.model)) if layers is None else len(layers)
    heads = plan.loaded.facts.heads if plan.settings.heads is None else len(plan.settings.heads)
    return modules * heads


def _pass_flops(plan: Plan, length: int) -> float:
    facts = plan.loaded.facts
    weights = sum(each.numel() for each in plan.loaded.model.parameters())
    square = 4.0 * facts.layers * facts.heads * facts.head_dim * length * length
    return 2.0 * weights * length + square


def _forward_rate(plan: Plan) -> float:
    """Floating point operations a second of a product in the model's own dtype and place."""
    weights = next(plan.loaded.model.parameters())
    return _product_rate(weights.device, weights.dtype)


@cache
def _product_rate(device: torch.device, dtype: torch.dtype) -> float:
    a = torch.ones(1024, 1024, device=device, dtype=dtype)
    return 2.0 * 512 * 1024 * 1024 / _fastest(lambda: (a[:512] @ a).sum().item())


def _measure_rate(plan: Plan, task: Task) -> float:
    """Seconds per entry of a head's attention matrix, for all that is measured of it.

    One block of the last rows of a window, on one thread; the run has a head on each.
    """
    source, settings = torch.Generator().manual_seed(0), plan.settings
    device = next(plan.loaded.model.parameters()).device
    keys = max(min(settings.length, _KEYS), _ROWS)
    visible = torch.ones(_ROWS, keys, dtype=torch.bool).tril(keys - _ROWS).to(device)
    logits = torch.randn(_ROWS, keys, generator=source).to(device)
    weights = torch.softmax(logits.masked_fill(~visible, -torch.inf), -1)
    x = torch.randn(keys, plan.loaded.facts.head_dim, generator=source).to(device)
    geometry = engine.Geometry.of(x, precision=cast(engine.Precision, settings.precision))

    def block() -> None:
        engine.row_measures(weights, visible, logits, logits)
        for request in task.curves:
            if request.rows is not None:  # some rows: a trifle
                continue
            top_ns = [n for n in request.top_ns if n < keys]
            engine.curves(weights, geometry, top_ns, visible, cast(engine.Keys, request.keys))

    with one_thread():
        return _fastest(block) / (_ROWS * keys * settings.threads)


def _fastest(call: Callable[[], object]) -> float:
    call()  # compiled code and thread pools are made on first use
    return min(timeit.repeat(call, number=1, repeat=3))


def memory_needed(plan: Plan, length: int, depth: bool = False) -> int:
    loose: Any = plan.loaded.model
    config = loose.config.get_text_config()
    each = next(loose.parameters()).element_size()
    weights = sum(p.numel() * p.element_size() for p in loose.parameters())
    logits = length * getattr(config, "vocab_size", 0) * each
    if predicting.apart(plan.loaded) is not None:  # a piece, and its logarithms
        logits = min(logits, 2 * predicting.AT_ONCE * each)
    # With depth also the stream and what is added to it.
    activations = (20 if depth else 16) * length * getattr(config, "hidden_size", 0) * each
    # The sampled pairs in float64 with their sorting.
    pairs = depth * 8 * 8 * min(length, SAMPLE) ** 2
    exact = 4 if plan.settings.precision == "float32" else 8
    gram = 2 * min(length * length * exact, 512 << 20)
    rows = min(plan.settings.rows_at_once(max(length, 1)), length)
    blocks = 24 * rows * length * exact * plan.settings.threads
    return weights + logits + activations + pairs + gram + blocks + _LIBRARIES
