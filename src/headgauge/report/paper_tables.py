"""A reproduction as tables: what it stands on, the paper's claims text by text, what depends on
the choice of vectors and keys, the times."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from headgauge.registry.published import CHOICE, CRITICAL_SHARE, PLATEAU, SETTLED, printed
from headgauge.report.table import Column, Table, markdown
from headgauge.runs import paper_schema as verdict_words

STYLES = {
    verdict_words.REPRODUCED: "green",
    verdict_words.PRINTED_ONLY: "yellow",
    verdict_words.DEPENDS: "magenta",
    verdict_words.NOT_REPRODUCED: "red",
    verdict_words.UNDECIDED: "cyan",
    verdict_words.FEW_ROWS: "yellow",
    verdict_words.ONE_TEXT: "dim",
    verdict_words.UNTESTABLE: "dim",
}
_INDENT = 4

Row = dict[str, Any]


def paper_markdown(
    paper: dict[str, pl.DataFrame],
    timing: Sequence[Row],
    spent: Sequence[Mapping[str, Any]],
    stands: Sequence[str],
    chosen_on: str | None = None,
    warnings: Sequence[str] = (),
) -> str:
    """Warnings, what it stands on, the verdict on each claim, what depends on the choice, times."""
    tables = [claims_table(paper["verdicts"], paper["readings"])]
    tables += choice_tables(paper["choices"], chosen_on)
    tables += [timing_table(timing)] if timing else []
    tables += [spent_table(spent)] if spent else []
    parts = [f"**Warning: {markdown(line)}**\n" for line in warnings]
    parts += [f"- {markdown(line)}" for line in stands]
    return "\n".join([*parts, "", *(table.markdown() for table in tables)])


def claims_view(
    verdicts: pl.DataFrame, readings: pl.DataFrame, stands: Sequence[str]
) -> RenderableType:
    """What everything stands on; then each claim with its verdict and on how many texts it held,
    and below it what was measured on each text; last, how many got which word.

    One under the other, so that a narrow terminal loses nothing.
    """
    parts: list[RenderableType] = [Text(line, style="bold") for line in stands]
    parts += [Text(), Text("The paper's claims", style="italic"), Text()]
    for claim in verdicts.iter_rows(named=True):
        verdict = claim["verdict"], STYLES.get(claim["verdict"], "")
        held = f", {held_words(claim)}" if held_words(claim) else ""
        heading = f"{claim['where']}  ", (claim["claim"], "bold"), ": ", verdict, held
        lines = [Text.assemble(("paper: ", "dim"), claim["paper"])]
        for reading in readings.filter(claim=claim["claim"]).iter_rows(named=True):
            lines.append(Text.assemble((f"{reading['text']}: ", "dim"), _reading(reading, claim)))
        parts += [Text.assemble(*heading), *(Padding(line, (0, 0, 0, _INDENT)) for line in lines)]
    counts = dict(verdicts.group_by("verdict").len().rows())
    counted = ", ".join(f"{counts[word]} {word}" for word in STYLES if word in counts)
    return Group(*parts, Text(), Text(counted, style="dim italic"), Text())


def claims_table(verdicts: pl.DataFrame, readings: pl.DataFrame | None = None) -> Table:
    """The verdict on each claim; with `readings` also every text's numbers."""
    claims = verdicts.to_dicts()
    columns = [Column(name, verdicts[name].to_list(), "left") for name in ("where", "claim")]
    if readings is not None:
        columns.append(Column("paper", verdicts["paper"].to_list(), "left"))
        known = {(row["text"], row["claim"]): row for row in readings.iter_rows(named=True)}
        for text in readings["text"].unique(maintain_order=True):
            cells = [_reading(known.get((text, claim["claim"])), claim) for claim in claims]
            columns.append(Column(f"on {text}", cells, "left"))
    columns.append(Column("held", [held_words(claim) for claim in claims], "left"))
    bold = [Text(verdict, "bold") for verdict in verdicts["verdict"]]
    return Table("", [*columns, Column("verdict", bold, "left")])


def held_words(claim: Row) -> str:
    """On how many of the texts that decided it a claim was seen; "" where none did or one text is
    all there is: then the verdict says why."""
    decided = claim["texts"]
    if not decided or claim["verdict"] == verdict_words.ONE_TEXT:
        return ""
    return f"held on {claim['held']} of {decided} text{'s' * (decided != 1)}"


def corrected_words(reading: Row) -> str:
    """What the corrected formula gives on a text, where that is something else."""
    corrected = reading["corrected"]
    return "" if corrected in ("", "same", reading["printed"]) else f"corrected: {corrected}"


def _reading(reading: Row | None, claim: Row) -> Text:
    """What was measured on a text, and its word where that is not the one for all texts."""
    if reading is None:
        return Text()
    corrected, verdict = corrected_words(reading), reading["verdict"]
    text = Text(reading["printed"] + f"; {corrected}" * bool(corrected))
    if verdict != claim["verdict"]:
        text.append(f" ({verdict})", style=STYLES.get(verdict, ""))
    return text


def chosen_words(choices: pl.DataFrame, chosen_on: str | None) -> str:
    """How the choice that the verdicts are about was made: from equally many rows of every choice;
    measured in full it may be the closest of its text no more."""
    if chosen_on is None:
        return "as asked for"
    kept = choices.filter("closest", "measured", text=chosen_on)
    lost = "" if kept.height else "; measured in full, another is closer there"
    return f"the closest on {chosen_on} by equally many rows of every choice{lost}"


def choice_tables(choices: pl.DataFrame, chosen_on: str | None) -> list[Table]:
    """For each text a line for each choice of vectors and keys."""
    note = (
        f"The paper: critical N ≈ {printed(CRITICAL_SHARE)} L, N_s/N {printed(*PLATEAU)} from N = "
        f"{SETTLED} on. * the closest on this text. ● what the verdicts are about: "
        f"{chosen_words(choices, chosen_on)}."
    )
    tables = []
    for rows in choices.partition_by("text", maintain_order=True):
        names = [
            f"{', '.join(choice)}{' *' * closest}{' ●' * judged}"
            for *choice, closest, judged in rows.select(*CHOICE, "closest", "measured").rows()
        ]
        ends = (_cells(rows[name], ".2f") for name in ("plateau_low", "plateau_high"))
        columns = [
            Column("vectors, length, keys", names, "left", key=True),
            Column("critical N", _cells(rows["critical_n"], "d", "none")),
            Column("/ L", _cells(rows["critical_share"], ".3f")),
            Column("eq. 24", _cells(rows["critical_n_corrected"], "d", "none")),
            Column("N_s/N", [f"{low}–{high}" * bool(low) for low, high in zip(*ends, strict=True)]),
            Column("rows", _cells(rows["rows"], ".0f")),
        ]
        title = f"What depends on the choice of vectors and keys: {rows['text'][0]}"
        tables.append(Table(title, columns, note, rows["measured"].to_list()))
    return tables


def timing_table(timing: Sequence[Row]) -> Table:
    """A line for each algorithm beside the paper's Table 1."""
    ours = [_duration(row["ours_seconds"]) + " *" * bool(row["shared"]) for row in timing]
    columns = [
        Column("algorithm", [f"{r['algorithm']}  {r['what']}" for r in timing], "left", key=True),
        Column("paper", [_duration(row["paper_seconds"]) for row in timing]),
        Column("ours", ours),
        Column("literal loop", [_duration(row["literal_seconds"]) for row in timing]),
        Column("ratio", _cells((row["ratio"] for row in timing), ",.0f")),
    ]
    note = "* one pass for 2, 3 and 4. The literal loop is extrapolated from a sample."
    return Table("Times", columns, note)


def spent_table(spent: Sequence[Mapping[str, Any]]) -> Table:
    """Where the time went, part by part and text by text."""
    parts = list(dict.fromkeys(row["part"] for row in spent))
    texts = list(dict.fromkeys(row["text"] for row in spent))
    known = {(row["part"], row["text"]): row["seconds"] for row in spent}
    columns = [Column("part", [*parts, "all of it"], "left", key=True)]
    for text in texts:
        own = [known.get((part, text)) for part in parts]
        cells = ["" if seconds is None else _duration(seconds) for seconds in own]
        heading = "beside" if text is None else text
        columns.append(Column(heading, [*cells, _duration(sum(filter(None, own)))]))
    note = (
        "Without loading and drawing, and without what an interruption lost. What units share is "
        "charged to the part that asked first."
    )
    last = [False] * len(parts) + [True]
    return Table("Where the time went", columns, note, last)


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


def _cells(values: Iterable[float | None], form: str, none: str = "") -> list[str]:
    return [none if value is None else f"{value:{form}}" for value in values]
