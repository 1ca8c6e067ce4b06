"""Heads as people write them: L18H7, or (18, 7)."""

import re
from collections.abc import Iterable
from typing import Any

from headgauge.errors import InputError, whole
from headgauge.models.facts import LoadedModel
from headgauge.models.structure import attention_modules

Heads = tuple[tuple[int, int], ...]  # layer and head of each


def named_heads(what: str, given: str | Iterable[Any]) -> Heads:
    """Heads as L18H7 or (18, 7), in order and once each; `what` asks for them."""
    several = given.split(",") if isinstance(given, str) else given
    found = tuple(sorted({_named(what, each) for each in several}))
    if not found:
        raise InputError(f"{what} needs at least one head such as L18H7, got none")
    return found


def _named(what: str, given: Any) -> tuple[int, int]:
    if isinstance(given, str) and (found := re.fullmatch(r"L(\d+)H(\d+)", given.strip().upper())):
        return int(found[1]), int(found[2])
    if isinstance(given, (tuple, list)) and len(given) == 2:
        return whole("layer", given[0]), whole("head", given[1])
    raise InputError(f"{what} wants heads such as L18H7, got {given!r}")


def check_there(loaded: LoadedModel, heads: Heads) -> None:
    """Refuse heads that the model does not have."""
    last = len(attention_modules(loaded.model)) - 1, loaded.facts.heads - 1
    for layer, head in heads:
        if not (0 <= layer <= last[0] and 0 <= head <= last[1]):
            raise InputError(
                f"{loaded.name} has heads L0H0 to L{last[0]}H{last[1]}, not L{layer}H{head}"
            )
