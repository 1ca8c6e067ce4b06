"""What is tried on which heads: a verdict's remedies, the heads that have it, and random ones."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

import numpy as np

from headgauge import models
from headgauge.models.ablation import Means, silenced
from headgauge.models.head_names import Heads
from headgauge.normalizers.asked import asked_rules
from headgauge.registry.names import head_name
from headgauge.scanning import ScanResult
from headgauge.scanning.thresholds import MEAN, VERDICTS, Threshold

NAMED, CONTROL = 0, 1  # draws whose heads are measured under a remedy


@dataclass(frozen=True)
class Group:
    """A verdict with the heads that have it: `sets` has these, then the draws of random ones of
    the same layers. `measure` names most of the heads; `tries` are lists of candidates."""

    verdict: str
    thresholds: tuple[Threshold, ...]
    measure: str
    sets: tuple[Heads, ...]
    tries: tuple[tuple[str, ...], ...]

    @property
    def heads(self) -> Heads:
        return self.sets[NAMED]

    @property
    def layers(self) -> tuple[int, ...]:
        return layers_of(self.heads)


def groups(scan: ScanResult, wanted: Sequence[str], draws: int, seed: int) -> list[Group]:
    """The verdicts that some head has and of whose remedy something can be tried."""
    judged = scan.verdicts()
    every = tuple(sorted(set(judged.select("layer", "head").rows())))
    found = []
    for place, verdict in enumerate(VERDICTS):
        own = judged.filter(verdict=verdict)
        thresholds = tuple(each for each in scan.thresholds if each.verdict == verdict)
        tries = tuple(dict.fromkeys(each for one in thresholds for each in one.tries))
        if own.is_empty() or verdict not in wanted or not tries:
            continue
        named = tuple(sorted(set(own.select("layer", "head").rows())))
        counts = own.group_by("measure", maintain_order=True).len()
        measure = counts.sort("len", descending=True, maintain_order=True)["measure"][0]
        source = np.random.default_rng((seed, place))
        drawn = [others(every, named, source) for _ in range(draws)]
        sets = (named, *(each for each in drawn if each))
        found.append(Group(verdict, thresholds, measure, sets, tries))
    return found


def that_can_be(
    loaded: models.LoadedModel, asked: Sequence[Group]
) -> tuple[list[Group], list[str]]:
    """The groups without what cannot be done to their heads, and a line for each that is left out:
    an output that cannot be followed to a projection cannot be replaced."""
    if not any((MEAN,) in group.tries for group in asked):
        return list(asked), []
    missing = models.output_projections(loaded).missing
    names = list(models.attention_modules(loaded.model))
    found, said = [], []
    for group in asked:
        fixed = [names[layer] for layer in group.layers if names[layer] in missing]
        if fixed and (MEAN,) in group.tries:
            said.append(f"{group.verdict}: heads of {fixed[0]} stay in: {missing[fixed[0]]}")
            group = replace(group, tries=tuple(each for each in group.tries if each != (MEAN,)))
        found += [group] * bool(group.tries)
    return found, said


def others(every: Heads, named: Heads, source: np.random.Generator) -> Heads:
    """As many heads of each layer as are named there, but others, as far as it has others."""
    drawn = []
    for layer in layers_of(named):
        mine = [head for place, head in named if place == layer]
        rest = [head for place, head in every if place == layer and head not in mine]
        picked = source.permutation(len(rest))[: len(mine)]
        drawn += [(layer, rest[at]) for at in picked]
    return tuple(sorted(drawn))


@dataclass(frozen=True, eq=False)
class Changes:
    """What can be done to heads: `means` stand in the place of those that are taken out."""

    loaded: models.LoadedModel
    projections: models.Projections
    means: Means | None

    def __call__(self, heads: Heads, rule: str) -> AbstractContextManager[object]:
        """The model with a rule in these heads, or without them."""
        if rule == MEAN:
            return silenced(self.projections, heads, self.means)
        (asked,) = asked_rules(rule)
        return models.swap(self.loaded, dict.fromkeys(heads, asked.rule()))


def remedy_name(candidates: Sequence[str]) -> str:
    """Of a list of candidates: the rule they have in common."""
    return candidates[0].partition(":")[0]


def layers_of(heads: Heads) -> tuple[int, ...]:
    return tuple(sorted({layer for layer, _ in heads}))


def written(heads: Heads) -> str:
    """As people write them."""
    return ", ".join(head_name(layer, 0, head) for layer, head in heads)
