"""`headgauge reproduce` on one text with the default model, after loading.

Algorithms 1 to 5 are the passes of the model, the vectors and the sweeps of the first window, as
the command charges them to the algorithms; the whole is from the first pass to the last figure.
One round: it takes minutes.
"""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.timing import Result
from headgauge import models, paper
from headgauge.measure.runner import default_threads
from headgauge.paper.reproducing import run_reproduction
from headgauge.report.figures import draw

ALGORITHMS, WHOLE = 110.0, 300.0  # seconds


def run(rounds: int) -> Iterator[Result]:
    """Algorithms 1 to 5 together, Algorithm 5 alone, and the whole command."""
    settings = paper.ReproduceSettings(threads=default_threads(1, None))
    texts = models.default_texts()[:1]
    plan = paper.make_reproduction(models.ModelSource("default"), texts, settings)
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        found = run_reproduction(plan, Path(folder, "run"))
        draw(found, False)
        whole = time.perf_counter() - began
    spent = {row["algorithm"]: row["ours_seconds"] for row in found.timing}
    rows = plan.settings.sensitivity_rows
    # Algorithm 1 has the pass of 2, 3 and 4 in it.
    yield _row("Algorithms 1 to 5", spent["1"] + spent["5"], ALGORITHMS)
    yield _row(f"  of which Algorithm 5, on {rows} rows", spent["5"])
    yield _row("the whole command, one text", whole, WHOLE)
    for row in found.spent:
        yield _row(f"  of which {row['part']}", row["seconds"])


def _row(what: str, seconds: float, limit: float | None = None) -> Result:
    return Result(what, "", (seconds,), limit=limit)


def setting() -> str:
    """What was measured, for the line above the table."""
    return "default model, its first default text, L = 1024, five windows, all rules and choices"
