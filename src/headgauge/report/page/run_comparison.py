"""The page of a comparison of runs: what differs, where, and how surely."""

from typing import Any

from headgauge.comparison import RunComparison
from headgauge.registry.measures import MEASURES
from headgauge.registry.names import head_name
from headgauge.report.comparison_runs import compared_runs, run_figures
from headgauge.report.comparison_tables import marks_table, sides_table, told_changes
from headgauge.report.page import parts
from headgauge.report.page.comparison import compared_part
from headgauge.report.page.parts import Column, Page, Part, as_shown, section, text
from headgauge.report.page.scanning import came_about

_MAP = (
    "Any measure of every head, the difference between any two runs. Beside the map one head in "
    "all of them; a difference has its standard error where the two were held against each other."
)
_MEASURES = (
    "The mean over heads and how far single heads are from each other. Chance alone moves some "
    "heads by more than two of their standard errors, the more the fewer windows there are; what "
    "weights alone decide has no chance in it."
)


def run_comparison_page(run: RunComparison) -> Page:
    warnings, figures = run.warnings(), run_figures(run)
    shown = [each for each in run.measures()["measure"] if each in MEASURES]
    most = shown[0] if shown else None
    pair = f"{run.sides()[-1]} against {run.sides()[0]}"
    changed = [_changes(run)] if told_changes(run) else [text("No verdict and no role changed.")]
    drawn = [figures[name]() for name in ("series",) if name in figures]
    return Page(
        title="headgauge: runs compared",
        caption=run.caption(),
        warnings=warnings,
        stands=run.stands(),
        overview=[
            *parts.opening("comparison", run.finding()),
            as_shown(sides_table(run)),
            parts.notes(line for line in run.notes() if line not in warnings),
        ],
        sections=[
            section("map", "Heads", "Heads", text(_MAP), compared_part(compared_runs(run), most)),
            section("series", "Series", "Series", parts.figures(drawn)) if drawn else None,
            section(
                "marks", "Verdicts", "Verdicts and roles", as_shown(marks_table(run)), *changed
            ),
            section("moved", "Moved", f"Heads that moved farthest, {pair}", _moved(run)),
            section(
                "measures",
                "Measures",
                f"Measures, {pair}",
                text(_MEASURES),
                _measures(run),
                parts.figures([figures["heads"]()]),
            ),
            came_about(run.manifest),
        ],
    )


def _measures(run: RunComparison) -> Part | None:
    rows = run.measures().to_dicts()
    for row in rows:
        known = MEASURES.get(row["measure"])
        row["title"] = known.title if known else row["measure"].capitalize()
        row["apart"] = [row["difference"], row["error"]]
        row["of"] = row["heads"] or None
    columns = (
        Column("Measure", "title", sorts=True),
        Column(run.sides()[0], "before", "fixed", 3, "Mean over heads"),
        Column(run.sides()[-1], "after", "fixed", 3, "Mean over heads"),
        Column("Difference", "apart", "signed", None, "± its standard error over windows", True),
        Column("Median of heads", "median", "fixed", 4, "Of their differences without sign", True),
        Column("Past 2 errors", "beyond", "number", None, "Heads", True),
        Column("By chance", "by_chance", "fixed", 1, "As many would if none differed", True),
        Column("Heads", "of", "number"),
    )
    return parts.table(columns, rows, "Measures", look="dense", id="all-measures")


def _changes(run: RunComparison) -> Part | None:
    """Of a series step by step."""
    rows = told_changes(run)
    for row in rows:
        row["head"] = _head(row)
        row["name"] = row["measure"] and MEASURES[row["measure"]].title
        row["lost"], row["gained"] = ([row[end]] if row[end] else [] for end in ("before", "after"))
        row["sure"] = {True: "yes", False: "no"}.get(row["beyond"], "–")
    columns = [Column("Head", "head", sorts=True)]
    if len(run.sides()) > 2:
        columns += [Column("From", "against", sorts=True), Column("To", "side", sorts=True)]
    columns += [
        Column("", "kind"),
        Column("Before", "lost", "marks"),
        Column("After", "gained", "marks"),
        Column("By", "name"),
        Column("Was", "number_before", "fixed", 3),
        Column("Is", "number_after", "fixed", 3),
        Column("Line", "line", "fixed", 3),
        Column("Past 2 errors", "sure", hint="Whether the two numbers are surely different"),
    ]
    said = "A number that differs by less than two errors may cross its line by chance."
    more: dict[str, Any] = {"title": "What changed", "look": "dense", "text": said, "tall": True}
    return parts.table(columns, rows, "What changed", id="changes", **more)


def _moved(run: RunComparison) -> Part | None:
    rows = run.heads().to_dicts()
    for row in rows:
        row["head"] = _head(row)
        row["name"] = row["measure"] and MEASURES[row["measure"]].title
        row["apart"] = [row["difference"], row["error"]]
        row["marks"] = [*row["verdicts"].split(", "), *filter(None, [row["role"]])]
    columns = (
        Column("Head", "head", sorts=True),
        Column("Moved", "distance", "fixed", 2, "In standard deviations over the heads", True),
        Column("Most in", "name", sorts=True),
        Column("By", "apart", "signed", None, "± its standard error over windows", True),
        Column("Measures past 2 errors", "beyond", "number", None, None, True),
        Column(f"Verdicts and role in {run.sides()[-1]}", "marks", "marks"),
    )
    return parts.table(columns, rows, "Heads", look="dense", id="moved-heads", tall=True)


def _head(row: dict[str, Any]) -> str:
    return head_name(row["layer"], row["occurrence"], row["head"])
