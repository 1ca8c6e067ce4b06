"""Which rule each head of an attention module has.

A rule's parameters are numbers or tensors with one number per head. Heads whose rules differ in
such parameters alone are put together into one rule with tensors, because rows of many heads at
once cost less than the same rows head by head.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import torch
from torch import Tensor

from headgauge.errors import InputError
from headgauge.normalizers import Normalizer


@dataclass(frozen=True, eq=False)
class Group:
    """Heads that share a rule; None: the model's own softmax.

    A parameter that is a tensor has the shape (heads, 1), or a single number.
    """

    rule: Normalizer | None
    heads: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Assigned:
    """A rule for some heads of a module; None: for all it has. Or one for each of these heads,
    alike but for their parameters."""

    rule: Normalizer | tuple[Normalizer, ...]
    heads: tuple[int, ...] | None = None

    @property
    def learned(self) -> bool:
        """Whether someone may change its numbers while it is in force."""
        several = [self.rule] if isinstance(self.rule, Normalizer) else self.rule
        return any(isinstance(value, Tensor) for each in several for value in vars(each).values())


class HeadRules:
    """The rules of one module's heads; where several name a head, the last is in force."""

    def __init__(self, assigned: Sequence[Assigned]) -> None:
        self.assigned = tuple(assigned)
        self._learned = any(each.learned for each in self.assigned)
        self._groups: dict[int, tuple[Group, ...]] = {}

    def groups(self, heads: int) -> tuple[Group, ...]:
        """All heads of a module that has this many, by their rules."""
        if self._learned:
            return tuple(self._found(heads))
        if heads not in self._groups:
            self._groups[heads] = tuple(self._found(heads))
        return self._groups[heads]

    def of(self, head: int, heads: int) -> Normalizer | None:
        """The rule of one head of so many; None: the model's own."""
        group = next(each for each in self.groups(heads) if head in each.heads)
        if group.rule is None:
            return None
        return for_heads(group.rule, [group.heads.index(head)], len(group.heads))

    def _found(self, heads: int) -> Iterable[Group]:
        owner: list[int | None] = [None] * heads
        for index, each in enumerate(self.assigned):
            for head in range(heads) if each.heads is None else each.heads:
                if head >= heads:
                    raise InputError(f"there are heads 0 to {heads - 1} here, not {head}")
                owner[head] = index
        for index in dict.fromkeys(owner):
            mine = tuple(head for head in range(heads) if owner[head] == index)
            if index is None:
                yield Group(None, mine)
                continue
            each = self.assigned[index]
            named = range(heads) if each.heads is None else each.heads
            places = [named.index(head) for head in mine]
            rule = each.rule if isinstance(each.rule, Normalizer) else _one_rule(each.rule)
            yield Group(for_heads(rule, places, len(named)), mine)


def for_heads(rule: Normalizer, places: Sequence[int], count: int) -> Normalizer:
    """The rule for some of `count` heads, with their own parameters."""
    if list(places) == list(range(count)):
        return rule
    changed = {
        name: value[list(places)]
        for name, value in vars(rule).items()
        if isinstance(value, Tensor) and value.numel() > 1
    }
    return replace(rule, **changed) if changed else rule


def by_head(rule: Normalizer, count: int | None) -> Normalizer:
    """The rule with its tensors as a column, one number per head; anything else is refused."""
    changed: dict[str, Any] = {}
    for name, value in vars(rule).items():
        if not isinstance(value, Tensor):
            continue
        several = value.squeeze(-1) if value.ndim == 2 and value.shape[-1] == 1 else value
        if value.numel() != 1 and (several.ndim != 1 or count not in (None, len(several))):
            heads = "its heads" if count is None else f"{count} heads"
            raise InputError(
                f"{rule.name}: {name} must be a number or one number for each of {heads}, got the "
                f"shape {tuple(value.shape)}"
            )
        changed[name] = value.reshape(()) if value.numel() == 1 else several.unsqueeze(-1)
    return replace(rule, **changed) if changed else rule


def together(rules: Mapping[int, Normalizer]) -> list[Assigned]:
    """The rules of single heads, as few as they can be put together in."""
    alike: dict[tuple[Any, ...], dict[int, Normalizer]] = {}
    for head, rule in sorted(rules.items()):
        free = rule.per_row()
        kept = (
            (each.name, value is None if each.name in free else value)
            for each in fields(rule)
            for value in [getattr(rule, each.name)]
        )
        alike.setdefault((type(rule), *kept), {})[head] = rule
    return [Assigned(tuple(each.values()), tuple(each)) for each in alike.values()]


def _one_rule(rules: Sequence[Normalizer]) -> Normalizer:
    changed: dict[str, Tensor] = {}
    for name in type(rules[0]).per_row():
        values = [getattr(each, name) for each in rules]
        if values[0] is None or all(each is values[0] or each == values[0] for each in values):
            continue
        numbers = [torch.as_tensor(each, dtype=torch.float64).reshape(()) for each in values]
        changed[name] = torch.stack(numbers).unsqueeze(-1)
    return replace(rules[0], **changed) if changed else rules[0]
