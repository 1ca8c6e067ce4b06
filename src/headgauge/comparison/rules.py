"""What `headgauge compare MODEL` asks: the same windows of a model under several rules."""

from typing import Any

from headgauge.errors import InputError
from headgauge.measure.plan import Model
from headgauge.measure.reading import Tokens
from headgauge.measure.runner import Progress
from headgauge.options.commands import CompareOptions


def compare_rules(
    model: Model,
    tokens: Tokens,
    asked: CompareOptions,
    *,
    text: Any = None,
    tokenizer: Any = None,
    progress: Progress | None = None,
) -> Any:
    """The loss and every head's measures under each rule."""
    raise InputError("rules in a model cannot be compared yet: give two runs or more")
