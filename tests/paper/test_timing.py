import math
from dataclasses import replace

import pytest
import torch

from headgauge.paper import ReproduceSettings, make_reproduction, quick, reproducing, timing
from headgauge.paper.choices import Choice
from headgauge.paper.timing import LiteralTime, timing_table
from headgauge.registry.published import ALGORITHMS, RUN_TIME, SECONDS

SETTINGS = ReproduceSettings(lengths=(32, 64, 128), windows=2)
UNITS = {
    "w0000-L00032": {"forward": 1.0, "vectors": 0.5, "paper": 2.0, "rules": 100.0},
    "w0000-L00064": {"forward": 2.0, "paper": 4.0},
    "w0000-L00128": {"forward": 3.0, "vectors": 1.0, "paper": 16.0, "sensitivity": 7.0,
                     "choices": 100.0, "weights": 100.0},
    "w0001-L00032": {"forward": 1000.0, "paper": 1000.0},
    "w0001-L00128": {"forward": 1000.0, "paper": 1000.0, "sensitivity": 1000.0},
}  # fmt: skip
LOOPS = {str(n): LiteralTime(100.0 * n, 0.01 * n) for n in range(1, 6)}


def test_each_algorithm_pays_for_its_passes():
    table = timing_table(UNITS, LOOPS, SETTINGS)
    assert [row["algorithm"] for row in table] == ["1", "2", "3", "4", "5"]
    assert [row["ours_seconds"] for row in table] == [29.5, 20.0, 20.0, 20.0, 7.0]
    assert [row["shared"] for row in table] == [False, True, True, True, False]
    assert [row["literal_seconds"] for row in table] == [100.0, 200.0, 300.0, 400.0, 500.0]
    assert [row["ratio"] for row in table] == [3.4, 10.0, 15.0, 20.0, 71.4]
    assert [row["literal_share"] for row in table] == pytest.approx([0.01, 0.02, 0.03, 0.04, 0.05])
    assert [row["paper_seconds"] for row in table] == list(SECONDS.values())
    assert [row["what"] for row in table] == list(ALGORITHMS.values())


def test_the_papers_times_add_up_to_what_it_says():
    """A minute of rounding apart."""
    assert RUN_TIME == "18 h 13 min"
    assert sum(SECONDS.values()) == pytest.approx(18 * 3600 + 13 * 60, abs=61)


def test_what_was_not_measured_is_none():
    units = {"w0000-L00128": {"forward": 3.0, "paper": 1.0}}
    table = timing_table(units, {n: LOOPS[n] for n in "123"}, SETTINGS)
    assert table[4]["ours_seconds"] is table[4]["ratio"] is table[4]["literal_seconds"] is None
    assert table[3]["literal_share"] is None
    assert table[3]["ours_seconds"] == 4.0
    assert table[0]["ratio"] is None  # no shorter window: nothing to divide by


def test_a_short_loop_is_not_rounded_away():
    table = timing_table(UNITS, {"1": LiteralTime(0.0123456, 0.5)}, SETTINGS)
    assert table[0]["literal_seconds"] == 0.0123


def test_fewer_rows_are_said():
    fast = quick(SETTINGS)
    for row in timing_table(UNITS, LOOPS, fast):
        rows = fast.sensitivity_rows if row["algorithm"] == "5" else fast.paper_rows
        assert row["note"].startswith(f"{rows} of 128 query rows"), row["algorithm"]
        # Less was measured than the literal loop stands for: there is nothing to divide.
        assert (row["ratio"] is None) == (row["algorithm"] != "5")
    notes = [row["note"] for row in timing_table(UNITS, LOOPS, SETTINGS)]
    every = replace(SETTINGS, sensitivity_rows=128)
    assert timing_table(UNITS, LOOPS, every)[4]["note"] == "all query rows of each head"
    half = replace(SETTINGS, sensitivity_rows=85)
    assert timing_table(UNITS, LOOPS, half)[4]["note"].endswith("1.5 times smaller")
    assert notes[0].startswith("passes over L = 32, 64, with every N")
    for note in notes[1:4]:
        assert "its whole time stands in each row" in note
    assert "without the tests themselves" in notes[2]


def test_the_table_of_the_run(kept):
    assert [row["algorithm"] for row in kept.timing] == ["1", "2", "3", "4", "5"]
    for row in kept.timing:
        assert row["ours_seconds"] > 0
        assert row["literal_seconds"] > 0
        assert 0 < row["literal_share"] < 1


# The literal loops


def _plan(model, tokens, settings):
    source = reproducing.source_of(model, None, None, None)
    return make_reproduction(source, tokens, settings).first


def test_times_are_positive_and_from_a_part(model, tokens, settings, unchecked):
    threads = torch.get_num_threads()
    plan = _plan(model, tokens, settings)
    found = timing.literal_times(plan, settings, 8)
    assert list(found) == ["1", "2", "3", "4", "5"]
    for each in found.values():
        assert math.isfinite(each.seconds)
        assert each.seconds > 0
        assert 0 < each.share < 1
    assert torch.get_num_threads() == threads
    whole = 110 * 8
    grid = 5 * 3  # temperatures and ε
    assert found["5"].share == pytest.approx(timing.ROWS * timing._TIMES / (whole * grid))
    assert found["4"].share == pytest.approx(timing.ROWS / whole)
    assert found["3"].share == pytest.approx(timing.ROWS / whole * 10 / 100)
    for number, other in timing.literal_times(plan, settings, 16).items():  # twice the heads
        assert found[number].share == pytest.approx(2 * other.share)


@pytest.mark.parametrize("choice", [Choice("final"), Choice("value", "raw", "visible")])
def test_the_captured_rows_are_the_models(model, tokens, settings, attended, choice):
    chosen = replace(settings, choice=choice)
    rows, vectors = timing._capture(_plan(model, tokens, chosen), chosen)
    assert vectors is not None
    places = [int((at + 0.5) * 110 / timing.ROWS) for at in range(timing.ROWS)]
    seen = attended(0, 110)
    for place, row in zip(places, rows, strict=True):
        reach = 110 if choice.keys == "all" else place + 1
        wanted = seen.weights[1, 3, place, :reach]  # the last head of the middle layer
        assert torch.allclose(row.weights, wanted, rtol=1e-4, atol=1e-7)
        assert torch.equal(row.vectors, vectors[:reach])
        assert torch.allclose(torch.softmax(row.logits, 0), row.weights[: place + 1], atol=1e-6)
    if choice.vectors == "final":
        assert torch.allclose(vectors, seen.final, atol=1e-5)
    else:
        assert vectors.shape == (110, 8)
        lengths = vectors.norm(dim=-1)
        assert not torch.allclose(lengths, torch.ones_like(lengths), atol=1e-2)


def test_where_a_texts_time_went():
    spent = {row["part"]: row["seconds"] for row in timing.spent_on("a text", UNITS)}
    assert spent == {
        "the model's own passes": 2006.0,
        "vectors and their inner products": 1.5,
        "Algorithms 1 to 4": 2022.0,
        "Algorithm 5": 1007.0,
        "the other choices of vectors and keys": 100.0,
        "other rules": 100.0,
        "what a scan measures": 100.0,
    }
    every = sum(seconds for phases in UNITS.values() for seconds in phases.values())
    assert sum(spent.values()) == every
