"""A training's page in a browser: one slider moves the map, the head and the lines."""

from pathlib import Path

import pytest
from selenium.webdriver.common.keys import Keys

from headgauge.report.page import page, write_page
from headgauge.training import TrainingLog
from report.page.reading import Reader
from report.page.sliding import position, slide
from training.logs import value, write_log


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("training")
    return write_page(folder / "page", page(TrainingLog.load(write_log(folder / "log"))))


@pytest.fixture
def training(reader: Reader, made: Path):
    reader.show(made)
    yield reader
    assert reader.complaints() == []


def cell(reader: Reader, number: int) -> tuple[str, str, str]:
    """What a cell of the map says, its letter, its colour."""
    return tuple(
        reader.run(
            "const it = document.querySelector(`.heat [data-cell='${arguments[0]}']`);"
            "const letter = it.querySelector('.letter');"
            "return [it.getAttribute('aria-label'), letter ? letter.textContent : '',"
            " it.querySelector('rect').getAttribute('fill')]",
            number,
        )
    )


def table(reader: Reader) -> dict[str, list[str]]:
    rows = reader.run(
        "return [...document.querySelectorAll('.head-panel tbody tr')]"
        ".map(row => [...row.cells].map(cell => cell.textContent))"
    )
    return {row[0]: row[1:] for row in rows}


def test_the_slider_moves_map_head_and_lines(training: Reader):
    assert training.text("#time-told") == "step 120"  # the newest first
    colours = set()
    for place, step, letter in ((0, 10, ""), (3, 40, "G"), (7, 80, ""), (11, 120, "")):
        slide(training, place)
        assert training.text("#time-told") == f"step {step}"
        said, seen, colour = cell(training, 3)
        assert f"Layer 1, head 0: Largest logit: {value('max_logit', step, 1, 0):.4g}" in said
        assert seen == letter
        colours.add(colour)
        for chart in ("#training", "#measures", "#own"):
            line = training.first(f"{chart} svg.chart .now")
            assert float(str(line.get_attribute("data-time"))) == step
        assert table(training)["Largest logit"][0] == f"{value('max_logit', step, 1, 1):.4g}"
    assert len(colours) > 1
    assert cell(training, 2)[0].endswith("no finite number")


def test_what_is_taken_now_and_then_is_shown_as_it_was_last(training: Reader):
    training.choose(training.one("#map-measure"), "qk_largest")
    slide(training, 6)
    assert "Taken last at step 20." in training.text(".map-legend")
    assert cell(training, 4)[0].endswith("Largest singular value of QK: 5")
    slide(training, 0)
    assert cell(training, 4)[0].endswith("no finite number")
    training.choose(training.one("#map-measure"), "max_logit")


def test_a_head_has_its_own_line(training: Reader):
    training.press(training.first(".heat [data-cell='1']"))
    assert training.text(".head-panel h3") == "Layer 0, head 1"
    training.one("#own svg.chart").send_keys(Keys.ARROW_RIGHT)
    assert f"{value('max_logit', 10, 0, 1):g}" in training.tooltip()
    assert "step = 10" in training.tooltip()


def test_an_alarm_of_the_list_leads_to_its_step_and_head(training: Reader):
    training.press(training.all("#alarms .link")[0])
    assert training.text("#time-told") == "step 40"
    assert training.text(".head-panel h3") == "Layer 1, head 0"
    assert "logit growth" in cell(training, 3)[0]


def test_it_plays_from_step_to_step(training: Reader):
    slide(training, 0)
    button = training.one("#play")
    button.click()
    training.wait(lambda: position(training) >= 1)
    button.click()
    held = position(training)
    assert held == int(held)
    assert training.text("#time-told") == f"step {10 * (int(held) + 1)}"


def test_a_phone_shows_all_of_it_and_every_control_has_a_name(reader: Reader, made: Path):
    reader.open(made, width=390, theme="dark")
    assert reader.run("return document.documentElement.scrollWidth") <= 390
    assert reader.nameless() == []
    assert reader.try_everything() > 20
    assert reader.complaints() == []


def test_one_step_needs_no_slider(reader: Reader, tmp_path: Path):
    reader.open(write_page(tmp_path / "page", page(TrainingLog.load(write_log(tmp_path, lines=1)))))
    assert reader.all("#time") == []
    assert "Entropy share" in cell(reader, 0)[0]
    assert reader.complaints() == []
