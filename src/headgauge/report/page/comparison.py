"""Sides held against each other, for the page: a map of any measure's difference between any two of
them, what one head is on each, and which heads differ most.

Heads are numbered in the order of the map's rows; every list below goes by that number.
"""

from typing import Any

import polars as pl

from headgauge.registry import names
from headgauge.report.comparison import Compared, head_template
from headgauge.report.head_grid import Head, head_grid
from headgauge.report.page.heads import by_head, head_words
from headgauge.report.page.parts import Part
from headgauge.report.page.values import column, plain


def compared_part(compared: Compared, first: str | None = None) -> Part:
    """Everything the page needs to draw a map between two sides; `first` is the measure that it
    shows first."""
    grid = head_grid(compared.values)
    number_of = {head: number for number, head in enumerate(grid.places)}
    measures = compared.measures()
    return {
        "kind": "compared",
        "what": compared.what,
        "sides": list(compared.sides),
        "rows": list(grid.rows),
        "columns": list(grid.columns),
        "blocks": [list(block) for block in grid.blocks],
        "place": [list(place) for place in grid.places.values()],
        "names": [head_words(*head) for head in number_of],
        "links": [names.head_name(*head[:2], head[3]) for head in number_of],
        "measures": {
            name: [
                _side(compared.values, name, side, "value", number_of) for side in compared.sides
            ]
            for name in measures
        },
        "own_errors": _own_errors(compared, measures, number_of),
        "errors": _errors(compared, measures, number_of),
        "marks": {
            kind: [_marked(compared, kind, side, number_of) for side in compared.sides]
            for kind in ("verdict", "role")
        },
        "first": first if first in measures else next(iter(measures), None),
        "figure": plain(head_template(compared)) if len(compared.sides) > 2 else None,
    }


def _side(
    frame: pl.DataFrame, measure: str, side: str, of: str, number_of: dict[Head, int]
) -> list[Any]:
    return column(by_head(frame.filter(measure=measure, side=side), number_of)[of])


def _own_errors(
    compared: Compared, measures: list[str], number_of: dict[Head, int]
) -> dict[str, list[list[Any]]]:
    """By measure and side the standard error of the number itself, for the lines of a series."""
    if len(compared.sides) < 3 or "error" not in compared.values.columns:
        return {}
    return {
        name: [_side(compared.values, name, side, "error", number_of) for side in compared.sides]
        for name in measures
    }


def _errors(
    compared: Compared, measures: list[str], number_of: dict[Head, int]
) -> dict[str, dict[str, list[Any]]]:
    """By pair of sides, as "1 0" for the second against the first, and by measure."""
    place = {side: number for number, side in enumerate(compared.sides)}
    found = {}
    for (side, against), own in compared.differences.group_by(
        "side", "against", maintain_order=True
    ):
        found[f"{place[str(side)]} {place[str(against)]}"] = {
            name: _side(own, name, str(side), "error", number_of) for name in measures
        }
    return found


def _marked(
    compared: Compared, kind: str, side: str, number_of: dict[Head, int]
) -> list[list[str]]:
    known = compared.marked(kind, side)
    return [known.get(head, []) for head in number_of]
