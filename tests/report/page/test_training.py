"""The page of a log: what stands on it, head by head."""

from pathlib import Path

import pytest

from headgauge.report.page import page
from headgauge.report.page.training import trained_part
from headgauge.report.training import measures
from headgauge.training import LogWriter, TrainingLog
from training.logs import HEADER, alarm, value, write_log

# Encoder and decoder by turns: on the map each kind has rows of its own.
MODULES = ("encoder.0.attn", "decoder.0.attn", "encoder.1.attn", "decoder.1.attn")


@pytest.fixture
def part(tmp_path: Path) -> dict:
    log = TrainingLog.load(write_log(tmp_path)).thinned()
    return trained_part(log, measures(log))


def test_heads_are_numbered_as_on_the_map(tmp_path: Path):
    layers = [{"module": module, "heads": 2, "kv_heads": 1} for module in MODULES]
    with LogWriter(tmp_path, HEADER | {"layers": layers}) as writer:
        told = [[10.0 * layer + head for head in range(2)] for layer in range(4)]
        raised = alarm(1, 1) | {"layer": 2}
        writer.write({"step": 1, "heads": {"max_logit": told}, "alarms": [raised]})
    log = TrainingLog.load(tmp_path).thinned()
    part = trained_part(log, measures(log))
    assert part["rows"] == ["0", "2", "1", "3"]
    assert part["links"] == ["L0H0", "L0H1", "L2H0", "L2H1", "L1H0", "L1H1", "L3H0", "L3H1"]
    assert part["measures"]["max_logit"]["last"] == [[0, 1, 20, 21, 10, 11, 30, 31]]
    assert part["marks"] == [[1, "logit growth", "raised", 3]]
    assert part["place"][3] == [1, 1]


def test_every_step_of_a_short_log_is_on_it(part: dict):
    assert part["steps"] == list(range(10, 130, 10))
    held = part["measures"]["max_logit"]
    assert held.keys() == {"last"}
    assert held["last"][3] == [
        *(value("max_logit", 40, 0, head) for head in range(3)),
        *(value("max_logit", 40, 1, head) for head in range(2)),
    ]
    assert held["last"][-1][2] is None
    assert part["measures"]["qk_largest"]["rare"]


def test_the_map_begins_with_what_the_alarm_speaks_of(part: dict):
    assert part["first"] == "max_logit"
    assert part["letters"] == {"logit growth": "G"}
    assert [row[0] for row in part["alarms"]["rows"]] == [[0, "40"], [1, "80"], [2, "90"]]


def test_a_long_log_has_its_extremes(tmp_path: Path):
    log = TrainingLog.load(write_log(tmp_path)).thinned(4)
    part = trained_part(log, measures(log))
    assert part["steps"] == [30, 60, 90, 120]
    held = part["measures"]["separability"]
    own = [value("separability", step, 0, 0) for step in (10, 20, 30)]
    assert [held[name][0][0] for name in ("low", "high", "last")] == [min(own), max(own), own[-1]]


def test_the_page_tells_what_it_stands_on(tmp_path: Path):
    made = page(TrainingLog.load(write_log(tmp_path, finished=False)))
    assert made.caption == "Small: 2 layers, 5 heads; steps 10 to 120, 12 of them logged"
    assert made.stands[-1] == "the log is not closed: its training goes on, or was broken off"
    (finding,) = (each for each in made.overview if each and each["kind"] == "finding")
    assert "logit growth 2 times, first at step 40 in L1H0" in finding["text"]
    assert "Still raised: L1H1 (logit growth)." in finding["text"]
    assert "The loss went from 4.456 to 2.272; its least was 2.272" in finding["text"]


def test_a_log_without_steps_or_measures_has_a_page(tmp_path: Path):
    with LogWriter(tmp_path / "a", HEADER) as writer:
        writer.write({"step": 1, "heads": {}})
    with LogWriter(tmp_path / "b", HEADER):
        pass
    for name, said in (("a", "The training told no loss."), ("b", "No step was logged yet.")):
        made = page(TrainingLog.load(tmp_path / name))
        assert any(each and said in each.get("text", "") for each in made.overview)
        section = made.sections[0]
        assert section is not None
        assert [each["kind"] for each in section["parts"]] == ["text", "text"]
