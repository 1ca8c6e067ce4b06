import math

import pytest

from headgauge.errors import InputError
from headgauge.registry import training as words
from headgauge.training import ALARMS, Line
from headgauge.training.alarms import Alarms
from headgauge.training.buffers import Rows


def told(alarms: Alarms, measure: str, numbers: list[float | None]) -> list[str]:
    """What changes over logged steps, for one head."""
    found = []
    for step, given in enumerate(numbers, 1):
        number = None if given is None else float(given)
        found += [f"{each.step} {each.state}" for each in alarms.look(step, {measure: [[number]]})]
    return found


def test_an_alarm_is_told_once_however_a_number_trembles_at_its_line():
    numbers: list[float | None] = [90, 101, 99, 101, 85, 120, None, 79, 101]
    assert told(Alarms(), "max_logit", numbers) == ["2 raised", "8 cleared", "9 raised"]
    assert told(Alarms(), "entropy_share", [0.5, 0.019, 0.03, 0.01, 0.06]) == [
        "2 raised", "5 cleared",
    ]  # fmt: skip


def test_a_head_that_computes_no_number_has_grown():
    (found,) = Alarms().look(3, {"max_logit": [[1.0], [2.0, math.inf]]})
    assert (found.alarm, found.layer, found.head, found.state) == ("logit growth", 1, 1, "raised")
    assert str(found) == "step 3: logit growth raised in layer 1, head 1 (inf)"


def test_a_dead_head_is_one_beside_others():
    alarms = Alarms()
    assert not alarms.look(1, {"output_norm": [[1e-9, 1e-9, 1e-9]]})  # all alike
    assert not alarms.look(1, {"output_norm": [[0.0, 0.0, 0.0]]})
    (found,) = alarms.look(2, {"output_norm": [[1.0, 0.001, 2.0]]})
    assert (found.alarm, found.head, found.value) == ("dead head", 1, 0.001)


@pytest.mark.parametrize("name", ALARMS)
def test_each_default_says_why_and_has_its_words_and_room_for_hysteresis(name):
    line = ALARMS[name]
    assert len(line.why) > 30
    assert line.raised != line.cleared
    assert name in words.ALARMS
    inside, outside = (1e9, -1e9) if line.above else (-1e9, 1e9)
    assert line.beyond(inside, line.raised)
    assert not line.beyond(outside, line.raised)


def test_one_function_for_all_or_one_for_each():
    every, grown = [], []
    numbers: dict[str, Rows] = {"max_logit": [[500.0]], "largest_weight": [[0.99]]}
    alarms = Alarms(None, every.append)
    alarms.tell(alarms.look(1, numbers))
    assert {each.alarm for each in every} == {"logit growth", "saturation"}
    alarms = Alarms(None, {"logit growth": grown.append})
    alarms.tell(alarms.look(1, numbers))
    assert [each.alarm for each in grown] == ["logit growth"]


def test_lines_can_be_moved_taken_away_and_added():
    flat = Line("entropy_share", 0.99, 0.9, "nobody looks anywhere")
    alarms = Alarms({"saturation": None, "logit growth": (50.0, 40.0), "flat": flat})
    assert "saturation" not in alarms.lines
    assert told(alarms, "max_logit", [45, 60, 45, 30]) == ["2 raised", "4 cleared"]
    assert told(alarms, "entropy_share", [0.95, 0.999, 0.95, 0.8]) == ["2 raised", "4 cleared"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"alarms": {"fire": (1, 2)}}, "no alarm named 'fire'; there are entropy collapse"),
        ({"alarms": {"logit growth": 3}}, r"needs \(raised, cleared\)"),
        ({"alarms": {"logit growth": (40, 50)}}, "raised above where it is cleared"),
        ({"alarms": {"entropy collapse": (0.5, 0.1)}}, "raised below where"),
        ({"on_alarm": {"fire": print}}, "no alarm named 'fire'"),
        ({"on_alarm": {"saturation": 3}}, "needs a function, got 3"),
    ],
)
def test_wrong_lines_are_told(given, said, unchecked):
    with pytest.raises(InputError, match=said):
        Alarms(given.get("alarms"), given.get("on_alarm"))
