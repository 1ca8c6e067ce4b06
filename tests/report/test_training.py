"""Figures of a log, described."""

import math
from pathlib import Path

import numpy as np
import pytest

from headgauge.registry.measures import MEASURES
from headgauge.registry.training import ALARMS, TRAINED_ORDER
from headgauge.report import training
from headgauge.report.figure import HeatMap, Panel
from headgauge.runs.training_schema import HEAD_NUMBERS
from headgauge.training import LogWriter, TrainingLog
from headgauge.training.log.thinning import Thinned
from training.logs import HEADER, loss, record, value, write_log


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Thinned:
    return TrainingLog.load(write_log(tmp_path_factory.mktemp("log"), loss=math.nan)).thinned()


def panels(figure) -> dict[str, Panel]:
    return {panel.title: panel for panel in figure.panels if isinstance(panel, Panel)}


def test_every_number_of_a_log_has_words_and_a_place():
    assert sorted(TRAINED_ORDER) == sorted(HEAD_NUMBERS)
    assert set(HEAD_NUMBERS) <= set(MEASURES)
    looks = [each.look for each in ALARMS.values()]
    assert len({look.colour for look in looks}) == len({look.marker for look in looks}) == 4
    assert len({each.letter for each in ALARMS.values()}) == 4


def test_the_loss_with_its_alarms_and_where_it_is_not_finite(log: Thinned):
    figure = training.loss_figure(log, "run")
    told = panels(figure)
    (line,) = told["Loss"].series
    assert line.x == list(range(10, 130, 10))
    assert line.y == [*(loss(step) for step in range(10, 120, 10)), None]
    assert line.low is None
    assert [mark.values for mark in told["Loss"].marks] == [(120.0, 120.0), (40,)]
    (points,) = told["Alarms: filled raised, hollow cleared"].series
    assert (points.x, points.hollow) == ([40, 80, 90], [False, True, False])
    assert "Shaded: the loss is not finite." in [each.text for each in figure.caption]


def test_measures_over_steps_are_those_of_all_heads(log: Thinned):
    figure = training.measures_figure(log, "run")
    told = panels(figure)
    assert list(told) == [
        *("Entropy share", "Largest logit", "Separability N_s/N"),
        *("Clipped to", "Largest singular value of QK"),
    ]
    lines = {each.name: each.y for each in told["Separability N_s/N"].series}
    assert lines["minimum"][0] == value("separability", 10, 0, 0)
    assert lines["maximum"][0] == value("separability", 10, 1, 1)
    assert lines["median"][0] == value("separability", 10, 0, 2)
    said = [each.text for each in figure.caption]
    assert said == ["Heads that have no finite number are left out."]


def test_the_map_has_every_head_as_it_was_last_seen(log: Thinned):
    figure = training.heads_figure(log, "run")
    maps = {panel.measure: panel for panel in figure.panels if isinstance(panel, HeatMap)}
    assert maps["max_logit"].values[0][2] is None
    assert maps["max_logit"].values[1][1] == value("max_logit", 120, 1, 1)
    # Not taken at the last step: as it was before.
    assert maps["entropy_share"].values[0][1] == value("entropy_share", 110, 0, 1)
    assert maps["entropy_share"].absent == [(1, 2)]


def test_a_long_log_is_drawn_with_bands(tmp_path: Path):
    log = TrainingLog.load(write_log(tmp_path)).thinned(4)
    figure = training.loss_figure(log, "run")
    line, largest = panels(figure)["Loss"].series
    assert largest.y == line.high
    assert line.low == [loss(step) for step in (30, 60, 90, 120)]
    assert line.high == [loss(step) for step in (10, 40, 70, 100)]
    assert figure.caption[0].text == "Band: smallest and largest of 3 lines."
    own = log.of_heads("max_logit")
    drawn = panels(training.measures_figure(log, ""))["Largest logit"]
    lines = {each.name: each.y for each in drawn.series}
    finite = np.where(np.isfinite(own.high), own.high, -1)
    assert lines["maximum"] == finite.max(1).tolist()


def test_of_what_was_not_logged_there_is_no_figure(tmp_path: Path):
    with LogWriter(tmp_path / "a", HEADER) as writer:
        writer.write(record(1) | {"heads": {}})
    log = TrainingLog.load(tmp_path / "a").thinned()
    assert list(training.training_figures(log, "")) == ["training"]
    LogWriter(tmp_path / "b", HEADER).close()
    assert not training.training_figures(TrainingLog.load(tmp_path / "b").thinned(), "")
