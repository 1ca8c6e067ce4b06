"""The heads for the page: where each stands on the map, its role, numbers, curves and samples.

Heads are numbered in the order of the map's rows; every list below goes by that number. Over
windows a number is the mean (of the largest logit: the largest), as in the figures.
"""

from typing import Any

import polars as pl
import polars.selectors as cs

from headgauge.registry import measures, names
from headgauge.report.curves import head_template
from headgauge.report.head_grid import Head, head_grid
from headgauge.report.head_maps import at_longest, by_choice, some_ns
from headgauge.report.page.matrix import matrices_part
from headgauge.report.page.parts import Column, Part, filter_by, table
from headgauge.report.page.spans import spans_part
from headgauge.report.page.values import column, columns, plain
from headgauge.runs.columns import error_of
from headgauge.runs.schema import HEAD
from headgauge.scanning import ScanResult
from headgauge.scanning.summary import curves_over_windows, heads_over_windows
from headgauge.scanning.verdicts import derived

LISTED = (
    *("sink_weight", "separability", "jacobian_norm"),
    *("output_ratio", "entropy_share", "max_logit"),
)
_SHARED = ("verdict", "measure", "what", "threshold", "direction", "source", "remedy")
_OF_ROLE = ("role", "measure", "threshold", "direction", "source", "windows")
MOST_NS = 12  # of a choice
MOST_POINTS = 26_000  # N × choices × heads: more would make the page slow to open

Numbers = dict[Head, int]


def heads_part(scan: ScanResult) -> Part:
    """Everything about single heads, at the longest length."""
    frames = scan.heads, scan.curves, scan.samples, scan.verdicts(), scan.roles()
    length, (heads, curves, samples, verdicts, roles) = at_longest(*frames)
    heads = heads.with_columns(**derived(heads))
    grid = head_grid(heads)
    number_of = {head: number for number, head in enumerate(grid.places)}
    listed = scan.frame()
    numbers = _numbers(listed, number_of)
    known = by_head(heads_over_windows(heads), number_of)
    similar = dict(zip(numbers, scan.similar(), strict=True))
    held = {
        name: column(known[name])
        for name in measures.HEAD_MEASURES
        if name in known.columns and known[name].is_not_null().any()
    }
    drawn = _curves(curves, number_of)
    return {
        "kind": "heads",
        "length": length,
        "rows": list(grid.rows),
        "columns": list(grid.columns),
        "blocks": [list(block) for block in grid.blocks],
        "place": [list(place) for place in grid.places.values()],
        "names": [head_words(*head) for head in number_of],
        "links": [names.head_name(*head[:2], head[3]) for head in number_of],
        "chips": chips(scan),
        "role_chips": _present(scan.role_counts(), "role"),
        "module": [head[2] for head in number_of],
        "kv": column(known["kv_head"]),
        "measures": held,
        "effect_error": column(by_head(listed, number_of)["effect_error"]),
        "errors": _errors(known, held),
        "roles": _roles(roles, {line.verdict: line.remedy for line in scan.role_lines}, number_of),
        "windows": _windows(heads, number_of),
        **_verdicts(verdicts, number_of),
        "similar": [[numbers[row] for row in similar[number]] for number in range(len(number_of))],
        "worst": numbers[0],
        "table": _table(listed, held, number_of),
        "curves": drawn,
        "over_n": list(measures.CURVE_MEASURES) if drawn else [],
        "figure": plain(head_template()) if drawn else None,
        "samples": _samples(samples, number_of),
        "spans": spans_part(scan.spans, number_of),
        **matrices_part(scan.tables, number_of),
    }


def chips(scan: ScanResult) -> list[Any]:
    """Verdict, heads and their share of all, of the verdicts that occur."""
    return _present(scan.counts(), "verdict")


def _present(counts: pl.DataFrame, name: str) -> list[Any]:
    return plain(counts.filter(pl.col("heads") > 0).select(name, "heads", "share").rows())


def _errors(known: pl.DataFrame, held: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """By measure the sampling errors, where only some rows were measured."""
    there = [name for name in held if error_of(name) in known.columns]
    return {name: column(known[error_of(name)]) for name in there}


def _verdicts(verdicts: pl.DataFrame, number_of: Numbers) -> dict[str, Any]:
    """A row for each head and verdict; what rows share (threshold, source, remedy) stands once."""
    kinds = verdicts.select(_SHARED).unique(maintain_order=True).with_row_index("kind")
    own = verdicts.join(kinds, on=_SHARED, how="left", nulls_equal=True, maintain_order="left")
    held = columns(own.drop(*HEAD, *_SHARED, "length", "margin", "spread", "error", strict=False))
    of = {"of": _numbers(verdicts, number_of)}
    return {"kinds": columns(kinds.drop("kind")), "verdicts": of | held}


def _roles(roles: pl.DataFrame, meaning: dict[str, str], number_of: Numbers) -> dict[str, Any]:
    """By head the number that gave it its role; what heads of a role share stands once."""
    own = by_head(roles, number_of)
    kinds = own.select(_OF_ROLE).unique(maintain_order=True).with_row_index("kind")
    own = own.join(kinds, on=_OF_ROLE, how="left", nulls_equal=True, maintain_order="left")
    told = columns(kinds.drop("kind")) | {"meaning": [meaning.get(each) for each in kinds["role"]]}
    own = own.select("kind", "number", "flips", cs.matches("^unsure$"))
    return {"kinds": told} | columns(own)


def head_words(layer: int, occurrence: int, module: str, head: int) -> str:
    call = f" call {occurrence + 1}" * bool(occurrence)
    return f"Layer {layer}{call}, head {head}"


def _numbers(frame: pl.DataFrame, number_of: Numbers) -> list[int]:
    return [number_of[row] for row in frame.select(HEAD).rows()]


def by_head(frame: pl.DataFrame, number_of: Numbers) -> pl.DataFrame:
    """Its one row per head, in the page's order; nulls for a head that the frame does not have."""
    listed = pl.DataFrame(list(number_of), schema=frame.select(HEAD).schema, orient="row")
    return listed.join(frame, on=HEAD, how="left", maintain_order="left")


def _windows(heads: pl.DataFrame, number_of: Numbers) -> dict[str, Any]:
    """The usual measures of each window: by measure, then by window, then by head."""
    numbers = sorted(heads["window"].unique())
    parts = [by_head(heads.filter(window=window), number_of) for window in numbers]
    there = [name for name in measures.GROUPS["Weights and outputs"] if name in heads.columns]
    held = {name: [column(part[name]) for part in parts] for name in there}
    return {"numbers": numbers, "measures": held}


def _table(listed: pl.DataFrame, held: dict[str, list[Any]], number_of: Numbers) -> Part | None:
    """All heads, the worst first; by verdict, sorted by any number."""
    rows = listed.to_dicts()
    for row, number in zip(rows, _numbers(listed, number_of), strict=True):
        row |= {name: values[number] for name, values in held.items()}
        row["head"] = [number, head_words(*(row[name] for name in HEAD))]
        row["verdicts"] = row["verdicts"].split(", ")
        row["role"] = [] if row["role"] is None else [row["role"]]
    columns = [
        Column("Head", "head", "link", sorts=True),
        Column("Verdicts", "verdicts", "marks"),
    ]
    if any(row["role"] for row in rows):
        columns.append(Column("Role", "role", "marks", sorts=True))
    if "effect" in held:
        entry, both = measures.MEASURES["effect"], ("effect", "effect_error")
        hint = f"{entry.title}: {entry.unit}, ± its standard error over windows"
        columns.append(Column("effect", both, "error", entry.digits, hint, True))
    for name in LISTED:
        if rows and name in rows[0]:
            entry = measures.MEASURES[name]
            hint, heading = f"{entry.title}: {entry.unit}", entry.heading.replace("\n", " ")
            if (error := error_of(name)) in rows[0]:
                hint = f"{hint}, ± its sampling error"
                columns.append(Column(heading, (name, error), "error", entry.digits, hint, True))
            else:
                columns.append(Column(heading, name, "fixed", entry.digits, hint, True))
    if rows and "unsure" in rows[0]:
        near = "A number is within two sampling errors of its threshold"
        rows = [row | {"unsure": "yes" if row["unsure"] else ""} for row in rows]
        columns.append(Column("within error", "unsure", "text", None, near, True))
    if any(row["holds_up_to"] for row in rows):
        most = "The largest N measured at which a saturated head is still above its threshold"
        columns.append(Column("most N", "holds_up_to", "number", None, most, True))
    differ = "Share of windows in which a verdict would be another"
    columns.append(Column("windows differ", "flips", "percent", None, differ, True))
    counted = "heads, the worst first until a column is pressed"
    of: list[list[str]] = [[*row["verdicts"], *row["role"]] for row in rows]
    more = {"title": "All heads", "id": "all-heads", "look": "dense", "tall": True}
    more["filter"] = filter_by("mark-filter", of, [*names.VERDICTS, *names.ROLES], counted)
    return table(columns, rows, "All heads", **more)


def _curves(curves: pl.DataFrame, number_of: Numbers) -> list[dict[str, Any]]:
    """By choice of vectors and keys, the usual first: each measure as one list per N, of a number
    per head."""
    if "rule" in curves.columns:
        curves = curves.filter(pl.col("rule") == names.MODEL)
    choices = by_choice(curves_over_windows(curves))
    most = max(4, min(MOST_NS, MOST_POINTS // max(1, len(choices) * len(number_of))))
    found = []
    for choice, own in choices:
        ns = some_ns(own["top_n"].unique().sort().to_list(), most)
        known = [name for name in measures.CURVES if name in own.columns]
        there = [name for name in known if own[name].is_not_null().any()]
        parts = [by_head(own.filter(top_n=n), number_of) for n in ns]
        held = {name: [column(part[name]) for part in parts] for name in there}
        found.append({"words": names.choice_words(choice), "ns": ns, "measures": held})
    return found


def _samples(samples: pl.DataFrame, number_of: Numbers) -> dict[str, Any]:
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
        (number,) = _numbers(part.head(1), number_of)
        facts = [first["window"], first["row"], first["visible"], query]
        heads[number].append([*facts, part["key"].to_list(), tokens, column(part["weight"])])
    return {"tokens": list(place_of), "heads": heads}
