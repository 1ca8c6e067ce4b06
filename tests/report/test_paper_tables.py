"""A reproduction in a terminal and as Markdown."""

import polars as pl
import pytest
from rich.console import Console, Group

from headgauge.report.paper_tables import (
    choice_tables,
    claims_table,
    claims_view,
    paper_markdown,
    timing_table,
)
from headgauge.runs.paper_schema import DEPENDS, NOT_REPRODUCED, ONE_TEXT, UNDECIDED
from report.page.paper_frames import TEXTS, WORDS, paper_frames

STANDS = ("quick run: 32 of 1024 query rows per head", "text prose, for choosing")


@pytest.fixture
def paper():
    return paper_frames()


def choices(frame, chosen_on):
    return Group(*choice_tables(frame, chosen_on))


def printed(view, width=80):
    console = Console(width=width, no_color=True)
    with console.capture() as kept:
        console.print(view)
    return [line.rstrip() for line in kept.get().splitlines()]


def test_what_it_stands_on_comes_first(paper):
    lines = printed(claims_view(paper["verdicts"], paper["readings"], STANDS))
    assert lines[:2] == list(STANDS)


@pytest.mark.parametrize("width", [80, 200])
def test_a_claim_has_its_verdict_and_below_it_what_every_text_measured(paper, width):
    """Nothing is dropped where the terminal is narrow."""
    lines = printed(claims_view(paper["verdicts"], paper["readings"], STANDS), width)
    at = lines.index("Fig. 3  claim 2: depends on the text, held on 1 of 2 texts")
    assert lines[at + 1 : at + 4] == [
        "    paper: N ≈ 0.06 L",
        "    prose: 0.06 L (0.05 to 0.07) (not reproduced)",
        "    code <b>: 0.07 L (0.05 to 0.07) (reproduced)",
    ]
    at = lines.index("Fig. 4  claim 3: not reproduced, held on 0 of 2 texts")
    assert lines[at + 2] == "    prose: 0.06 L (0.05 to 0.07); corrected: 0.20 L"
    assert "Fig. 2  claim 5: too few rows to judge" in lines
    assert max(map(len, lines)) <= width
    assert " ".join(lines).strip().endswith(", ".join(f"1 {word}" for word in WORDS))


def test_held_is_said_of_the_texts_that_decided():
    words = [DEPENDS, NOT_REPRODUCED, UNDECIDED, ONE_TEXT]
    verdicts = pl.DataFrame(
        {"where": "Fig. 3", "claim": "c", "held": [1, 0, 0, 1], "texts": [2, 1, 0, 1]}
    ).with_columns(verdict=pl.Series(words))
    held = next(each for each in claims_table(verdicts).columns if each.heading == "held")
    assert list(held.cells) == ["held on 1 of 2 texts", "held on 0 of 1 text", "", ""]


def test_choices_of_every_text_with_the_closest_and_the_judged_one_marked(paper):
    lines = printed(choices(paper["choices"], TEXTS[0]))
    assert [line for line in lines if line.startswith("What depends")] == [
        f"What depends on the choice of vectors and keys: {text}" for text in TEXTS
    ]
    rows = [line.split() for line in lines if "unit," in line]
    marked = [row[2:5] for row in rows if "*" in row or "●" in row]
    assert marked[:3] == [["visible", "*", "●"], ["visible", "●", "161"], ["visible", "*", "163"]]
    told = "the closest on prose by equally many rows of every choice"
    assert f"{told}." in " ".join(lines)
    lost = pl.when(text=TEXTS[0]).then(pl.col("vectors") == "hidden").otherwise("closest")
    lines = printed(choices(paper["choices"].with_columns(closest=lost), TEXTS[0]))
    assert f"{told}; measured in full, another is closer there." in " ".join(lines)
    assert "rows" in " ".join(lines)
    assert not any("…" in line for line in lines)
    asked = " ".join(printed(choices(paper["choices"], None)))
    assert "as asked for" in asked


def test_choices_and_times_keep_every_number_at_any_width(paper):
    frame = paper["choices"].with_columns(rows=pl.lit(1024.0), critical_n=pl.lit(1023))
    times = {"paper_seconds": 61440.0, "ours_seconds": 10.25, "literal_seconds": 1e5}
    named = {"algorithm": "3", "what": "critical N", "shared": True, "ratio": 123456.0}
    for view in (choices(frame, TEXTS[0]), timing_table([named | times])):
        whole = set(" ".join(printed(view, 200)).split())
        for width in (80, 60, 40):
            lines = printed(view, width)
            assert max(map(len, lines)) <= width
            assert not any("…" in line for line in lines)
            assert {word for word in whole if word[:1].isdigit()} <= set(" ".join(lines).split())


def test_markdown_begins_with_what_it_stands_on_and_has_a_column_for_each_text(paper):
    text = paper_markdown(paper, (), STANDS, TEXTS[0])
    lines = text.splitlines()
    assert lines[:3] == [*(f"- {line}" for line in STANDS), ""]
    warned = paper_markdown(paper, (), STANDS, TEXTS[0], ["random <weights>"]).splitlines()
    assert warned[:2] == ["**Warning: random &lt;weights>**", ""]
    assert warned[2:] == lines
    heading = "| where | claim | paper | on prose | on code &lt;b> | held | verdict |"
    assert lines[3] == heading
    assert lines[7] == (
        "| Fig. 3 | claim 2 | N ≈ 0.06 L | 0.06 L (0.05 to 0.07) (not reproduced) | "
        "0.07 L (0.05 to 0.07) (reproduced) | held on 1 of 2 texts | **depends on the text** |"
    )
    assert "| value, unit, visible * ● | 61 | 0.060 | 200 | 0.70–0.80 | 128 |" in lines
    assert "| value, unit, visible ● | 161 | 0.060 | 200 | 0.70–0.80 | 128 |" in lines
    assert "What depends on the choice of vectors and keys: prose" in lines
    assert any("the closest on prose by equally many rows" in line for line in lines)
