"""The page of tried remedies: the picture, the tables, and what they stand on."""

from headgauge.remedies import Remedies
from headgauge.remedies.limits import WORDS
from headgauge.report.page import parts
from headgauge.report.page.parts import Page, section, text
from headgauge.report.page.scanning import came_about
from headgauge.report.remedy_figure import remedy_figure
from headgauge.report.remedy_tables import remedy_tables


def remedy_page(run: Remedies) -> Page:
    warnings = run.warnings()
    words = "; ".join(f"“{word}”: {said}" for word, said in WORDS.items())
    drawn = [] if run.trials.is_empty() else [remedy_figure(run, run.caption())]
    tables = [parts.as_shown(each) for each in remedy_tables(run)]
    return Page(
        title="headgauge: what do remedies do?",
        caption=run.caption(),
        warnings=warnings,
        stands=run.stands()[1:],
        overview=[
            *parts.opening("remedy", run.finding()),
            text(f"What was decided: {words}."),
            parts.notes(line for line in run.notes() if line not in warnings),
        ],
        sections=[
            section("losses", "Losses", "Losses", parts.figures(drawn)) if drawn else None,
            section("tables", "Tables", "Tables", *tables) if tables else None,
            came_about(run.manifest),
        ],
    )
