"""`headgauge reproduce` on one text with the default model, after loading.

Algorithms 1 to 5 are the passes of the model, the vectors and the sweeps of the first window, as
the command charges them to the algorithms; the whole is from the first pass to the last figure.
Two rounds at most: each takes minutes.
"""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.timing import Result
from headgauge import models, paper
from headgauge.measure.runner import default_threads
from headgauge.paper.reproducing import ReproductionPlan, run_reproduction
from headgauge.report.figures import draw

ALGORITHMS, WHOLE = 110.0, 300.0  # seconds
ROUNDS = 2


def run(rounds: int) -> Iterator[Result]:
    """Algorithms 1 to 5 together, Algorithm 5 alone, and the whole command, at most twice."""
    settings = paper.ReproduceSettings(threads=default_threads(1, None))
    texts = models.default_texts()[:1]
    plan = paper.make_reproduction(models.ModelSource("default"), texts, settings)
    taken = [_once(plan) for _ in range(min(rounds, ROUNDS))]
    for what, limit in taken[0]:
        each = tuple(parts[what, limit] for parts in taken)
        yield Result(what, "", each, limit=limit)


def _once(plan: ReproductionPlan) -> dict[tuple[str, float | None], float]:
    """Seconds by what they went into and what that is held to."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        found = run_reproduction(plan, Path(folder, "run"))
        draw(found, False)
        whole = time.perf_counter() - began
    spent = {row["algorithm"]: row["ours_seconds"] for row in found.timing}
    rows = plan.settings.sensitivity_rows
    return {
        # Algorithm 1 has the pass of 2, 3 and 4 in it.
        ("Algorithms 1 to 5", ALGORITHMS): spent["1"] + spent["5"],
        (f"  of which Algorithm 5, on {rows} rows", None): spent["5"],
        ("the whole command, one text", WHOLE): whole,
        **{(f"  of which {row['part']}", None): row["seconds"] for row in found.spent},
    }


def setting() -> str:
    """What was measured, for the line above the table."""
    return "default model, its first default text, L = 1024, five windows, all rules and choices"
