"""What a terminal shows of a log: nothing cut at any width, alarms without colours too."""

import math
import re
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from headgauge.report import watching
from headgauge.report.page.document import asset
from headgauge.report.watching import Watched, sparkline
from headgauge.training import LogWriter
from headgauge.training.log.following import Followed
from training.logs import HEADER, alarm, record, write_log


def shown(folder: Path, width: int, measure: str = "max_logit", **options) -> str:
    console = Console(width=width, file=StringIO(), record=True, **options)
    console.print(Watched(Followed(folder).look(), measure, 3.0))
    return console.export_text(styles="force_terminal" in options)


def test_the_present_state_is_told(tmp_path: Path):
    out = shown(write_log(tmp_path, loss=math.nan), 100)
    lines = out.splitlines()
    assert lines[0] == "Small: step 120, loss nan"
    assert lines[1].split("; ") == [
        *("2 layers, 5 heads", "logged every 10 steps"),
        *("watching takes 1 % of the time", "the log is closed"),
    ]
    assert lines[2] == "G logit growth in L1H1: 190 at step 90"
    assert lines[3].startswith("loss ")
    assert re.search(r"█[▁-█]*▁!  *nan \(2\.332 to 4\.456\)", lines[3])
    assert "largest logit           " in out
    title = "Largest logit (q·k·scale, largest of all rows), layer ↓ head →"
    rows = lines[lines.index(title) + 2 :]
    assert rows[0].startswith("0 ")
    assert rows[0][8] == "×"  # the head that has no finite number
    assert rows[1] == "1 ███G██"  # the alarm's letter on a shade
    assert lines[-1] == "step 20: logging every 10 steps from here"


@pytest.mark.parametrize("width", [30, 60, 200])
def test_no_number_is_cut_at_any_width(tmp_path: Path, width: int):
    out = shown(write_log(tmp_path), width, "qk_largest")
    assert "…" not in out
    assert max(map(len, out.splitlines())) <= width
    joined = re.sub(r"[\s▁-█]+", "", out)
    for told in ("loss2.272(2.272to4.456)", "median3.00(3.00to3.00)", "190atstep90"):
        assert told in joined


def test_heads_that_have_no_room_stand_below(tmp_path: Path):
    wide = HEADER | {"layers": [{"module": "a", "heads": 50, "kv_heads": 1}] * 2}
    with LogWriter(tmp_path, wide) as writer:
        writer.write({"step": 1, "heads": {"max_logit": [list(range(50))] * 2}})
    lines = shown(tmp_path, 30).splitlines()
    assert {"  0  3  6  9  12 15 18 21 24", "  28 31 34 37 40 43 46"} < set(lines)
    cells = [line[2:] for line in lines if re.match(r"[01] [·░▒▓█]+$", line)]
    assert [len(line) for line in cells] == [28, 28, 22, 22]


def test_colours_are_the_pages_and_come_with_letters(tmp_path: Path):
    assert " ".join(watching.VIRIDIS) in asset("colours.js")
    out = shown(write_log(tmp_path), 80, color_system="truecolor", force_terminal=True)
    assert "G" in out
    assert "\x1b[" in out
    assert not set("░▒▓") & set(out)


def test_a_spike_and_what_is_not_finite_are_seen_in_a_short_line():
    values = np.zeros(1000)
    values[500] = 9.0
    assert sparkline(values, 10, 2) == "▁▁▁▁▁█▁▁▁▁"
    assert sparkline(-values, 10, 0) == "█████▁████"
    values[20], values[900:] = math.inf, math.nan
    assert sparkline(values, 10, 2) == "!▁▁▁▁█▁▁▁ "
    assert sparkline(np.array([1.0]), 10) == "▅"


def test_alarms_have_a_line_for_each_kind_and_their_letters_on_the_map(tmp_path: Path):
    with LogWriter(tmp_path / "many", HEADER) as writer:
        names = ("saturation", "entropy collapse", "of mine")
        writer.write(record(1, alarms=[alarm(1, 0, name=name) for name in names]))
        writer.write(record(2, alarms=[alarm(2, 1, name="saturation")]))
    lines = shown(tmp_path / "many", 80).splitlines()
    assert "S saturation in 2 heads, the last L1H1: 102 at step 2" in lines
    assert "! of mine in L1H0: 101 at step 1" in lines
    assert "1 E!SS██" in lines
    with LogWriter(tmp_path / "none", HEADER) as writer:
        writer.write(record(1))
        assert "no alarm\n" in shown(tmp_path / "none", 80)
        writer.write(record(2, alarms=[alarm(2, 0)]))
        writer.write(record(3, alarms=[alarm(3, 0, "cleared")]))
        out = shown(tmp_path / "none", 120)
    assert "no alarm now (1 so far)" in out
    assert "last written 3 s ago" in out


def test_before_the_first_step_there_is_nothing_to_draw(tmp_path: Path):
    LogWriter(tmp_path, HEADER).close(finished=False)
    assert shown(tmp_path, 80) == "Small: no step was logged yet\n"
    assert "not logged" in shown(write_log(tmp_path / "b"), 80, "entropy")
