"""From a text's words to a verdict over all texts."""

from itertools import product

import polars as pl

from headgauge.paper.evidence import Evidence, Seen
from headgauge.paper.verdicts import (
    CLAIMS,
    choose_reading,
    joint,
    judge,
    sensitivity,
    verdict_tables,
)
from headgauge.runs.paper_schema import (
    DEPENDS,
    FEW_ROWS,
    NOT_REPRODUCED,
    ONE_TEXT,
    PAPER_TABLES,
    PRINTED_ONLY,
    REPRODUCED,
    UNDECIDED,
    UNTESTABLE,
    PaperVerdictRow,
    ReadingRow,
)
from headgauge.runs.schema import frame_schema

CHOICE = {"vectors": "final", "scale": "unit", "keys": "all"}
WORDS = (REPRODUCED, PRINTED_ONLY, NOT_REPRODUCED, UNDECIDED, FEW_ROWS, UNTESTABLE)
R, P, N, U, F, X = WORDS


ALL_JUDGE = [
    ((R, R), R), ((R, R, R), R), ((R, P), P), ((P, P), P), ((N, N), N),
    ((R, N), DEPENDS), ((P, N), DEPENDS), ((R, R, N), DEPENDS), ((R, U, N), DEPENDS),
    ((R, U), U), ((P, U), U), ((U, U), U), ((N, U), N), ((N, F), N),
    ((R, F), F), ((U, F), F), ((F, F), F),
    ((X, X), X), ((X,), X), ((), X),
    ((R,), ONE_TEXT), ((N,), ONE_TEXT), ((P,), ONE_TEXT), ((U,), ONE_TEXT), ((F,), F),
    ((R, X), ONE_TEXT), ((N, X), ONE_TEXT), ((R, N, X), DEPENDS), ((R, R, X), R),
]  # fmt: skip


def test_texts_that_all_judge():
    for judging, verdict in ALL_JUDGE:
        assert joint(judging) == joint(judging[::-1]) == verdict, judging


# What the judging text says (down) and what the choosing one says (across).
TABLE = {
    R: {R: R, P: R, N: DEPENDS, U: R, F: R, X: ONE_TEXT},
    P: {R: P, P: P, N: DEPENDS, U: P, F: P, X: ONE_TEXT},
    N: {R: N, P: N, N: N, U: N, F: N, X: ONE_TEXT},
    U: {R: U, P: U, N: U, U: U, F: U, X: ONE_TEXT},
    F: {R: F, P: F, N: F, U: F, F: F, X: F},
    X: {R: ONE_TEXT, P: ONE_TEXT, N: ONE_TEXT, U: ONE_TEXT, F: F, X: X},
}


def test_one_text_judges_and_one_was_for_choosing():
    for judging, choosing in product(WORDS, WORDS):
        assert joint([judging], choosing) == TABLE[judging][choosing], (judging, choosing)


def test_what_held_where_it_was_chosen_is_no_evidence():
    """A word of the choosing text never makes a claim hold, nor decides it alone."""
    for word, choosing in product(WORDS, WORDS):
        found = joint([word], choosing)
        if found in (REPRODUCED, PRINTED_ONLY):
            assert found == word
        if found == NOT_REPRODUCED:
            assert word == NOT_REPRODUCED


def test_of_several_judging_texts_every_one_is_needed():
    assert joint([R, R], R) == R
    assert joint([R, N], R) == DEPENDS
    assert joint([R, U], R) == U
    assert joint([R, R], N) == DEPENDS
    assert joint([U, U], N) == U
    assert joint([], R) == ONE_TEXT
    assert joint([], F) == F


def _seen(word: str, comment: str = "why") -> Seen:
    return Seen("p", word, "c", comment)


def _table(chosen_on: str | None, **words: str) -> tuple[dict, dict]:
    """The verdict rows of a claim that leans on the choice and of one that does not."""
    seen = {text: [_seen(word)] * len(CLAIMS) for text, word in words.items()}
    rows = verdict_tables(seen, chosen_on)[1].to_dicts()
    free = [at for at, each in enumerate(CLAIMS) if each.free]
    leaning = next(at for at in range(len(CLAIMS)) if at not in free)
    told = ("held", "texts", "verdict", "comment")
    assert len({tuple(rows[at][name] for name in told) for at in free}) == 1
    return rows[leaning], rows[free[0]]


def test_the_choosing_text_counts_for_what_does_not_lean_on_the_choice():
    leaning, free = _table("a", a=R, b=R)
    assert (leaning["held"], leaning["texts"], leaning["verdict"]) == (1, 1, R)
    assert leaning["comment"] == "Reproduced on a, where the choice was made."
    assert (free["held"], free["texts"], free["verdict"], free["comment"]) == (2, 2, R, "")
    leaning, free = _table("a", a=R, b=N)
    assert (leaning["held"], leaning["texts"], leaning["verdict"]) == (0, 1, N)
    assert (free["held"], free["texts"], free["verdict"]) == (1, 2, DEPENDS)
    assert free["comment"] == "Reproduced on a, not reproduced on b."
    leaning, free = _table("a", a=N, b=R, c=U)
    assert (leaning["held"], leaning["texts"], leaning["verdict"]) == (1, 1, DEPENDS)
    assert leaning["comment"] == (
        "Reproduced on b, undecided on c. Not reproduced on a, where the choice was made."
    )


def test_with_a_choice_that_was_given_every_text_judges():
    for row in _table(None, a=P, b=N):
        assert (row["held"], row["texts"], row["verdict"]) == (1, 2, DEPENDS)
        assert "where the choice was made" not in row["comment"]


def test_one_text_judges_nothing_whoever_chose():
    for chosen_on in ("a", None):
        leaning, free = _table(chosen_on, a=R)
        assert leaning["verdict"] == free["verdict"] == ONE_TEXT
    assert (leaning["held"], leaning["texts"]) == (1, 1)
    assert (_table("a", a=R)[0]["held"], _table("a", a=R)[0]["texts"]) == (0, 0)


def test_why_something_cannot_be_tested_is_said():
    leaning, free = _table("a", a=X, b=X)
    assert leaning["verdict"] == free["verdict"] == X
    assert leaning["comment"] == "why"


def test_a_row_for_every_text_and_judge(kept):
    evidence = Evidence(kept.paper, CHOICE)
    seen = {"a": judge(evidence, None), "b": judge(evidence, "random weights")}
    readings, verdicts = verdict_tables(seen, None)
    assert dict(readings.schema) == dict(frame_schema(ReadingRow))
    assert dict(verdicts.schema) == dict(frame_schema(PaperVerdictRow))
    assert len(verdicts) == len(CLAIMS) == len(set(verdicts["claim"]))
    assert readings["text"].to_list() == ["a"] * len(CLAIMS) + ["b"] * len(CLAIMS)
    figures = [where for where in verdicts["where"] if where.startswith("Fig.")]
    assert figures == sorted(figures)
    for name in ("claim", "where", "statement", "paper"):
        assert all(text.strip() and "\n" not in text for text in verdicts[name]), name
    untrained = readings.filter(text="b")
    assert set(untrained["verdict"]) == {UNTESTABLE}
    assert set(untrained["comment"]) == {"random weights"}
    assert len(set(readings.filter(text="a")["verdict"])) > 1


def test_a_run_without_any_number_can_be_judged():
    empty = {name: pl.DataFrame(schema=frame_schema(row)) for name, row in PAPER_TABLES.items()}
    seen = judge(Evidence(empty, CHOICE), None)
    assert {each.verdict for each in seen} == {UNTESTABLE}
    assert choose_reading(Evidence(empty, CHOICE)) == ("scaled", "random")


def test_only_what_uses_neither_vectors_nor_algorithm_5_is_free(kept):
    """Another choice and another reading leave these claims as they are, and they alone."""
    here = judge(Evidence(kept.paper, CHOICE), None)
    other = CHOICE | {"vectors": "value", "scale": "raw"}
    there = judge(Evidence(kept.paper, other, ("raw", "random")), None)
    same = [each for each, a, b in zip(CLAIMS, here, there, strict=True) if vars(a) == vars(b)]
    free = [each for each in CLAIMS if each.free]
    assert len(free) == 3
    assert all(each in same for each in free)


def test_the_reading_is_the_one_that_shows_most(frames):
    cold, warm = {0.01: 10.0, 0.1: 1.0, 1.0: 0.01, 10.0: 0.001}, {0.01: 1.0, 0.1: 1.0, 1.0: 1.0}
    steps = (0.001, 0.1)
    plain = frames.sensitivity({("random", e): warm for e in steps})
    over_all = frames.sensitivity({("random over all keys", e): cold for e in steps})
    evidence = Evidence({"fig4": pl.concat([plain, over_all])}, CHOICE)
    assert choose_reading(evidence) == ("scaled", "random over all keys")
    raw = plain.with_columns(logits=pl.lit("raw"))
    assert choose_reading(Evidence({"fig4": raw}, CHOICE)) == ("raw", "random")
    tie = Evidence({"fig4": pl.concat([raw, plain])}, CHOICE)
    assert choose_reading(tie) == next(iter(sensitivity.READINGS))
