"""`--fail-on`: what must not hold of the last run against the first.

separability<-0.05      the mean difference over heads is below −0.05
loss>0.01               the loss is higher by more than 0.01
inactive>3              more than 3 heads newly have the verdict (or the role)
"""

import difflib
import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import polars as pl

from headgauge.comparison.runs_differences import LOSS
from headgauge.comparison.words import signed
from headgauge.errors import InputError
from headgauge.registry.measures import MEASURES
from headgauge.registry.names import ROLES, VERDICTS

_FORM = re.compile(r"\s*([^<>=]+?)\s*(<=|>=|<|>)\s*([^<>=\s]+)\s*")
_HOLDS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}


@dataclass(frozen=True)
class Condition:
    """A measure, a verdict, a role or the loss, and the side of a number that is a failure."""

    name: str
    sign: str
    limit: float

    @property
    def text(self) -> str:
        return f"{self.name}{self.sign}{self.limit:g}"

    @property
    def counted(self) -> bool:
        """Whether it is on how many heads have it newly."""
        return self.name in VERDICTS or self.name in ROLES


@dataclass(frozen=True)
class Answer:
    """A condition with what was found; `error` is the standard error over windows of a mean."""

    condition: str
    value: float
    limit: float
    holds: bool
    error: float | None
    words: str


def read_conditions(given: str | Sequence[str] | None) -> tuple[Condition, ...]:
    """From what a caller wrote: one, several with commas, or a list of such."""
    several = [given] if isinstance(given, str) else list(given or ())
    found = [_condition(part) for each in several for part in str(each).split(",")]
    return tuple(dict.fromkeys(found))


def _condition(given: str) -> Condition:
    form = _FORM.fullmatch(given)
    if form is None:
        raise InputError(
            f"--fail-on wants a name, < or >, and a number, such as separability<-0.05, got "
            f"{given.strip()!r}"
        )
    name, sign, number = form.groups()
    try:
        limit = float(number)
    except ValueError:
        limit = float("nan")
    if limit != limit:
        raise InputError(f"--fail-on {given.strip()}: {number!r} is no number")
    known = (*MEASURES, LOSS, *VERDICTS, *ROLES)
    if name not in known:
        close = difflib.get_close_matches(name, known, 1)
        hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(known)}"
        raise InputError(f"--fail-on: no measure, verdict or role named {name!r}; {hint}")
    return Condition(name, sign, limit)


def answers(
    conditions: Sequence[Condition], measures: pl.DataFrame, counts: pl.DataFrame
) -> list[Answer]:
    """What became of each, from the tables of one pair of runs."""
    return [
        _of_count(each, counts) if each.counted else _of_measure(each, measures)
        for each in conditions
    ]


def _of_count(condition: Condition, counts: pl.DataFrame) -> Answer:
    there = counts.filter(name=condition.name)["gained"].to_list()
    gained = there[0] if there else 0
    holds = _HOLDS[condition.sign](gained, condition.limit)
    words = f"{gained} head{'s' * (gained != 1)} newly {condition.name}"
    return Answer(condition.text, float(gained), condition.limit, holds, None, words)


def _of_measure(condition: Condition, measures: pl.DataFrame) -> Answer:
    rows = measures.filter(measure=condition.name).drop_nulls("difference").to_dicts()
    if not rows:
        raise InputError(
            f"--fail-on {condition.text}: not both runs have a number for {condition.name}"
        )
    row = rows[0]
    value, error = row["difference"], row["error"]
    holds = _HOLDS[condition.sign](value, condition.limit)
    what = "the loss differs by" if condition.name == LOSS else "mean difference"
    over = "" if condition.name == LOSS else f" over {row['heads']} heads"
    words = f"{what} {signed(value, error)}{over}"
    return Answer(condition.text, value, condition.limit, holds, error, words)
