"""A reproduction as tables: what it stands on, the paper's claims text by text, what depends on
the choice of vectors and keys, the times."""

from collections.abc import Sequence
from typing import Any

import polars as pl
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from headgauge.report.table import Column, Table, markdown
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

Row = dict[str, Any]


def paper_markdown(
    paper: dict[str, pl.DataFrame],
    timing: Sequence[Row],
    stands: Sequence[str],
    chosen_on: str | None = None,
    warnings: Sequence[str] = (),
) -> str:
    """Warnings, what it stands on, the verdict on each claim, what depends on the choice, times."""
    tables = [claims_table(paper["verdicts"], paper["readings"])]
    tables += choice_tables(paper["choices"], chosen_on)
    tables += [timing_table(timing)] if timing else []
    return "\n".join(
        [
            *(f"**Warning: {markdown(line)}**\n" for line in warnings),
            *(f"- {markdown(line)}" for line in stands),
            "",
            *(table.markdown() for table in tables),
        ]
    )


def claims_view(
    verdicts: pl.DataFrame, readings: pl.DataFrame, stands: Sequence[str]
) -> RenderableType:
    """What everything stands on; then each claim with its verdict and on how many texts it held,
    and below it what was measured on each text; last, how many got which word.

    One under the other, so that a narrow terminal loses nothing.
    """
    parts: list[RenderableType] = [Text(line, style="bold") for line in stands]
    parts += [Text(), Text("The paper's claims", style="italic"), Text()]
    for row in verdicts.iter_rows(named=True):
        parts.append(_claim_line(row))
        lines = [Text.assemble(("paper: ", "dim"), row["paper"])]
        for reading in readings.filter(claim=row["claim"]).iter_rows(named=True):
            lines.append(Text.assemble((f"{reading['text']}: ", "dim"), _reading(reading, row)))
        parts += [Padding(line, (0, 0, 0, _INDENT)) for line in lines]
    counts = dict(verdicts.group_by("verdict").len().rows())
    told = ", ".join(f"{counts[word]} {word}" for word in STYLES if word in counts)
    return Group(*parts, Text(), Text(told, style="dim italic"), Text())


def claims_table(verdicts: pl.DataFrame, readings: pl.DataFrame | None = None) -> Table:
    """The verdict on each claim; with `readings` also every text's numbers."""
    rows = verdicts.to_dicts()
    columns = [Column(name, verdicts[name].to_list(), "left") for name in ("where", "claim")]
    if readings is not None:
        columns.append(Column("paper", verdicts["paper"].to_list(), "left"))
        known = {(row["text"], row["claim"]): row for row in readings.iter_rows(named=True)}
        for text in readings["text"].unique(maintain_order=True):
            cells = [_reading(known.get((text, row["claim"])), row) for row in rows]
            columns.append(Column(f"on {text}", cells, "left"))
    columns.append(Column("held", [_held(row) for row in rows], "left"))
    bold = [Text(verdict, "bold") for verdict in verdicts["verdict"]]
    return Table("", [*columns, Column("verdict", bold, "left")])


def _held(row: Row) -> str:
    """On how many of the texts that decided it a claim was seen; "" where none did or one text is
    all there is: then the verdict says why."""
    decided = row["texts"]
    if not decided or row["verdict"] == ONE_TEXT:
        return ""
    return f"held on {row['held']} of {decided} text{'s' * (decided != 1)}"


def _reading(reading: Row | None, claim: Row) -> Text:
    """What was measured on a text, under the printed formula and the corrected one, and its word
    where that is not the one for all texts."""
    if reading is None:
        return Text()
    printed, corrected, verdict = (reading[name] for name in ("printed", "corrected", "verdict"))
    alone = corrected in ("", "same", printed)
    told = Text(printed if alone else f"{printed}; corrected: {corrected}")
    if verdict != claim["verdict"]:
        told.append(f" ({verdict})", style=STYLES.get(verdict, ""))
    return told


def _claim_line(row: Row) -> Text:
    line = Text.assemble(f"{row['where']}  ", (row["claim"], "bold"), ": ")
    line.append(row["verdict"], style=STYLES.get(row["verdict"], ""))
    held = _held(row)
    return line.append(f", {held}" if held else "")


def choice_tables(choices: pl.DataFrame, chosen_on: str | None) -> list[Table]:
    """For each text a line for each choice of vectors and keys."""
    chosen = _chosen_words(choices, chosen_on)
    texts = choices.partition_by("text", maintain_order=True)
    return [_choice_table(of_text, chosen) for of_text in texts]


def _chosen_words(choices: pl.DataFrame, chosen_on: str | None) -> str:
    """How the choice that the verdicts are about was made.

    It was made from equally many rows of every choice; measured in full it may be the closest of
    its text no more.
    """
    if chosen_on is None:
        return "as asked for"
    kept = choices.filter(pl.col("text") == chosen_on).filter("closest", "measured")
    lost = "" if kept.height else "; measured in full, another is closer there"
    return f"the closest on {chosen_on} by equally many rows of every choice{lost}"


def _choice_table(choices: pl.DataFrame, chosen: str) -> Table:
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
    shares = ["" if share is None else f"{share:.3f}" for share in choices["critical_share"]]
    columns = [
        Column("vectors, length, keys", names, "left", key=True),
        Column("critical N", [_whole(n) for n in choices["critical_n"]]),
        Column("/ L", shares),
        Column("eq. 24", [_whole(n) for n in choices["critical_n_corrected"]]),
        Column("N_s/N", spans),
        Column("rows", [f"{count:.0f}" for count in choices["rows"]]),
    ]
    note = (
        "The paper: critical N ≈ .06 L, N_s/N .70 to .85 from N = 16 on. * the closest on this "
        f"text. ● what the verdicts are about: {chosen}."
    )
    title = f"What depends on the choice of vectors and keys: {choices['text'][0]}"
    return Table(title, columns, note, choices["measured"].to_list())


def timing_table(timing: Sequence[Row]) -> Table:
    """A line for each algorithm beside the paper's Table 1."""
    named = [f"{row['algorithm']}  {row['what']}" for row in timing]
    ours = [_duration(row["ours_seconds"]) + " *" * bool(row["shared"]) for row in timing]
    ratios = ["" if row["ratio"] is None else f"{row['ratio']:,.0f}" for row in timing]
    columns = [
        Column("algorithm", named, "left", key=True),
        Column("paper", [_duration(row["paper_seconds"]) for row in timing]),
        Column("ours", ours),
        Column("literal loop", [_duration(row["literal_seconds"]) for row in timing]),
        Column("ratio", ratios),
    ]
    note = "* one pass for 2, 3 and 4. The literal loop is extrapolated from a sample."
    return Table("Times", columns, note)


def _duration(seconds: float | None) -> str:
    """A time in the units a reader thinks in."""
    if seconds is None:
        return "–"
    if seconds < 120:
        return f"{seconds:.1f} s"
    minutes = seconds / 60
    if minutes < 120:
        return f"{minutes:.0f} min"
    return f"{minutes / 60:.1f} h" if minutes < 48 * 60 else f"{minutes / 1440:.1f} d"


def _whole(value: int | None) -> str:
    return "none" if value is None else str(value)
