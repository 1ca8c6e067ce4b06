"""A reproduction in a terminal: what it stands on, the paper's claims text by text, what depends on
the choice, the times."""

from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from headgauge.report.stacked import Column, Stacked
from headgauge.runs.paper_schema import (
    DEPENDS,
    FEW_ROWS,
    NOT_REPRODUCED,
    ONE_TEXT,
    PRINTED_ONLY,
    REPRODUCED,
    UNDECIDED,
    UNTESTABLE,
)

STYLES = {
    REPRODUCED: "green",
    PRINTED_ONLY: "yellow",
    DEPENDS: "magenta",
    NOT_REPRODUCED: "red",
    UNDECIDED: "cyan",
    FEW_ROWS: "yellow",
    ONE_TEXT: "dim",
    UNTESTABLE: "dim",
}
_INDENT = 4


def verdict_view(
    verdicts: pl.DataFrame, readings: pl.DataFrame, stands: Sequence[str]
) -> RenderableType:
    """What everything stands on; then each claim with its verdict and on how many texts it held,
    and below it what was measured on each text; last, how many got which word.

    One under the other, so that a narrow terminal loses nothing.
    """
    parts: list[RenderableType] = [Text(line, style="bold") for line in stands]
    parts += [Text(), Text("The paper's claims", style="italic"), Text()]
    for row in verdicts.iter_rows(named=True):
        mine = readings.filter(claim=row["claim"])
        parts.append(_claim_line(row))
        parts += [Padding(line, (0, 0, 0, _INDENT)) for line in _measured(row, mine)]
    counts = dict(verdicts.group_by("verdict").len().rows())
    told = ", ".join(f"{counts[word]} {word}" for word in STYLES if word in counts)
    return Group(*parts, Text(), Text(told, style="dim italic"), Text())


def held_words(row: dict[str, Any]) -> str:
    """On how many of the texts that decided it a claim was seen; "" where none did or one text is
    all there is: then the verdict says why."""
    decided = row["texts"]
    if not decided or row["verdict"] == ONE_TEXT:
        return ""
    return f"held on {row['held']} of {decided} text{'s' * (decided != 1)}"


def reading_words(row: dict[str, Any]) -> str:
    """What was measured on a text, under the printed formula and the corrected one."""
    printed, corrected = row["printed"], row["corrected"]
    alone = corrected in ("", "same", printed)
    return printed if alone else f"{printed}; corrected: {corrected}"


def _claim_line(row: dict[str, Any]) -> Text:
    line = Text.assemble(f"{row['where']}  ", (row["claim"], "bold"), ": ")
    line.append(row["verdict"], style=STYLES.get(row["verdict"], ""))
    held = held_words(row)
    return line.append(f", {held}" if held else "")


def _measured(row: dict[str, Any], readings: pl.DataFrame) -> Iterator[Text]:
    yield Text.assemble(("paper: ", "dim"), row["paper"])
    for reading in readings.iter_rows(named=True):
        line = Text.assemble((f"{reading['text']}: ", "dim"), reading_words(reading))
        if reading["verdict"] != row["verdict"]:
            line.append(f" ({reading['verdict']})", style=STYLES.get(reading["verdict"], ""))
        yield line


def choice_view(choices: pl.DataFrame, chosen_on: str | None) -> RenderableType:
    """For each text a line for each choice of vectors and keys."""
    texts = choices["text"].unique(maintain_order=True)
    chosen = chosen_words(choices, chosen_on)
    return Group(*(_choice_table(choices.filter(text=text), text, chosen) for text in texts))


def chosen_words(choices: pl.DataFrame, chosen_on: str | None) -> str:
    """How the choice that the verdicts are about was made.

    It was made from equally many rows of every choice; measured in full it may be the closest of
    its text no more.
    """
    if chosen_on is None:
        return "as asked for"
    kept = choices.filter(pl.col("text") == chosen_on).filter("closest", "measured")
    lost = "" if kept.height else "; measured in full, another is closer there"
    return f"the closest on {chosen_on} by equally many rows of every choice{lost}"


def _choice_table(choices: pl.DataFrame, text: str, chosen: str) -> Stacked:
    rows = choices.to_dicts()
    names = [
        f"{row['vectors']}, {row['scale']}, {row['keys']}"
        f"{' *' * row['closest']}{' ●' * row['measured']}"
        for row in rows
    ]
    spans = [
        "" if row["plateau_low"] is None else f"{row['plateau_low']:.2f}–{row['plateau_high']:.2f}"
        for row in rows
    ]
    shares = [
        "" if row["critical_share"] is None else f"{row['critical_share']:.3f}" for row in rows
    ]
    columns = [
        Column("vectors, length, keys", names, "left", key=True),
        Column("critical N", [_number(row["critical_n"]) for row in rows]),
        Column("/ L", shares),
        Column("eq. 24", [_number(row["critical_n_corrected"]) for row in rows]),
        Column("N_s/N", spans),
        Column("rows", [f"{row['rows']:.0f}" for row in rows]),
    ]
    note = (
        "The paper: critical N ≈ .06 L, N_s/N .70 to .85 from N = 16 on. * the closest on this "
        f"text. ● what the verdicts are about: {chosen}."
    )
    title = f"What depends on the choice of vectors and keys: {text}"
    return Stacked(title, columns, note, bold=[row["measured"] for row in rows])


def timing_view(timing: Sequence[dict[str, Any]]) -> Stacked:
    """A line for each algorithm beside the paper's Table 1."""
    named = [f"{row['algorithm']}  {row['what']}" for row in timing]
    ours = [duration(row["ours_seconds"]) + " *" * bool(row["shared"]) for row in timing]
    ratios = ["" if row["ratio"] is None else f"{row['ratio']:,.0f}" for row in timing]
    columns = [
        Column("algorithm", named, "left", key=True),
        Column("paper", [duration(row["paper_seconds"]) for row in timing]),
        Column("ours", ours),
        Column("literal loop", [duration(row["literal_seconds"]) for row in timing]),
        Column("ratio", ratios),
    ]
    note = "* one pass for 2, 3 and 4. The literal loop is extrapolated from a sample."
    return Stacked("Times", columns, note)


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
