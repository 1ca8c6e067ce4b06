import re
from pathlib import Path

import pytest

from docs import results as page
from headgauge.runs import ABLATION, REPRODUCTION, SCAN, SIMULATION
from headgauge.runs.dynamics_schema import DYNAMICS_TABLES
from headgauge.runs.manifest import Manifest
from headgauge.runs.paper_schema import PAPER_TABLES
from headgauge.runs.remedy_schema import REMEDY_TABLES
from headgauge.runs.schema import TABLES, frame_schema

PAGE = (Path(__file__).parents[2] / "docs" / "results.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def rendered() -> str:
    return page.render(PAGE)


def test_the_page_is_the_types(rendered):
    assert rendered == PAGE, "run `make docs`"
    assert page.render(PAGE.replace("| N |", "| M |")) == PAGE


def test_every_column_and_key_is_on_it():
    for row in (*TABLES.values(), *PAPER_TABLES.values(), *DYNAMICS_TABLES.values()):
        assert [name for name, _, _ in page.fields(row)] == list(frame_schema(row))
    for record in (Manifest, *page.parts(Manifest)):
        assert [name for name, _, _ in page.fields(record)] == list(record.__annotations__)


def test_a_measure_has_words_in_one_place():
    """In the registry or in a comment; the upper end of a band has those of the lower."""
    for row, entries in page.MEASURES.items():
        comments = {name: comment for name, _, comment in page.written(row)}
        assert not [name for name, comment in comments.items() if comment and name in entries]
        wordless = [name for name, _, meaning in page.fields(row) if not meaning]
        assert all(name.endswith("_high") for name in wordless), row


def test_every_table_has_one_section(rendered):
    headings = [line[3:].split(", ") for line in rendered.splitlines() if line.startswith("## ")]
    for layout in (SCAN, ABLATION, REPRODUCTION, SIMULATION):
        for name in layout.tables:
            file = str(layout.file(Path(), name))
            assert sum(file in heading for heading in headings) == 1, file


def test_every_file_of_a_reproduction_is_listed():
    listed = PAGE.split("reads a finished run")[0]
    names = [f"{name}.parquet" for name in TABLES]
    places = ("choosing/", "texts/NAME/", "paper/", "units/", "figures/NAME/")
    files = ("manifest.json", "timing.json", "judging.json", "report.html")
    for name in (*names, *files, *places):
        assert re.search(rf"^ {{2,4}}{re.escape(name)} ", listed, re.MULTILINE), name


def test_figures_that_share_a_type_are_told_apart(rendered):
    text = rendered
    for name in PAPER_TABLES:
        assert f"`{name}`: " in text, name
    assert "`fig2a`: distance over L at one N; `fig2b`: distance over N at one L" in text


def test_columns_that_simulations_share_are_explained_in_each_table(rendered):
    text = rendered.partition("# What a simulation leaves behind")[2]
    assert text.count("| `scheme` | str | a name of `headgauge.particles.schemes`, or") == 6
    assert text.count("| `tokens` | int | n |") == 3


def test_a_table_row_is_one_line_with_three_cells(rendered):
    rows = [line for line in rendered.splitlines() if line.startswith("| `")]
    assert len(rows) > 200
    for row in rows:
        assert row.replace("\\|", "").count("|") == 4


def test_what_names_a_head_is_explained_in_each_table(rendered):
    rows = [*TABLES.values(), *REMEDY_TABLES.values()]
    of_heads = [row for row in rows if "occurrence" in frame_schema(row)]
    assert rendered.count("| `module` | str | its name in the model |") == len(of_heads) == 16


def test_what_names_a_choice_is_explained_in_each_table(rendered):
    rows = {*TABLES.values(), *PAPER_TABLES.values()}
    line = '| `scale` | str | Length of vectors: "unit" (brought to 1), "raw" (as it is) |'
    assert rendered.count(line) == sum("scale" in frame_schema(row) for row in rows) == 8
    forms = '| `expected` | str | "printed" (false), '
    assert rendered.count(forms) == 3
