"""The page of a validation: its tables, and what they stand on. The picture, with a line for each
of some fifty names, is among the files."""

from typing import Any

from rich.text import Text

from headgauge.report.page import parts
from headgauge.report.page.parts import Column, Page, Part, section, text
from headgauge.report.page.scanning import came_about
from headgauge.report.table import Table
from headgauge.report.validation_tables import validation_tables
from headgauge.validation import Validation
from headgauge.validation.limits import WORDS


def validation_page(run: Validation) -> Page:
    warnings = run.warnings()
    words = "; ".join(f"“{word}”: {said}" for word, said in WORDS.items())
    return Page(
        title="headgauge: do verdicts tell what a head is worth?",
        caption=run.caption(),
        warnings=warnings,
        stands=run.stands()[1:],
        overview=[
            *parts.opening("validation", run.finding()),
            text(f"What was decided: {words}."),
            parts.notes(line for line in run.notes() if line not in warnings),
        ],
        sections=[
            section("tables", "Tables", "Tables", *map(table_part, validation_tables(run))),
            came_about(run.manifest),
        ],
    )


def table_part(shown: Table) -> Part | None:
    """As the terminal has it."""
    columns = [
        Column(each.heading.replace("\n", ", ").strip(", "), str(place))
        for place, each in enumerate(shown.columns)
    ]
    cells = zip(*(each.cells for each in shown.columns), strict=True)
    rows = [{str(place): _bare(cell) for place, cell in enumerate(line)} for line in cells]
    return parts.table(columns, rows, shown.title, title=shown.title, look="dense one-line")


def _bare(cell: Any) -> Any:
    """Without a terminal's colours."""
    return cell.plain if isinstance(cell, Text) else cell
