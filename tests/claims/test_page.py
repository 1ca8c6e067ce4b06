import re
from pathlib import Path

from docs import claims as page
from headgauge.claims import CLAIMS

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_is_the_records():
    assert (DOCS / "claims.md").read_text(encoding="utf-8") == page.render(), "run `make docs`"


def test_every_link_has_its_target():
    text = page.render()
    ledger, _, sentences = text.partition("## Where each sentence")
    anchors = {page._anchor(claim) for claim in CLAIMS}
    assert set(re.findall(r"\]\(#([^)]*)\)", sentences)) <= anchors
    for claim in CLAIMS:
        anchor = page._anchor(claim)
        assert ledger.count(f"](#{anchor})") == 1
        assert text.count(f'<a id="{anchor}"></a>') == 1


def test_a_table_row_is_one_line_with_four_cells():
    rows = [line for line in page.render().splitlines() if line.startswith("| [")]
    assert len(rows) == len(CLAIMS)
    for row in rows:
        assert row.replace("\\|", "").count("|") == 5


def test_every_section_says_where_its_statement_was_seen():
    text = page.render()
    for claim in CLAIMS:
        assert f"*{claim.where}; seen in {claim.seen_in}.* " in text
