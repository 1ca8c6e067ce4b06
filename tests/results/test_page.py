from dataclasses import fields
from pathlib import Path

from headgauge.results import page
from headgauge.results.manifest import Manifest
from headgauge.results.schema import TABLES

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_is_the_types():
    assert (DOCS / "results.md").read_text(encoding="utf-8") == page.render(), "run `make docs`"


def test_every_column_and_key_is_on_it():
    for row in TABLES.values():
        assert [name for name, _, _ in page.fields(row)] == [field.name for field in fields(row)]
    for record in (Manifest, *page.RECORDS):
        assert [name for name, _, _ in page.fields(record)] == list(record.__annotations__)


def test_a_table_row_is_one_line_with_three_cells():
    rows = [line for line in page.render().splitlines() if line.startswith("| `")]
    assert len(rows) > 80
    for row in rows:
        assert row.replace("\\|", "").count("|") == 4


def test_what_names_a_head_is_explained_in_each_table():
    assert page.render().count("| `module` | str | its name in the model |") == 4
