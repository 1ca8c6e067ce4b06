"""A rule as it stands in a model: its numbers in every head, and how it gets there.

placed = placed_rules(("ssmax:s=fit/head",), fits)         # with the table of what was fitted
with put(loaded, placed[0], settings):
    loaded.model(**inputs)
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from headgauge import models
from headgauge.measure.settings import UnitSettings
from headgauge.normalizers import AskedRule, Normalizer, asked_rules

Place = tuple[int | None, int | None]  # layer and head; None stands for all of them
Values = Mapping[tuple[str, int | None, int | None], Any]  # numbers by parameter and place


@dataclass(frozen=True)
class PlacedRule:
    """`text` is how it was asked for, `rules` has the rule of each place: a head, all heads of a
    layer, or all there are."""

    text: str
    rules: Mapping[Place, Normalizer] = field(repr=False)

    def at(self, layer: int, head: int) -> Normalizer:
        places: tuple[Place, ...] = ((layer, head), (layer, None), (None, None))
        return next(self.rules[place] for place in places if place in self.rules)

    @property
    def one(self) -> Normalizer | None:
        """The same in all heads; None where they differ."""
        return self.rules.get((None, None)) if len(self.rules) == 1 else None


def placed_rules(asked: Sequence[str], fits: pl.DataFrame | None) -> tuple[PlacedRule, ...]:
    """Rules as they were asked for, with the values that the table `fits` has for them."""
    found = []
    for text in asked:
        (rule,) = asked_rules(text)
        values: dict[tuple[str, int | None, int | None], Any] = {}
        if rule.fitted:
            assert fits is not None
            own = fits.filter(pl.col("rule") == rule.text)
            rows = own.select("parameter", "layer", "head", "value").rows()
            values = {(name, layer, head): value for name, layer, head, value in rows}
        found.append(with_values(rule, values))
    return tuple(found)


def with_values(rule: AskedRule, values: Values) -> PlacedRule:
    """A rule with numbers, or tensors, for its fitted parameters."""
    places: set[Place] = {(None, None), *((layer, head) for _, layer, head in values)}
    made: dict[Place, Normalizer] = {}
    for layer, head in sorted(places, key=str):
        # What is fitted for the model holds in every layer, and what is for a layer in its heads.
        around = dict.fromkeys(((None, None), (layer, None), (layer, head)))
        known = {
            name: values[name, *place]
            for place in around
            for name in rule.fitted
            if (name, *place) in values
        }
        if len(known) == len(rule.fitted):
            made[layer, head] = rule.rule(**known)
    return PlacedRule(rule.text, made)


@contextmanager
def put(loaded: models.LoadedModel, rule: PlacedRule, settings: UnitSettings) -> Iterator[None]:
    """The model with the rule in the layers and heads that the settings name."""
    with ExitStack() as stack:
        if rule.one is not None:
            where = {"layers": settings.layers, "heads": settings.heads}
            stack.enter_context(models.swap(loaded, rule.one, **where))
        elif all(head is None for _, head in rule.rules):
            for (layer, _), own in rule.rules.items():
                layers = None if layer is None else [layer]
                swapped = models.swap(loaded, own, layers=layers, heads=settings.heads)
                stack.enter_context(swapped)
        else:
            layers = settings.layers or range(len(models.attention_modules(loaded.model)))
            heads = settings.heads or range(loaded.facts.heads)
            places = {(layer, head): rule.at(layer, head) for layer in layers for head in heads}
            stack.enter_context(models.swap(loaded, places))
        yield
