from collections import Counter
from pathlib import Path

from docs import claims as page
from headgauge import claims, paper
from headgauge.claims.sentences import SENTENCES

VERDICTS = Path(paper.__file__).parent / "verdicts"

# Counted in the paper and on the slides; one that goes missing is noticed.
EXPECTED = {
    "Abstract": 7,
    "Slides, why it matters": 4,
    "Slides, problem setting": 1,
    "Slides, contributions": 7,
    "Slides, key message": 1,
    "Slides, top-N selection": 2,
    "Slides, Theorem 1": 2,
    "Slides, corollary": 1,
    "Slides, definition of N_s": 2,
    "Slides, radius and its figure": 2,
    "Slides, Theorem 2": 2,
    "Slides, gradient sensitivity": 2,
    "Slides, Lemma 2": 1,
    "Slides, softmax instability": 1,
    "Slides, experimental setup": 3,
    "Slides, figure 2": 2,
    "Slides, figure 3": 1,
    "Slides, figure 4": 3,
    "Slides, figure 5": 2,
    "Slides, trade-off": 5,
    "Slides, guidelines": 6,
    "Slides, conclusion": 4,
    "Slides, implication": 1,
}


def test_no_sentence_is_missing():
    assert Counter(sentence.where for sentence in SENTENCES) == EXPECTED
    assert len({sentence.quote for sentence in SENTENCES}) == len(SENTENCES)


def test_every_sentence_is_answered_by_records_that_exist():
    for sentence in SENTENCES:
        assert sentence.claims
        assert [claims.find(name).id for name in sentence.claims] == list(sentence.claims)


def test_every_verdict_it_names_is_one_that_a_reproduction_reaches():
    source = "\n".join(path.read_text(encoding="utf-8") for path in VERDICTS.glob("*.py"))
    for name in {verdict for sentence in SENTENCES for verdict in sentence.verdicts}:
        assert f'"{name}"' in source, name


def test_the_slides_closing_sentence_names_the_premise_too():
    last = SENTENCES[-1]
    assert last.quote.startswith("No normalization rule")
    assert last.claims == ("19", "19'")


def test_the_page_has_a_row_for_each():
    text = page.render()
    table = text[text.index("## Where each sentence") :]
    rows = [line for line in table.splitlines() if line.startswith(("| Abstract", "| Slides"))]
    assert len(rows) == len(SENTENCES)
    assert all(row.replace("\\|", "").count("|") == 5 for row in rows)
