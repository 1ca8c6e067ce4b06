import polars as pl

from headgauge.experiments.verdicts import JUDGES, WORDS, Evidence, verdict_table, words
from headgauge.results.paper_schema import (
    PAPER_TABLES,
    REPRODUCED,
    UNTESTABLE,
    PaperVerdictRow,
)
from headgauge.results.schema import frame_schema

CHOICE = {"vectors": "final", "scale": "unit", "keys": "all"}


def _evidence(found) -> Evidence:
    return Evidence(found.paper, CHOICE)


def test_a_row_for_every_judge_in_the_papers_order(found):
    table = verdict_table(_evidence(found), None)
    assert dict(table.schema) == dict(frame_schema(PaperVerdictRow))
    assert len(table) == len(JUDGES) == len(set(table["claim"])) == 16
    figures = [where for where in table["where"] if where.startswith("Fig.")]
    assert figures == sorted(figures)
    assert set(table["verdict"]) <= set(WORDS)
    for name in table.columns:
        assert all(text.strip() and "\n" not in text for text in table[name]), name


def test_untrained_weights_prove_nothing(found):
    table = verdict_table(_evidence(found), "random weights")
    assert set(table["verdict"]) == {UNTESTABLE}
    assert set(table["comment"]) == {"random weights"}


def test_a_run_without_any_number_can_be_judged():
    empty = {name: pl.DataFrame(schema=frame_schema(row)) for name, row in PAPER_TABLES.items()}
    table = verdict_table(Evidence(empty, CHOICE), None)
    assert len(table) == len(JUDGES)
    assert REPRODUCED not in set(table["verdict"])


def test_words_are_counted_in_their_order(found):
    counts = words(verdict_table(_evidence(found), None))
    assert [word for word, _ in counts] == list(WORDS)
    assert sum(count for _, count in counts) == 16
    assert dict(counts)[UNTESTABLE] >= 2
    everything = words(verdict_table(_evidence(found), "random weights"))
    assert dict(everything) == dict.fromkeys(WORDS, 0) | {UNTESTABLE: 16}
