"""A reproduction's tables as Markdown, for a README, an issue or a paper's repository."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from headgauge.report.paper_views import chosen_words, duration, held_words, reading_words


def paper_markdown(
    paper: dict[str, pl.DataFrame],
    timing: Sequence[dict[str, Any]],
    stands: Sequence[str],
    chosen_on: str | None = None,
    warnings: Sequence[str] = (),
) -> str:
    """Warnings, what it stands on, the verdict on each claim, what depends on the choice, times."""
    choices = paper["choices"].partition_by("text", maintain_order=True)
    return "\n".join(
        [*(f"**Warning: {_cell(line)}**\n" for line in warnings)]
        + [*(f"- {_cell(line)}" for line in stands), ""]
        + [_verdicts(paper["verdicts"], paper["readings"])]
        + [_choices(part, chosen_words(paper["choices"], chosen_on)) for part in choices]
        + ([_timing(timing)] if timing else [])
    )


def _verdicts(verdicts: pl.DataFrame, readings: pl.DataFrame) -> str:
    texts = readings["text"].unique(maintain_order=True).to_list()
    seen = {(row["text"], row["claim"]): row for row in readings.iter_rows(named=True)}
    rows = [
        (row["where"], row["claim"], row["paper"],
         *(_reading(seen.get((text, row["claim"])), row["verdict"]) for text in texts),
         held_words(row), f"**{row['verdict']}**")
        for row in verdicts.iter_rows(named=True)
    ]  # fmt: skip
    on = [f"on {text}" for text in texts]
    return _table(("where", "claim", "paper", *on, "held", "verdict"), rows)


def _reading(row: dict[str, Any] | None, joint: str) -> str:
    """What was measured on a text, and its word where that is not the one for all."""
    if row is None:
        return ""
    return reading_words(row) + f" ({row['verdict']})" * (row["verdict"] != joint)


def _choices(choices: pl.DataFrame, chosen: str) -> str:
    rows = [
        (
            f"{row['vectors']}, {row['scale']}, {row['keys']}",
            "judged" * row["measured"] + ", " * (row["measured"] and row["closest"])
            + "closest here" * row["closest"],
            _whole(row["critical_n"]),
            "" if row["critical_share"] is None else f"{row['critical_share']:.3f}",
            _whole(row["critical_n_corrected"]),
            "" if row["plateau_low"] is None
            else f"{row['plateau_low']:.2f} to {row['plateau_high']:.2f}",
        )
        for row in choices.iter_rows(named=True)
    ]  # fmt: skip
    about = f"Choices on {_cell(choices['text'][0])}; judged: {_cell(chosen)}.\n\n"
    return about + _table(
        ("vectors, length, keys", "", "critical N", "/ L", "critical N, eq. 24", "N_s/N, N ≥ 16"),
        rows,
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
    lines = ["| " + " | ".join(map(_cell, headings)) + " |", "|" + "---|" * len(headings)]
    lines += ["| " + " | ".join(_cell(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    """Text from a run is data: nothing in it may end a cell or become markup."""
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")
