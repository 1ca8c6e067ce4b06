"""What a page is told: the tables of a run and what was made of them, nothing computed here."""

from dataclasses import dataclass
from typing import Any

import polars as pl


@dataclass(frozen=True, eq=False)
class PageContent:
    """Everything that report.html shows."""

    title: str
    caption: str  # model, quantisation, text, L, windows
    warnings: tuple[str, ...]  # on top, where nobody can miss them
    notes: tuple[str, ...]
    manifest: dict[str, Any]
    head_table: pl.DataFrame  # one row per head, the worst first, with verdicts and main numbers
    verdicts: pl.DataFrame  # one row per head and verdict, with number, threshold, source, remedy
    counts: pl.DataFrame  # heads per verdict
    heads: pl.DataFrame  # HeadRow; the longest length is shown
    curves: pl.DataFrame  # CurveRow, perhaps with a column `rule`
    samples: pl.DataFrame  # SampleRow
    claims: tuple[dict[str, Any], ...]  # id, where, statement, verdict, because, corrected
    paper: dict[str, pl.DataFrame] | None  # by the names of PAPER_TABLES; None for a plain scan
    # Of a reproduction: algorithm, what, paper_seconds, ours_seconds, literal_seconds,
    # literal_share, ratio, note; any may be None.
    timing: tuple[dict[str, Any], ...] = ()
