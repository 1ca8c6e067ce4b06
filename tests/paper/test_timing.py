import pytest

from headgauge.paper import ReproduceSettings, quick
from headgauge.paper.literal import LiteralTime
from headgauge.paper.timing import PAPER_SECONDS, WHAT, algorithms_seconds, timing_table

SETTINGS = ReproduceSettings(lengths=(32, 64, 128), windows=2)
UNITS = {
    "w0000-L00032": {"forward": 1.0, "vectors": 0.5, "paper": 2.0, "rules": 100.0},
    "w0000-L00064": {"forward": 2.0, "paper": 4.0},
    "w0000-L00128": {"forward": 3.0, "vectors": 1.0, "paper": 16.0, "sensitivity": 7.0,
                     "choices": 100.0, "weights": 100.0},
    "w0001-L00032": {"forward": 1000.0, "paper": 1000.0},
    "w0001-L00128": {"forward": 1000.0, "paper": 1000.0, "sensitivity": 1000.0},
}  # fmt: skip
LOOPS = [LiteralTime(str(n), 100.0 * n, 0.01 * n) for n in range(1, 6)]


def test_each_algorithm_pays_for_its_passes():
    table = timing_table(UNITS, LOOPS, SETTINGS)
    assert [row["algorithm"] for row in table] == ["1", "2", "3", "4", "5"]
    assert [row["ours_seconds"] for row in table] == [29.5, 20.0, 20.0, 20.0, 7.0]
    assert [row["shared"] for row in table] == [False, True, True, True, False]
    assert [row["literal_seconds"] for row in table] == [100.0, 200.0, 300.0, 400.0, 500.0]
    assert [row["ratio"] for row in table] == [3.4, 10.0, 15.0, 20.0, 71.4]
    assert [row["literal_share"] for row in table] == pytest.approx([0.01, 0.02, 0.03, 0.04, 0.05])
    assert [row["paper_seconds"] for row in table] == list(PAPER_SECONDS.values())
    assert [row["what"] for row in table] == list(WHAT.values())


def test_the_papers_times_add_up_to_what_it_says():
    """18 h 13 min, a minute of rounding apart."""
    assert sum(PAPER_SECONDS.values()) == pytest.approx(18 * 3600 + 13 * 60, abs=61)


def test_the_shared_pass_counts_once():
    assert algorithms_seconds(timing_table(UNITS, LOOPS, SETTINGS)) == pytest.approx(36.5)


def test_what_was_not_measured_is_none():
    units = {"w0000-L00128": {"forward": 3.0, "paper": 1.0}}
    table = timing_table(units, LOOPS[:3], SETTINGS)
    assert table[4]["ours_seconds"] is table[4]["ratio"] is table[4]["literal_seconds"] is None
    assert table[3]["literal_share"] is None
    assert table[3]["ours_seconds"] == 4.0
    assert table[0]["ratio"] is None  # no shorter window: nothing to divide by
    assert algorithms_seconds(table) is None


def test_fewer_rows_are_said():
    fast = quick(SETTINGS)
    for row in timing_table(UNITS, LOOPS, fast):
        rows = fast.fig4.rows if row["algorithm"] == "5" else fast.paper_rows
        assert row["note"].startswith(f"{rows} of 128 query rows"), row["algorithm"]
        # Less was measured than the literal loop stands for: there is nothing to divide.
        assert (row["ratio"] is None) == (row["algorithm"] != "5")
    notes = [row["note"] for row in timing_table(UNITS, LOOPS, SETTINGS)]
    assert notes[0].startswith("passes over L = 32, 64, with every N")
    for note in notes[1:4]:
        assert "its whole time stands in each row" in note
    assert "without the tests themselves" in notes[2]


def test_the_table_of_the_run(found):
    assert [row["algorithm"] for row in found.timing] == ["1", "2", "3", "4", "5"]
    for row in found.timing:
        assert row["ours_seconds"] > 0
        assert row["literal_seconds"] > 0
        assert 0 < row["literal_share"] < 1
