"""A model without some of its heads.

    with ablated(model, ["L18H7", (3, 5)]):                   # zeros in place of what they put out
        model.generate(…)
    with ablated(model, [(18, 7)], means=result.means):       # their means: see `head_means`
        model(input_ids)

A head's output is replaced before the output projection reads it, by zeros or by its mean. The
second is fairer: it takes away what the head says of this text and keeps the offset that the rest
of the model is used to. Nothing else of the model is touched, and without heads nothing at all. A
module that runs several times in a pass (a shared layer) is without its head every time.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from headgauge.errors import InputError
from headgauge.models.facts import LoadedModel, wrap
from headgauge.models.head_names import Heads, check_there, named_heads
from headgauge.models.hooks import Hooks, uncompiled
from headgauge.models.projections import (
    OutputProjection,
    Projections,
    first_input,
    output_projections,
)
from headgauge.models.structure import attention_modules, without_cache

Means = Mapping[tuple[int, int], Any]  # a vector for each (layer, head)


@contextmanager
def ablated(
    model: nn.Module | LoadedModel, heads: str | Iterable[Any], means: Means | None = None
) -> Iterator[None]:
    """The model without these heads, for as long as the block lasts and in this thread alone.

    `means` has what is put in their place, by (layer, head); without it that is zero.
    """
    loaded = model if isinstance(model, LoadedModel) else wrap(model)
    several = heads.split(",") if isinstance(heads, str) else list(heads)
    if not several:
        yield
        return
    asked = named_heads("ablated", several)
    projections = output_projections(loaded)
    check_ablatable(loaded, projections, asked)
    with silenced(projections, asked, means), uncompiled():
        yield


def check_ablatable(loaded: LoadedModel, projections: Projections, heads: Heads) -> None:
    """Refuse heads that the model does not have, or whose output cannot be replaced."""
    check_there(loaded, heads)
    names = list(attention_modules(loaded.model))
    for layer, head in heads:
        found = projections.get(names[layer])
        if found is None:
            why = projections.missing[names[layer]]
            raise InputError(f"L{layer}H{head} ({names[layer]}) cannot be ablated: {why}")
        if head >= found.heads:
            raise InputError(f"{names[layer]} has heads 0 to {found.heads - 1}, not {head}")


@contextmanager
def silenced(projections: Projections, heads: Heads, means: Means | None) -> Iterator[None]:
    """The model whose projections these are, without heads that it has."""
    by_layer: dict[int, list[int]] = {}
    for layer, head in heads:
        by_layer.setdefault(layer, []).append(head)
    with Hooks() as hooks:
        for layer, several in by_layer.items():
            found = projections.at(layer)
            assert found is not None
            places = [(found.columns(head), _instead(found, head, means)) for head in several]
            hooks.before(found.module, partial(_replace, places))
        yield


def _instead(found: OutputProjection, head: int, means: Means | None) -> Tensor | float:
    if means is None:
        return 0.0
    if (found.layer, head) not in means:
        raise InputError(
            f"the means have none for L{found.layer}H{head}: measure them with the same layers, "
            "or leave them out for zeros"
        )
    mean = torch.as_tensor(means[found.layer, head])
    if mean.shape != (found.value_dim,):
        raise InputError(
            f"the mean of L{found.layer}H{head} must have {found.value_dim} numbers, got the "
            f"shape {tuple(mean.shape)}"
        )
    return mean


def _replace(
    places: Sequence[tuple[slice, Tensor | float]],
    module: nn.Module,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    changed = first_input(args, kwargs).clone()
    for columns, instead in places:
        changed[..., columns] = instead.to(changed) if isinstance(instead, Tensor) else instead
    if args:
        return (changed, *args[1:]), kwargs
    return args, kwargs | {next(iter(kwargs)): changed}


def head_means(
    loaded: LoadedModel,
    projections: Projections,
    windows: Iterable[Mapping[str, Tensor]],
) -> dict[tuple[int, int], Float[Tensor, "value_dim"]]:
    """What each head puts out on average over all positions of these inputs of the model."""
    sums: dict[str, Tensor] = {}
    counts: dict[str, int] = {}

    def add(name: str, module: nn.Module, args: Any, kwargs: dict[str, Any]) -> None:
        rows = first_input(args, kwargs).flatten(0, -2)
        # On the CPU, because not every device has float64.
        sums[name] = sums.get(name, torch.zeros(())) + rows.cpu().double().sum(0)
        counts[name] = counts.get(name, 0) + len(rows)

    body: Any = getattr(loaded.model, "base_model", loaded.model)  # nobody needs its logits
    with torch.no_grad(), Hooks() as hooks:
        for name, each in projections.items():
            hooks.before(each.module, partial(add, name))
        for inputs in windows:
            body(**inputs, **without_cache(body))
    return {
        (each.layer, head): (sums[name] / counts[name])[each.columns(head)]
        for name, each in projections.items()
        if name in sums
        for head in range(each.heads)
    }
