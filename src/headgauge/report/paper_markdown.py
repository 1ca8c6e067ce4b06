"""A reproduction's tables as Markdown, for a README, an issue or a paper's repository."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from headgauge.report.paper_views import duration


def paper_markdown(
    paper: dict[str, pl.DataFrame], timing: Sequence[dict[str, Any]], caption: str
) -> str:
    """The verdict on each claim, what hangs on the choice, the times."""
    return "\n".join(
        [caption + ".", "", _verdicts(paper["verdicts"]), _choices(paper["choices"])]
        + ([_timing(timing)] if timing else [])
    )


def _verdicts(verdicts: pl.DataFrame) -> str:
    rows = [
        (row["where"], row["claim"], row["paper"], row["printed"], row["corrected"],
         f"**{row['verdict']}**")
        for row in verdicts.iter_rows(named=True)
    ]  # fmt: skip
    return _table(
        ("where", "claim", "paper", "ours, printed formula", "ours, corrected", "verdict"), rows
    )


def _choices(choices: pl.DataFrame) -> str:
    rows = [
        (
            f"{row['vectors']}, {row['scale']}, {row['keys']}",
            _whole(row["critical_n"]),
            "" if row["critical_share"] is None else f"{row['critical_share']:.3f}",
            _whole(row["critical_n_corrected"]),
            "" if row["plateau_low"] is None
            else f"{row['plateau_low']:.2f} to {row['plateau_high']:.2f}",
        )
        for row in choices.iter_rows(named=True)
    ]  # fmt: skip
    return _table(
        ("vectors, length, keys", "critical N", "/ L", "critical N, eq. 24", "N_s/N, N ≥ 16"), rows
    )


def _timing(timing: Sequence[dict[str, Any]]) -> str:
    rows = [
        (
            f"{row['algorithm']}, {row['what']}",
            duration(row["paper_seconds"]),
            duration(row["ours_seconds"]) + (" (shared)" if row["shared"] else ""),
            duration(row["literal_seconds"]),
            "" if row["ratio"] is None else f"{row['ratio']:,.0f}",
        )
        for row in timing
    ]
    return _table(("algorithm", "paper", "ours", "literal loop, extrapolated", "ratio"), rows)


def _whole(value: int | None) -> str:
    return "none" if value is None else str(value)


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(headings) + " |", "|" + "---|" * len(headings)]
    lines += ["| " + " | ".join(_cell(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    """Text from a run is data: nothing in it may end a cell or become markup."""
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")
