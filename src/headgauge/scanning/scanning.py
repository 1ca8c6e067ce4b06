"""`headgauge.scan`: every head of a model over windows of a text.

    result = headgauge.scan("default")                    # or a folder, a GGUF file, a hub name
    result = headgauge.scan(model, token_ids, length=512, top_n=[1, 4, 16])
    result = headgauge.scan(model, text="The prince said …", tokenizer=tokenizer)
    result.heads                                          # polars
    result.verdicts()
    result.save("runs/mine")

With `out` each unit is written as it finishes, and a run that is started again in the same folder
does what is left.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from headgauge.measure.plan import Model, Plan, make_plan, source_of
from headgauge.measure.reading import Seen, Tokens, look_at
from headgauge.measure.runner import Progress, run_plan
from headgauge.measure.unit import Source
from headgauge.options import takes
from headgauge.options.commands import ScanOptions
from headgauge.scanning.result import ScanResult
from headgauge.scanning.settings import SCAN, ScanSettings, scan_settings


@takes(ScanOptions)
def scan(
    model: Model = "default",
    tokens: Tokens = None,
    *,
    text: str | Sequence[str] | None = None,
    tokenizer: Any = None,
    progress: Progress | None = None,
    **options: Any,
) -> ScanResult:
    """Measure every head.

    `model` is a name, a folder, a file, a transformers model or what `models.load` returned.
    `tokens` is a text by name or path (a .jsonl file has a document in each line), documents as a
    list of strings, token ids of shape (tokens,) or (windows, length), or a tokenizer's batch,
    whose attention_mask says what is padding; `text` is the text itself. War and Peace where
    nothing is said. `chat` puts documents or `text` into the model's chat template.

    `length` may be several: the shorter ones show the trend that `capacity` extends. Sizes that are
    not given fit themselves to the model's context and the text, and the result's notes say so.
    """
    asked = ScanOptions(**options)
    seen = look_at(tokens, text, asked.chat)
    settings = scan_settings(asked)
    source = source_of(model, tokenizer, asked.dtype, asked.device, asked.revision)
    return run_scan(scan_plan(source, seen, settings), asked.out, asked.jobs, progress)


def scan_plan(source: Source, tokens: Tokens | Seen, settings: ScanSettings) -> Plan:
    """A scan before it runs."""
    return make_plan(source, tokens, settings, SCAN)


def run_scan(
    plan: Plan, out: str | Path | None, jobs: int = 1, progress: Progress | None = None
) -> ScanResult:
    """Do what is not done yet of a scan."""
    return ScanResult.of(run_plan(plan, out, jobs, progress))
