"""The heads for the page: where each stands on the map, its numbers, curves and samples.

Heads are numbered in the order of the map's rows; every list below goes by that number. Over
windows a number is the mean (of the largest logit: the largest), as in the figures.
"""

from typing import Any

import numpy as np
import polars as pl

from headgauge.registry import measures, names, published
from headgauge.report.curves import head_template
from headgauge.report.head_grid import head_grid
from headgauge.report.page.parts import Column, Part, filter_by, table
from headgauge.report.page.values import column, columns, plain
from headgauge.runs.schema import HEAD
from headgauge.scanning import ScanResult
from headgauge.scanning.summary import curves_over_windows, heads_over_windows

LISTED = (
    "sink_weight",
    "separability",
    "jacobian_norm",
    "output_ratio",
    "entropy_share",
    "max_logit",
)
MOST_NS = 12  # of a choice
MOST_POINTS = 26_000  # N × choices × heads: more would make the page slow to open
USUAL_N = 16


def heads_part(scan: ScanResult) -> Part:
    """Everything about single heads, at the longest length."""
    length = scan.heads["length"].max()
    heads, curves, samples, verdicts = (
        frame.filter(pl.col("length") == length)
        for frame in (scan.heads, scan.curves, scan.samples, scan.verdicts())
    )
    grid = head_grid(heads)
    modules = {row: module for module, row in grid.row_of.items()}
    numbers = {place: head for head, place in grid.column_of.items()}
    order = [
        (*modules[int(row)], numbers[int(place)])
        for row, place in np.argwhere(grid.exists).tolist()
    ]
    number_of = {head: number for number, head in enumerate(order)}
    listed = scan.frame().filter([row in number_of for row in scan.frame().select(HEAD).rows()])
    means = heads_over_windows(heads)
    held = _measures(means, listed, order)
    drawn = _curves(curves, order)
    return {
        "kind": "heads",
        "length": length,
        "rows": list(grid.labels),
        "columns": list(grid.column_of),
        "blocks": [list(block) for block in grid.blocks],
        "place": [[grid.row_of[head[:3]], grid.column_of[head[3]]] for head in order],
        "names": [_name(*head) for head in order],
        "module": [head[2] for head in order],
        "kv": column(_by_head(means, order)["kv_head"]),
        "measures": held,
        "windows": _windows(heads, order),
        "verdicts": {"of": _numbers(verdicts, number_of)} | columns(verdicts.drop(*HEAD, "length")),
        "worst": _numbers(listed.head(1), number_of)[0],
        "table": _table(listed, held, number_of),
        "curves": drawn,
        "over_n": list(measures.CURVE_MEASURES) if drawn else [],
        "figure": plain(head_template()) if drawn else None,
        "samples": _samples(samples, number_of),
    }


def _name(layer: int, occurrence: int, module: str, head: int) -> str:
    call = f" call {occurrence + 1}" * bool(occurrence)
    return f"Layer {layer}{call}, head {head}"


def _numbers(frame: pl.DataFrame, number_of: dict[Any, int]) -> list[int]:
    return [number_of[row] for row in frame.select(HEAD).rows()]


def _by_head(frame: pl.DataFrame, order: list[Any]) -> pl.DataFrame:
    """Its one row per head, in the page's order; nulls for a head that the frame does not have."""
    keys = {name: [head[place] for head in order] for place, name in enumerate(HEAD)}
    listed = pl.DataFrame(keys, schema=frame.select(HEAD).schema)
    return listed.join(frame, on=HEAD, how="left", maintain_order="left")


def _measures(means: pl.DataFrame, listed: pl.DataFrame, order: list[Any]) -> dict[str, list[Any]]:
    held = {}
    for name in measures.HEAD_MEASURES:
        # One of the measures is made for the list of heads only.
        frame = next((each for each in (means, listed) if name in each.columns), None)
        if frame is not None and frame[name].is_not_null().any():
            held[name] = column(_by_head(frame, order)[name])
    return held


def _windows(heads: pl.DataFrame, order: list[Any]) -> dict[str, Any]:
    """The measures of each window: by measure, then by window, then by head."""
    numbers = sorted(heads["window"].unique())
    parts = [_by_head(heads.filter(window=window), order) for window in numbers]
    there = [name for name in measures.HEAD_MEASURES if name in heads.columns]
    held = {name: [column(part[name]) for part in parts] for name in there}
    return {"numbers": numbers, "measures": held}


def _table(
    listed: pl.DataFrame, held: dict[str, list[Any]], number_of: dict[Any, int]
) -> Part | None:
    """All heads, the worst first; by verdict, sorted by any number."""
    rows = listed.to_dicts()
    for row, number in zip(rows, _numbers(listed, number_of), strict=True):
        row |= {name: values[number] for name, values in held.items()}
        row["head"] = [number, _name(*(row[name] for name in HEAD))]
        row["verdicts"] = row["verdicts"].split(", ")
    columns = [
        Column("Head", "head", "link", sorts=True),
        Column("Verdicts", "verdicts", "verdicts"),
    ]
    for name in LISTED:
        if rows and name in rows[0]:
            measure = measures.MEASURES[name]
            hint = f"{measure.title}: {measure.unit}"
            heading = measure.heading.replace("\n", " ")
            columns.append(Column(heading, name, "fixed", measure.digits, hint, True))
    differ = "Share of windows in which a verdict would be another"
    columns.append(Column("windows differ", "flips", "percent", None, differ, True))
    counted = "heads, the worst first until a column is pressed"
    of = [row["verdicts"] for row in rows]
    return table(
        columns,
        rows,
        "All heads",
        title="All heads",
        id="all-heads",
        look="dense",
        tall=True,
        filter=filter_by("verdict-filter", of, names.VERDICTS, counted),
    )


def _curves(curves: pl.DataFrame, order: list[Any]) -> list[dict[str, Any]]:
    """By choice of vectors and keys, the usual first: each measure as one list per N, of a number
    per head."""
    if "rule" in curves.columns:
        curves = curves.filter(pl.col("rule") == names.MODEL)
    curves = curves_over_windows(curves)
    choices = curves.select(published.CHOICE).unique(maintain_order=True).rows()
    choices.sort(key=lambda choice: choice != names.USUAL)
    most = max(4, min(MOST_NS, MOST_POINTS // max(1, len(choices) * len(order))))
    found = []
    for choice in choices:
        chosen = curves.filter(**dict(zip(published.CHOICE, choice, strict=True)))
        ns = some_ns(chosen["top_n"].unique().sort().to_list(), most)
        known = [name for name in measures.CURVES if name in chosen.columns]
        there = [name for name in known if chosen[name].is_not_null().any()]
        parts = [_by_head(chosen.filter(top_n=n), order) for n in ns]
        held = {name: [column(part[name]) for part in parts] for name in there}
        found.append({"words": names.choice_words(choice), "ns": ns, "measures": held})
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
