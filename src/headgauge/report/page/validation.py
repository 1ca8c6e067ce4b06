"""The page of a validation: its tables, and what they stand on. The picture, with a line for each
of some fifty names, is among the files."""

from headgauge.report.page import parts
from headgauge.report.page.parts import Page, section, text
from headgauge.report.page.scanning import came_about
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
            section("tables", "Tables", "Tables", *map(parts.as_shown, validation_tables(run))),
            came_about(run.manifest),
        ],
    )
