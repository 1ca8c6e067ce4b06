"""A reproduction in a terminal: the paper's claims, what hangs on the choice, the times."""

from collections.abc import Sequence
from typing import Any

import polars as pl
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from headgauge.results.paper_schema import (
    NOT_REPRODUCED,
    PRINTED_ONLY,
    REPRODUCED,
    UNTESTABLE,
)

_WIDE = 140  # columns, from which on the numbers have room
STYLES = {
    REPRODUCED: "green",
    PRINTED_ONLY: "yellow",
    NOT_REPRODUCED: "red",
    UNTESTABLE: "dim",
}


def verdict_view(verdicts: pl.DataFrame, width: int | None = None) -> Table:
    """A line for each claim, in the paper's order, and how many got which word.

    A narrow terminal loses the numbers, which the page has; `width` is the terminal's unless given.
    """
    wide = (Console().width if width is None else width) >= _WIDE
    table = _table("The paper's claims")
    numbers = ("paper", "printed", "corrected") if wide else ("paper",)
    headings = {"printed": "ours, printed formula", "corrected": "ours, corrected"}
    for heading in ("where", "claim", *numbers, "verdict"):
        table.add_column(headings.get(heading, heading), overflow="fold")
    for row in verdicts.iter_rows(named=True):
        word = Text(row["verdict"], style=STYLES.get(row["verdict"], ""))
        table.add_row(*(Text(row[name]) for name in ("where", "claim", *numbers)), word)
    counts = dict(verdicts.group_by("verdict").len().rows())
    table.caption = ", ".join(f"{counts[word]} {word}" for word in STYLES if word in counts)
    return table


def choice_view(choices: pl.DataFrame) -> Table:
    """A line for each choice of vectors and keys."""
    table = _table("What hangs on the choice of vectors and keys")
    table.add_column("vectors, length, keys", no_wrap=True)
    for heading in ("critical N", "/ L", "eq. 24", "N_s/N, N ≥ 16", "rows"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in choices.iter_rows(named=True):
        low, high = row["plateau_low"], row["plateau_high"]
        share = row["critical_share"]
        table.add_row(
            f"{row['vectors']}, {row['scale']}, {row['keys']}",
            _number(row["critical_n"]),
            "" if share is None else f"{share:.3f}",
            _number(row["critical_n_corrected"]),
            "" if low is None else f"{low:.2f}–{high:.2f}",
            f"{row['rows']:.0f}",
            style="bold" if row["closest"] else None,
        )
    table.caption = "The paper: critical N ≈ .06 L, N_s/N .70 to .85. Bold: measured in full."
    return table


def timing_view(timing: Sequence[dict[str, Any]]) -> Table:
    """A line for each algorithm beside the paper's Table 1."""
    table = _table("Times")
    table.add_column("algorithm")
    for heading in ("paper", "ours", "literal loop", "ratio"):
        table.add_column(heading, justify="right")
    for row in timing:
        shared = " *" if row["shared"] else ""
        ratio = row["ratio"]
        table.add_row(
            f"{row['algorithm']}  {row['what']}",
            duration(row["paper_seconds"]),
            duration(row["ours_seconds"]) + shared,
            duration(row["literal_seconds"]),
            "" if ratio is None else f"{ratio:,.0f}",
        )
    table.caption = "* one pass for 2, 3 and 4. The literal loop is extrapolated from a sample."
    return table


def duration(seconds: float | None) -> str:
    """A time in the units a reader thinks in."""
    if seconds is None:
        return "–"
    if seconds < 120:
        return f"{seconds:.1f} s"
    minutes = seconds / 60
    if minutes < 120:
        return f"{minutes:.0f} min"
    return f"{minutes / 60:.1f} h" if minutes < 48 * 60 else f"{minutes / 1440:.1f} d"


def _number(value: int | None) -> str:
    return "none" if value is None else str(value)


def _table(title: str) -> Table:
    return Table(title=title, box=box.SIMPLE_HEAD, title_justify="left", caption_justify="left")
