"""`headgauge.compare`: rules in one model, or two finished scans and more.

headgauge.compare("default", rules="ssmax:s=fit,sparsemax")
headgauge.compare("runs/before", "runs/after")             # folders, or what `scan` returned
headgauge.compare(*checkpoints, fail_on="separability<-0.05")
"""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from headgauge.comparison.rules import compare_rules
from headgauge.comparison.runs import compare_runs, single_run
from headgauge.errors import InputError
from headgauge.measure.plan import Model
from headgauge.measure.reading import Tokens
from headgauge.measure.runner import Progress
from headgauge.options import takes
from headgauge.options.commands import OF_A_MODEL, OF_RUNS, CompareOptions
from headgauge.scanning import ScanResult


@takes(CompareOptions)
def compare(
    *compared: Model | ScanResult,
    tokens: Tokens = None,
    text: str | Sequence[str] | None = None,
    tokenizer: Any = None,
    progress: Progress | None = None,
    **options: Any,
) -> Any:
    """Compare rules in a model (one thing is given), or finished scans (two or more are).

    A model, `tokens` and `text` are as in `headgauge.scan`. Scans are folders or what
    `headgauge.scan` returned, in an order that means something where there are three or more.
    """
    asked = CompareOptions(**options)
    check_use(asked, runs=len(compared) > 1)
    if len(compared) > 1:
        given = {"tokens": tokens, "text": text, "tokenizer": tokenizer}
        for name, value in given.items():
            if value is not None:
                raise InputError(_belongs(name, "a model", f"{len(compared)} runs"))
        return compare_runs(compared, asked)
    model: Any = compared[0] if compared else "default"
    single_run(model)
    return compare_rules(model, tokens, asked, text=text, tokenizer=tokenizer, progress=progress)


def check_use(asked: CompareOptions, runs: bool) -> None:
    """Refuse an option of the other use: it would change nothing, and nobody would notice."""
    usual = {each.name: each.default for each in fields(asked)}
    for name in OF_A_MODEL if runs else OF_RUNS:
        if getattr(asked, name) != usual[name]:
            whose = ("a model", "runs") if runs else ("runs", "a model")
            raise InputError(_belongs(name.removesuffix("_option").replace("_", "-"), *whose))


def _belongs(option: str, whose: str, given: str) -> str:
    return f"{option} is for the comparison of {whose}, not of {given}"
