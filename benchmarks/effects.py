"""`headgauge ablate` against as many whole passes as it has losses to find.

All heads of the default model in one window, with its calibration, clean pass and checks, all of
which every further window has too; a whole pass is transformers' own call with sdpa and the loss,
timed between the heads and taken out of their time.
"""

import statistics
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import torch

from benchmarks import scan
from benchmarks.scan import Share
from headgauge import ablation, models
from headgauge.scanning import Plan

LENGTH = 512
EVERY = 10  # heads between two whole passes
GOAL = 0.65


def run(rounds: int) -> Iterator[Share]:
    """One round: it takes minutes."""
    settings = ablation.AblateSettings(
        lengths=(LENGTH,), windows=1, threads=torch.get_num_threads()
    )
    plan = ablation.ablate_plan(models.ModelSource("default"), None, settings)
    # A thread of its own: to others than the ablation's the model is whole at any time.
    with ThreadPoolExecutor(1, "", torch.set_num_threads, (settings.threads,)) as thread:
        passes: list[float] = []
        heads = 0

        def between(_: float) -> None:
            nonlocal heads
            if heads % EVERY == 0:
                passes.append(thread.submit(_whole_pass, plan).result())
            heads += 1

        thread.submit(_whole_pass, plan).result()  # fills the caches
        with tempfile.TemporaryDirectory() as folder:
            began = time.perf_counter()
            result = ablation.run_ablation(plan, Path(folder, "run"), progress=between)
            ours = time.perf_counter() - began - sum(passes)
    count = result.effects.height + 1
    theirs = statistics.mean(passes) * count
    yield Share(f"{count} whole passes with their losses", theirs, theirs)
    yield Share(f"headgauge ablate, {count - 1} heads, with its tables written", ours, theirs, GOAL)


def _whole_pass(plan: Plan) -> float:
    ids = torch.tensor([plan.units[0].ids])
    began = time.perf_counter()
    with torch.no_grad():
        output = plan.loaded.model(ids, use_cache=False)
        models.next_token_loss(plan.loaded, output, ids)
    return time.perf_counter() - began


def setting() -> str:
    """What was measured, for the line above the table."""
    return f"default model, one window of {LENGTH} tokens, all heads; at most {GOAL:g}"


table = partial(scan.table, against="of the whole passes")
