"""The heads for the page: where each stands on the map, its numbers, curves and samples.

Heads are numbered in the order of the map's rows; every list below goes by that number. Over
windows a number is the mean (of the largest logit: the largest), as in the figures.
"""

from typing import Any

import numpy as np
import polars as pl

from headgauge.report.head_grid import head_grid
from headgauge.report.page.columns import column, columns, short
from headgauge.report.words import HEAD_MEASURES, MARKS, MEASURES, Measure
from headgauge.runs.schema import HEAD

CHOICE = ("vectors", "scale", "keys")
CURVES = (
    "distance",
    "expected_printed",
    "expected_appendix",
    "expected_upper",
    "bound_printed",
    "bound_lower",
    "bound_upper",
    "radius",
    "separability",
    "separability_printed_lower",
    "separability_printed_upper",
    "separability_lower",
)
MOST_NS = 12  # of a choice
MOST_POINTS = 26_000  # N × choices × heads: more would make the page slow to open
USUAL_N = 16


def head_data(
    heads: pl.DataFrame,
    curves: pl.DataFrame,
    samples: pl.DataFrame,
    verdicts: pl.DataFrame,
    head_table: pl.DataFrame,
) -> dict[str, Any]:
    """Everything about single heads, at the longest length."""
    length = heads["length"].max()
    heads, curves, samples, verdicts = (
        frame.filter(pl.col("length") == length) for frame in (heads, curves, samples, verdicts)
    )
    grid = head_grid(heads)
    modules = {row: module for module, row in grid.row_of.items()}
    numbers = {place: head for head, place in grid.column_of.items()}
    order = [
        (*modules[int(row)], numbers[int(place)])
        for row, place in np.argwhere(grid.exists).tolist()
    ]
    number_of = {head: number for number, head in enumerate(order)}
    return {
        "length": length,
        "rows": list(grid.labels),
        "columns": list(grid.column_of),
        "blocks": [list(block) for block in grid.blocks],
        "place": [[grid.row_of[head[:3]], grid.column_of[head[3]]] for head in order],
        "layer": [head[0] for head in order],
        "occurrence": [head[1] for head in order],
        "module": [head[2] for head in order],
        "head": [head[3] for head in order],
        "kv": column(_by_head(heads, order, [pl.col("kv_head").first()])["kv_head"]),
        "measures": _measures(heads, head_table, order),
        "windows": _windows(heads, order),
        "verdicts": _verdicts(verdicts, number_of),
        "table": _table(head_table, number_of),
        "curves": _curves(curves, order),
        "samples": _samples(samples, number_of),
    }


def words() -> dict[str, Any]:
    """Titles, units and colours, as everywhere else."""
    return {
        "measures": {name: _measure(measure) for name, measure in MEASURES.items()},
        "marks": {
            name: {"letter": mark.letter, "colour": mark.colour, "ink": mark.ink}
            for name, mark in MARKS.items()
        },
    }


def _measure(measure: Measure) -> dict[str, Any]:
    return {
        "title": measure.title,
        "unit": measure.unit,
        "heading": measure.heading.replace("\n", " "),
        "digits": measure.digits,
        "low": measure.low,
        "high": measure.high,
        "centre": measure.centre,
        "logarithmic": measure.logarithmic,
    }


def _by_head(frame: pl.DataFrame, order: list[Any], wanted: list[pl.Expr]) -> pl.DataFrame:
    """One row per head, in the page's order; nulls for a head that the frame does not have."""
    keys = {name: [head[place] for head in order] for place, name in enumerate(HEAD)}
    listed = pl.DataFrame(keys, schema=frame.select(HEAD).schema)
    found = frame.group_by(HEAD).agg(wanted)
    return listed.join(found, on=HEAD, how="left", maintain_order="left")


def _measures(heads: pl.DataFrame, table: pl.DataFrame, order: list[Any]) -> dict[str, list[Any]]:
    held = {}
    for name, measure in HEAD_MEASURES.items():
        # One of the measures is made for the table of heads only.
        frame = next((each for each in (heads, table) if name in each.columns), None)
        if frame is not None and frame[name].is_not_null().any():
            held[name] = column(_by_head(frame, order, [measure.over(name)])[name])
    return held


def _windows(heads: pl.DataFrame, order: list[Any]) -> dict[str, Any]:
    """The measures of each window: by measure, then by window, then by head."""
    numbers = sorted(heads["window"].unique())
    names = [name for name in HEAD_MEASURES if name in heads.columns]
    parts = [
        _by_head(heads.filter(pl.col("window") == window), order, [pl.col(*names).first()])
        for window in numbers
    ]
    measures = {name: [column(part[name]) for part in parts] for name in names}
    return {"numbers": numbers, "measures": measures}


def _verdicts(verdicts: pl.DataFrame, number_of: dict[Any, int]) -> dict[str, list[Any]]:
    listed = columns(verdicts.drop(*HEAD, "length"))
    return {"of": [number_of[row] for row in verdicts.select(HEAD).rows()], **listed}


def _table(head_table: pl.DataFrame, number_of: dict[Any, int]) -> dict[str, list[Any]]:
    """The order of the worst heads, and what only this table has."""
    known = head_table.filter([row in number_of for row in head_table.select(HEAD).rows()])
    names = [name for name in ("verdicts", "severity", "separability", "flips") if name in known]
    listed = columns(known.select(names))
    return {"of": [number_of[row] for row in known.select(HEAD).rows()], **listed}


def _curves(curves: pl.DataFrame, order: list[Any]) -> list[dict[str, Any]]:
    """By choice of vectors and keys: each measure as one list per N, of a number per head."""
    if "rule" in curves.columns:
        curves = curves.filter(pl.col("rule") == "model")
    choices = curves.select(CHOICE).unique(maintain_order=True).rows()
    most = max(4, min(MOST_NS, MOST_POINTS // max(1, len(choices) * len(order))))
    found = []
    for choice in choices:
        named = dict(zip(CHOICE, choice, strict=True))
        chosen = curves.filter(**named)
        ns = some_ns(chosen["top_n"].unique().sort().to_list(), most)
        names = [name for name in CURVES if chosen[name].is_not_null().any()]
        parts = [
            _by_head(chosen.filter(pl.col("top_n") == n), order, [pl.col(*names, "rows").mean()])
            for n in ns
        ]
        measures = {name: [column(part[name]) for part in parts] for name in names}
        rows = [short(part["rows"].max()) for part in parts]
        found.append({**named, "ns": ns, "rows": rows, "measures": measures})
    return found


def some_ns(there: list[int], most: int) -> list[int]:
    """At most so many N in even ratios, the least, the largest and 16 among them."""
    if len(there) <= most:
        return there
    known = np.array(there)
    wanted = np.geomspace(known[0], known[-1], most)
    chosen = [int(known[np.abs(np.log(known / each)).argmin()]) for each in wanted]
    if USUAL_N in there and USUAL_N not in chosen:
        inner = range(1, len(chosen) - 1)
        nearest = min(inner, key=lambda place: abs(np.log(chosen[place] / USUAL_N)))
        chosen[nearest] = USUAL_N
    return sorted(set(chosen))


def _samples(samples: pl.DataFrame, number_of: dict[Any, int]) -> dict[str, Any]:
    """By head its sampled rows: [window, row, visible, query, keys, tokens, weights].

    Tokens are places in one list: a few thousand words serve all heads.
    """
    place_of: dict[str, int] = {}

    def place(text: str | None, identity: int) -> int:
        return place_of.setdefault(f"token {identity}" if text is None else text, len(place_of))

    heads: list[list[Any]] = [[] for _ in number_of]
    by = (*HEAD, "window", "row")
    for part in samples.sort(*by, "rank").partition_by(by, maintain_order=True):
        first = part.row(0, named=True)
        query = place(first["query_text"], first["query_id"])
        tokens = [place(*pair) for pair in part.select("key_text", "key_id").rows()]
        number = number_of[tuple(first[name] for name in HEAD)]
        keys, weights = part["key"].to_list(), column(part["weight"])
        facts = [first["window"], first["row"], first["visible"]]
        heads[number].append([*facts, query, keys, tokens, weights])
    return {"tokens": list(place_of), "heads": heads}
