"""A comparison of runs as what its figures are drawn from."""

from collections.abc import Callable
from functools import partial
from itertools import pairwise

import polars as pl

from headgauge.comparison import RunComparison
from headgauge.report.comparison import Compared, beyond_figure, comparison_figures
from headgauge.report.figure import Figure
from headgauge.runs.schema import HEAD

# Files; the page has the rest.
USUAL = ("differences", "heads", "beyond", "series")


def compared_runs(result: RunComparison) -> Compared:
    """Its runs are the sides."""
    return Compared(
        "run",
        tuple(result.sides()),
        result.tables["values"],
        result.tables["differences"],
        _marks(result),
        result.caption(),
    )


def run_figures(result: RunComparison) -> dict[str, Callable[[], Figure]]:
    """By name what describes each figure, the overview first."""
    moves = result.tables["measures"].filter(against=result.sides()[0])
    made = comparison_figures(compared_runs(result), moves.drop_nulls("difference"))
    beyond = partial(beyond_figure, result.measures(), result.caption())
    first = {"differences": made["differences"], "beyond": beyond}
    return first | {name: make for name, make in made.items() if name not in first}


def _marks(result: RunComparison) -> pl.DataFrame:
    """One row per head, run and verdict or role."""
    names = result.sides()
    found = []
    for before, after in pairwise(names):
        heads = result.heads(after, before)
        sides = [(after, "verdicts", "role")]
        sides += [(before, "verdicts_before", "role_before")] * (before == names[0])
        for side, verdicts, role in sides:
            told = heads.select(*HEAD, side=pl.lit(side), name=pl.col(verdicts).str.split(", "))
            found.append(told.explode("name").with_columns(kind=pl.lit("verdict")))
            told = heads.select(*HEAD, side=pl.lit(side), name=role).drop_nulls("name")
            found.append(told.with_columns(kind=pl.lit("role")))
    return pl.concat(found).sort(HEAD, maintain_order=True)
