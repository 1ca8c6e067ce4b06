"""What a page is told: the tables of a run and what was made of them, nothing computed here."""

from dataclasses import dataclass
from typing import Any

import polars as pl


@dataclass(frozen=True, eq=False)
class PageContent:
    """Everything that report.html shows; what is None or empty has no place on it."""

    title: str
    caption: str  # model, quantisation, text, L, windows
    warnings: tuple[str, ...]  # on top, where nobody can miss them
    notes: tuple[str, ...]
    manifest: dict[str, Any]
    stands: tuple[str, ...] = ()  # what the numbers stand on: said before the first of them
    # Of a scan; a simulation has no heads.
    head_table: pl.DataFrame | None = None  # a row per head, the worst first, with its numbers
    verdicts: pl.DataFrame | None = None  # per head and verdict: number, threshold, source, remedy
    counts: pl.DataFrame | None = None  # heads per verdict
    heads: pl.DataFrame | None = None  # HeadRow; the longest length is shown
    curves: pl.DataFrame | None = None  # CurveRow, perhaps with a column `rule`
    samples: pl.DataFrame | None = None  # SampleRow
    claims: tuple[dict[str, Any], ...] = ()  # as `Claim.as_dict` has them
    paper: dict[str, pl.DataFrame] | None = None  # by the names of PAPER_TABLES
    chosen_on: str | None = None  # of a reproduction: the text that vectors and keys were chosen on
    # Of a reproduction: algorithm, what, paper_seconds, ours_seconds, literal_seconds,
    # literal_share, ratio, note; any may be None.
    timing: tuple[dict[str, Any], ...] = ()
    dynamics: dict[str, pl.DataFrame] | None = None  # by the names of DYNAMICS_TABLES
    depth: pl.DataFrame | None = None  # DepthRow; the longest length is shown
    depth_curves: pl.DataFrame | None = None  # DepthCurveRow
    outlook: pl.DataFrame | None = None  # heads per verdict now and at a longer context
    target: int | None = None  # that length
    outlook_notes: tuple[str, ...] = ()  # what its intervals stand on
