"""A reproduction in a terminal and as Markdown."""

import polars as pl
import pytest
from rich.console import Console

from headgauge.report.paper_markdown import paper_markdown
from headgauge.report.paper_views import choice_view, held_words, timing_view, verdict_view
from headgauge.runs.paper_schema import DEPENDS, NOT_REPRODUCED, ONE_TEXT, UNDECIDED
from report.page.paper_frames import TEXTS, WORDS, paper_frames

STANDS = ("quick run: 32 of 1024 query rows per head", "text prose, for choosing")


@pytest.fixture
def paper():
    return paper_frames()


def printed(view, width=80):
    console = Console(width=width, no_color=True)
    with console.capture() as kept:
        console.print(view)
    return [line.rstrip() for line in kept.get().splitlines()]


def test_what_it_stands_on_comes_first(paper):
    lines = printed(verdict_view(paper["verdicts"], paper["readings"], STANDS))
    assert lines[:2] == list(STANDS)


@pytest.mark.parametrize("width", [80, 200])
def test_a_claim_has_its_verdict_and_below_it_what_every_text_measured(paper, width):
    """Nothing is dropped where the terminal is narrow."""
    lines = printed(verdict_view(paper["verdicts"], paper["readings"], STANDS), width)
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
    said = [
        held_words({"held": held, "texts": decided, "verdict": word})
        for held, decided, word in (
            (1, 2, DEPENDS),
            (0, 1, NOT_REPRODUCED),
            (0, 0, UNDECIDED),
            (1, 1, ONE_TEXT),
        )
    ]
    assert said == ["held on 1 of 2 texts", "held on 0 of 1 text", "", ""]


def test_choices_of_every_text_with_the_closest_and_the_judged_one_marked(paper):
    lines = printed(choice_view(paper["choices"], TEXTS[0]))
    assert [line for line in lines if line.startswith("What depends")] == [
        f"What depends on the choice of vectors and keys: {text}" for text in TEXTS
    ]
    rows = [line.split() for line in lines if "unit," in line]
    marked = [row[2:5] for row in rows if "*" in row or "●" in row]
    assert marked[:3] == [["visible", "*", "●"], ["visible", "●", "161"], ["visible", "*", "163"]]
    told = "the closest on prose by equally many rows of every choice"
    assert f"{told}." in " ".join(lines)
    lost = pl.when(text=TEXTS[0]).then(pl.col("vectors") == "hidden").otherwise("closest")
    lines = printed(choice_view(paper["choices"].with_columns(closest=lost), TEXTS[0]))
    assert f"{told}; measured in full, another is closer there." in " ".join(lines)
    assert "rows" in " ".join(lines)
    assert not any("…" in line for line in lines)
    asked = " ".join(printed(choice_view(paper["choices"], None)))
    assert "as asked for" in asked


def test_choices_and_times_keep_every_number_at_any_width(paper):
    choices = paper["choices"].with_columns(rows=pl.lit(1024.0), critical_n=pl.lit(1023))
    times = {"paper_seconds": 61440.0, "ours_seconds": 10.25, "literal_seconds": 1e5}
    named = {"algorithm": "3", "what": "critical N", "shared": True, "ratio": 123456.0}
    for view in (choice_view(choices, TEXTS[0]), timing_view([named | times])):
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
    assert (
        "| value, unit, visible | judged, closest here | 61 | 0.060 | 200 | 0.70 to 0.80 |" in lines
    )
    assert "| value, unit, visible | judged | 161 | 0.060 | 200 | 0.70 to 0.80 |" in lines
    assert (
        "Choices on prose; judged: the closest on prose by equally many rows of every choice."
        in lines
    )
