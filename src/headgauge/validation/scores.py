"""Every measure, verdict and role beside the effects of the heads, part by part."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from jaxtyping import Bool, Float
from scipy import stats

from headgauge.runs.schema import HEAD
from headgauge.runs.validation_schema import DEEPER, FIRST, PARTS
from headgauge.theory.statistics import (
    Line,
    Statistic,
    above_others,
    best_line,
    rank_correlation,
    share_of_draws_below,
)
from headgauge.validation import limits
from headgauge.validation.parts import Part, Score

Row = dict[str, Any]
JUDGING = PARTS[1:]


@dataclass(frozen=True, eq=False)
class _Look:
    """A score on a part, in the layers from 1 on or in layer 0."""

    name: str
    where: str
    score: Score
    part: Part
    line: Line | None

    @cached_property
    def numbers(self) -> Float[np.ndarray, "heads"]:
        """A verdict that a part does not know holds nowhere in it."""
        return self.part.scores.get(self.score, np.zeros(len(self.part.effect)))

    @cached_property
    def known(self) -> Bool[np.ndarray, "heads"]:
        return self.part.there(self.where) & np.isfinite(self.numbers)

    @cached_property
    def statistics(self) -> dict[str, Statistic | None]:
        """None of them where the score is the same for all heads of a layer, in every layer."""
        score, effect, groups = (
            each[self.known] for each in (self.numbers, self.part.effect, self.part.groups)
        )
        found: dict[str, Statistic | None] = dict.fromkeys(("correlation", "auc", "smaller"))
        found["correlation"] = rank_correlation(score, effect, groups)
        if found["correlation"] is not None:
            found["auc"] = above_others(score, self.part.label[self.known], groups)
            if self.score[0] != "measure":
                found["smaller"] = above_others(-effect, score > 0, groups)
        return found

    def row(self, level: float, seed: int) -> Row:
        part, known, told = self.part, self.known, {}
        pooled = rank_correlation(
            self.numbers[known], part.effect[known], np.zeros(known.sum(), dtype=np.int64)
        )
        for name, each in self.statistics.items():
            told[name] = None if each is None else each.value
            told |= _ends(name, each, limits.LEVEL)
            if name != "correlation":
                told |= _ends(f"{name}_adjusted", each, level)
        place = {"part": self.name, "where": self.where, "kind": self.score[0]}
        place |= {"name": self.score[1], "heads": int(known.sum())}
        told["pooled"] = None if pooled is None else pooled.value
        return place | told | self._by_line() | self._named(seed)

    def _by_line(self) -> Row:
        line, part = self.line, self.part
        if line is None:
            return dict.fromkeys(("line", "direction", "line_accuracy"))
        numbers = part.scores[part.lines.get(self.score, self.score)]
        known = part.there(self.where) & np.isfinite(numbers)
        held = line.holds(numbers[known]).astype(float)
        found = above_others(held, part.label[known], part.groups[known])
        accuracy = None if found is None else found.value
        direction = "above" if line.above else "below"
        return {"line": line.value, "direction": direction, "line_accuracy": accuracy}

    def _named(self, seed: int) -> Row:
        """The heads that have a verdict or role, beside the others of their layers."""
        said = ("effect_named", "effect_others", "none_named", "none_others", "control")
        found: Row = dict.fromkeys(("named", *said))
        if self.score[0] == "measure":
            return found
        effect, groups = self.part.effect[self.known], self.part.groups[self.known]
        named = self.numbers[self.known] > 0
        others = ~named & np.isin(groups, groups[named])
        for which, heads in (("named", effect[named]), ("others", effect[others])):
            if len(heads):
                found[f"effect_{which}"] = float(heads.mean())
                found[f"none_{which}"] = float((heads <= 0).mean())
        found["named"] = int(named.sum())
        found["control"] = share_of_draws_below(effect, named, groups, limits.DRAWS, seed)
        return found


def score_rows(parts: Mapping[str, Part], seed: int) -> list[Row]:
    """Every score of any part, on each part, in the layers from 1 on and in layer 0."""
    scores = dict.fromkeys(score for part in parts.values() for score in part.scores)
    looks = [
        _Look(name, where, score, part, _line(parts[PARTS[0]], where, score))
        for where in (DEEPER, FIRST)
        for score in scores
        for name, part in parts.items()
    ]
    looks = [look for look in looks if look.known.any()]
    tests = [each for look in looks if look.name in JUDGING for each in look.statistics.values()]
    count = sum(each is not None and each.interval(limits.LEVEL) is not None for each in tests)
    return [look.row(adjusted_level(count), seed) for look in looks]


def adjusted_level(comparisons: int) -> float:
    """Of each interval, so that all hold at once with 95 %, after Bonferroni."""
    return 1 - (1 - limits.LEVEL) / max(comparisons, 1)


def comparisons(scores: pl.DataFrame) -> int:
    """How many intervals a reader of the judging parts can look at."""
    ends = pl.col("correlation_low", "auc_low", "smaller_low").count()
    judged = scores.filter(pl.col("part").is_in(JUDGING))
    return judged.select(ends).sum_horizontal().item()


def _line(part: Part, where: str, score: Score) -> Line | None:
    """The line of a measure, or of a verdict's one measure, that the choosing part asks for."""
    numbers = part.scores.get(part.lines.get(score, score))
    if numbers is None or (score[0] != "measure" and score not in part.lines):
        return None
    known = part.there(where) & np.isfinite(numbers)
    return best_line(numbers[known], part.label[known], part.groups[known])


def _ends(name: str, statistic: Statistic | None, level: float) -> dict[str, float | None]:
    low, high = (statistic and statistic.interval(level)) or (None, None)
    return {f"{name}_low": low, f"{name}_high": high}


def reliability_rows(parts: Mapping[str, Part]) -> list[Row]:
    """How far the effects can be trusted: nothing can agree with them better than they do."""
    return [
        _reliability(name, where, part, parts[PARTS[0]])
        for where in (DEEPER, FIRST)
        for name, part in parts.items()
        if part.there(where).any()
    ]


def _reliability(name: str, where: str, part: Part, first: Part) -> Row:
    here, again = part.there(where), None
    if part is not first:
        both = (
            part.heads.with_columns(a=part.effect, group=part.groups)
            .filter(here)
            .join(first.heads.with_columns(b=first.effect), HEAD)
        )
        again = rank_correlation(*(both[each].to_numpy() for each in ("a", "b", "group")))
    effect, sure = part.effect[here], None
    if part.windows > 1:
        sure = float((np.abs(effect) > limits.SURE * part.error[here]).mean())
    return {
        "part": name,
        "where": where,
        "heads": len(effect),
        "windows": part.windows,
        "effect": float(effect.mean()),
        "none": float((effect <= 0).mean()),
        "sure": sure,
        "sure_by_chance": None if sure is None else _by_chance(part.windows),
        "correlation": None if again is None else again.value,
        **_ends("correlation", again, limits.LEVEL),
    }


def _by_chance(windows: int) -> float:
    return float(2 * stats.t.sf(limits.SURE, windows - 1))
