"""The weight on parts of the text: a map of each and who looks at it most; and head by head."""

from dataclasses import replace
from typing import Any

import polars as pl

from headgauge.registry.names import head_name
from headgauge.report.head_grid import Head
from headgauge.report.head_maps import by_span, spans_figure
from headgauge.report.page import parts
from headgauge.report.page.parts import Column, Part, section, text
from headgauge.report.page.values import plain
from headgauge.runs.schema import HEAD
from headgauge.scanning import ScanResult

_MOST = 6  # heads that are named
_WORDS = (
    "How much of a row's weight goes to each part of the text, over the rows that see any of it. "
    "Beside it what it would be if weights were uniform over the visible keys: a part that is long "
    "or stands early has more of it by that alone."
)


def spans_section(scan: ScanResult) -> Part | None:
    """None where no span was asked for, or no window has one."""
    drawn = None if scan.spans is None else spans_figure(scan.heads, scan.spans, "")
    if scan.spans is None or drawn is None:
        return None
    rows = []
    for name, own in by_span(scan.spans):
        most = own.drop_nulls("mass").sort("mass", descending=True, maintain_order=True).head(_MOST)
        places = most.select("layer", "occurrence", "head", "mass").iter_rows()
        rows.append(
            {
                "span": name,
                "tokens": own["tokens"].max(),
                "mass": own["mass"].mean(),
                "uniform": own["uniform"].mean(),
                "most": [[head_name(*head), mass] for *head, mass in places],
            }
        )
    columns = (
        Column("Span", "span"),
        Column("Tokens", "tokens", "number", None, "In a window; the most, if they differ"),
        Column("Mean over heads", "mass", "fixed", 3),
        Column("If uniform", "uniform", "fixed", 3),
        Column("Heads with most", "most", "heads"),
    )
    shown = parts.table(columns, rows, "Spans", look="cards")
    maps = parts.figures([replace(drawn, columns=min(2, drawn.columns))])  # a page is not so wide
    return section("spans", "Spans", "Spans", text(_WORDS), shown, maps)


def spans_part(spans: pl.DataFrame | None, number_of: dict[Head, int]) -> list[dict[str, Any]]:
    """Of each span its numbers by head."""
    found = []
    for name, own in [] if spans is None else by_span(spans):
        part: dict[str, Any] = {"name": name}
        for measure in ("mass", "uniform"):
            known = {tuple(head): value for *head, value in own.select(*HEAD, measure).iter_rows()}
            part[measure] = [plain(known.get(head)) for head in number_of]
        found.append(part)
    return found
