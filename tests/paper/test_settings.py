from collections import Counter
from dataclasses import replace

import pytest

from headgauge.errors import InputError
from headgauge.paper import ReproduceSettings, quick
from headgauge.paper.choices import CHOICES, GUIDELINE_RULES, RULES, Choice
from headgauge.paper.settings import EXPERIMENT, task
from headgauge.registry.published import LENGTHS
from headgauge.runs import UnitKey

LONGEST, SHORTER = UnitKey(0, 1024), UnitKey(0, 256)
CHOSEN = Choice("final", "unit", "all")
FULL = ReproduceSettings(choice=CHOSEN)
MORE = len(GUIDELINE_RULES)


def _parts(settings: ReproduceSettings, key: UnitKey) -> Counter:
    return Counter(request.part for request in task(settings, key).curves)


def _one(settings: ReproduceSettings, key: UnitKey, part: str):
    (found,) = (request for request in task(settings, key).curves if request.part == part)
    return found


def test_the_papers_own_part_is_every_n_on_every_row():
    for length in LENGTHS:
        request = _one(FULL, UnitKey(0, length), "paper")
        assert request.top_ns == tuple(range(1, min(100, length - 1) + 1))
        assert request.rows is None
        assert request.normalizer is None
        assert request.choice == vars(CHOSEN) | {"rule": "model"}
        assert request.table == "paper_curves"


def test_the_first_longest_window():
    parts = _parts(FULL, LONGEST)
    others = len(CHOICES) - 1
    assert parts == {
        "curves": 1,
        "off sink": 1,
        "paper": 1,
        "beyond": 1,
        "rules": 5 + MORE,
        "choices": 2 * others,
    }
    beyond = _one(FULL, LONGEST, "beyond")
    assert beyond.rows == 64
    assert beyond.top_ns == (128, 164, 205, 256, 328, 410, 512, 655, 819, 960)
    choices = [each for each in task(FULL, LONGEST).curves if each.part == "choices"]
    named = {Choice(each.vectors, each.scale, each.keys) for each in choices}
    assert named == set(CHOICES) - {CHOSEN}
    assert {(each.rows, max(each.top_ns)) for each in choices} == {(128, 100), (16, 960)}
    near = next(each for each in choices if each.rows == 128)
    assert set(near.top_ns) >= {*range(1, 21), 32, 40, 64, 100}
    assert len(near.top_ns) < 60


def test_a_shorter_first_window():
    assert _parts(FULL, SHORTER) == {"paper": 1, "beyond": 1, "rules": 5}
    assert _one(FULL, SHORTER, "beyond").top_ns == (102, 128, 164, 205, 240)
    assert _parts(FULL, UnitKey(0, 64)) == {"paper": 1, "rules": 5}  # nothing beyond N = 100
    rules = [each for each in task(FULL, SHORTER).curves if each.part == "rules"]
    assert {each.top_ns for each in rules} == {(5,)}


def test_rules_are_put_on_the_chosen_one():
    rules = [each for each in task(FULL, LONGEST).curves if each.part == "rules"]
    assert [each.rule for each in rules] == [*RULES, *GUIDELINE_RULES]
    assert all(each.normalizer is not None for each in rules)
    assert {(each.vectors, each.scale, each.keys, each.rows) for each in rules} == {
        ("final", "unit", "all", 128)
    }


def test_a_further_window_is_for_the_bands():
    assert _parts(FULL, UnitKey(3, 1024)) == {
        "curves": 1,
        "off sink": 1,
        "windows": 1,
        "rules": MORE,
    }
    assert _parts(FULL, UnitKey(3, 256)) == {"windows": 1}
    assert _one(FULL, UnitKey(3, 256), "windows").top_ns == (5,)
    again = _one(FULL, UnitKey(3, 1024), "windows")
    assert again.rows == 128
    assert {1, 5, 10, 20, 100, 2, 4, 8, 16, 32, 64} <= set(again.top_ns)


def test_every_longest_window_is_scanned():
    for window in (0, 4):
        scanned = _one(FULL, UnitKey(window, 1024), "curves")
        assert (scanned.table, scanned.vectors, scanned.keys) == ("curves", "value", "visible")
        assert scanned.rows is None
        assert task(FULL, UnitKey(window, 1024)).judged
    assert not task(FULL, SHORTER).judged
    # The first request's vectors carry the measures that need no N.
    assert task(FULL, LONGEST).curves[0].part == "curves"


def test_probes_run_in_the_first_longest_window_vanishing_weights_in_all():
    probes = {probe.part: probe for probe in task(FULL, LONGEST).probes}
    # Algorithm 5 pays for itself alone: the other rules are booked with the other rules.
    tables = {
        "vanishing": "vanishing", "sensitivity": "sensitivity", "rules": "sensitivity",
        "points": "points", "coverage": "shared_tokens", "assumptions": "vector_sets",
    }  # fmt: skip
    assert {part: probe.table for part, probe in probes.items()} == tables
    for key in (SHORTER, UnitKey(1, 1024), UnitKey(2, 32)):
        assert [probe.part for probe in task(FULL, key).probes] == ["vanishing"]
    chosen = replace(FULL, choice=Choice("hidden", "raw", "visible"))
    kinds = {probe.part: probe.kinds for probe in task(chosen, LONGEST).probes}
    assert kinds["points"] == kinds["coverage"] == ("hidden",)
    assert set(task(chosen, UnitKey(1, 256)).kinds) == {"hidden"}


def test_choosing_looks_at_every_choice_alike_and_at_nothing_else():
    looking = replace(ReproduceSettings(), choosing=True)
    asked = task(looking, LONGEST).curves
    assert {Choice(each.vectors, each.scale, each.keys) for each in asked} == set(CHOICES)
    assert {(each.part, each.rule, each.rows, max(each.top_ns)) for each in asked} == {
        ("choices", "model", 128, 100), ("choices", "model", 16, 960),
    }  # fmt: skip
    assert len(asked) == 2 * len(CHOICES)
    assert task(looking, SHORTER).curves == task(looking, LONGEST).probes == ()
    assert not task(looking, LONGEST).judged


def test_before_a_choice_nothing_can_be_measured_in_full():
    with pytest.raises(InputError, match="no choice of vectors and keys has been made yet"):
        task(ReproduceSettings(), LONGEST)


def test_other_choices_may_have_been_looked_at_before():
    without = replace(FULL, others=False)
    parts = _parts(FULL, LONGEST)
    del parts["choices"]
    assert _parts(without, LONGEST) == parts


def test_the_guidelines_rules_are_measured_whatever_was_asked_for():
    for asked in ((), ("sparsemax",), ("softmax T=0.1", "ssmax")):
        for window in (0, 2):
            requests = task(replace(FULL, rules=asked), UnitKey(window, 1024)).curves
            rules = [each for each in requests if each.rule in GUIDELINE_RULES]
            assert {each.rule for each in rules} == set(GUIDELINE_RULES)
            assert all(16 in each.top_ns and each.rows == 128 for each in rules)
            assert len(rules) == MORE


def test_all_choices_are_measured_like_the_chosen_one():
    everything = replace(FULL, all_choices=True)
    parts = _parts(everything, LONGEST)
    others = len(CHOICES) - 1
    assert parts == {
        "curves": 1, "off sink": 1, "paper": 1, "choices": others, "beyond": others + 1,
        "rules": 5 * (others + 1) + MORE,
    }  # fmt: skip
    full = [each for each in task(everything, SHORTER).curves if each.part == "choices"]
    assert {each.rows for each in full} == {None}
    assert {each.top_ns for each in full} == {tuple(range(1, 101))}


def test_another_choice_takes_its_place():
    chosen = replace(FULL, choice=Choice("value", "raw", "visible"))
    paper = _one(chosen, LONGEST, "paper")
    assert (paper.vectors, paper.scale, paper.keys) == ("value", "raw", "visible")
    others = [each for each in task(chosen, LONGEST).curves if each.part == "choices"]
    assert any((each.vectors, each.scale, each.keys) == ("final", "unit", "all") for each in others)


def test_no_curve_is_asked_for_twice():
    """Two requests for the same rows of a table would be refused when the unit is written."""
    for settings in (FULL, quick(FULL), replace(FULL, all_choices=True)):
        for key in (LONGEST, SHORTER, UnitKey(1, 1024), UnitKey(1, 32)):
            asked = [
                (request.table, *request.choice.values(), n)
                for request in task(settings, key).curves
                for n in request.top_ns
            ]
            assert len(set(asked)) == len(asked)
            assert max(n for *_, n in asked) < key.length


def test_a_part_of_no_rows_is_left_out():
    few = replace(FULL, far_rows=0, choice_rows=0, choice_far_rows=0, rules=())
    assert _parts(few, LONGEST) == {"curves": 1, "off sink": 1, "paper": 1, "rules": MORE}
    assert _parts(replace(FULL, drawn_rows=0), UnitKey(1, 256)) == {}


def test_quick_has_the_same_parts_from_fewer_rows():
    fast = quick(FULL)
    assert fast.lengths == FULL.lengths
    assert _parts(fast, LONGEST).keys() == _parts(FULL, LONGEST).keys()
    paper = _one(fast, LONGEST, "paper")
    assert paper.rows == fast.paper_rows
    assert fast.paper_rows is not None
    assert 0 < fast.paper_rows < 128
    assert {1, 2, 4, 5, 8, 10, 16, 20, 32, 64, 100} <= set(paper.top_ns)
    assert len(paper.top_ns) < 60
    assert (fast.sensitivity_rows, len(fast.temperatures)) == (8, 13)
    for fewer, full in zip(vars(fast).items(), vars(FULL).items(), strict=True):
        if fewer[0].endswith("_rows") and full[1] is not None:
            assert fewer[1] <= full[1], fewer[0]


def test_rules_over_the_length_may_be_left_out():
    without = replace(FULL, rules_over_length=False)
    assert _parts(without, SHORTER) == {"paper": 1, "beyond": 1}
    assert _parts(without, LONGEST) == _parts(FULL, LONGEST)


@pytest.mark.parametrize(
    ("wrong", "line"),
    [
        ({"rules": ("ssmax", "hardmax")}, "there is no normalizer 'hardmax' (did you mean"),
        ({"rules": ("ssmax:s=fit",)}, "ssmax:s=fit: s needs a number: nothing is fitted here"),
        ({"rules": ("1.5-entmax", "entmax")}, "the same rule twice: entmax:alpha=1.5 and entmax"),
        (
            {"lengths": (4, 10)},
            "a window of 10 tokens is too short for the paper's figures: use more than 10",
        ),
        ({"lengths": (1,)}, "a window needs at least 2 tokens"),
        ({"windows": 0}, "windows 0 must be at least 1"),
        ({"precision": "half"}, "no precision named 'half'"),
    ],
)
def test_mistakes_are_refused_in_a_line(wrong, line):
    with pytest.raises(InputError) as error:
        ReproduceSettings(**wrong)
    assert str(error.value).startswith(line)
    assert "\n" not in str(error.value)


def test_what_identifies_a_run():
    assert ReproduceSettings(lengths=(11,)).length == 11
    assert "Algorithms 1 to 5" in EXPERIMENT.pseudocode
    kept = FULL.as_dict()
    assert ReproduceSettings().as_dict()["choice"] is None
    assert kept["choice"] == vars(CHOSEN)
    assert kept["temperatures"] == FULL.temperatures
    assert kept["paper_rows"] is None
