"""`headgauge watch` and `report` on a training's log, finished, growing or broken."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import headgauge
from headgauge.training import LogWriter, TrainingLog
from training.logs import HEADER, record, value, write_log

POSIX = pytest.mark.skipif(os.name != "posix", reason="a terminal as on POSIX")


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_the_present_state_and_an_end(cli: Any, tmp_path: Path) -> None:
    write_log(tmp_path, finished=False)
    code, out, err = cli("watch", str(tmp_path), "--once")
    assert (code, err) == (0, "")
    assert out.startswith("Small: step 120, loss 2.272")
    assert "Largest logit (q·k·scale" in out  # what the alarm speaks of
    before = files(tmp_path)
    code, out, _ = cli("watch", str(tmp_path), "--measure", "separability")  # no terminal: once
    assert code == 0
    assert "Separability N_s/N (share of the top N" in out
    assert files(tmp_path) == before


def test_the_state_as_json(cli: Any, tmp_path: Path) -> None:
    write_log(tmp_path, loss=float("nan"))
    code, out, _ = cli("watch", str(tmp_path), "--json")
    found = json.loads(out)
    assert (code, found["step"], found["loss"], found["closed"]) == (0, 120, "nan", True)
    assert [(each["layer"], each["head"]) for each in found["alarms"]] == [(1, 1)]
    assert found["raised"] == {"logit growth": 2}
    assert (found["measure"], found["heads"][0][2]) == ("max_logit", "inf")
    assert found["heads"][1] == [value("max_logit", 120, 1, head) for head in range(2)]
    assert found["measures"]["separability"]["maximum"] == value("separability", 120, 1, 1)
    LogWriter(tmp_path / "empty", HEADER).close()
    code, out, _ = cli("watch", str(tmp_path / "empty"), "--json")
    assert (code, json.loads(out)["step"]) == (0, None)


@pytest.mark.parametrize("command", ["watch", "report", "export"])
def test_a_broken_log_is_one_line_and_nothing_is_written(
    cli: Any, tmp_path: Path, command: str
) -> None:
    write_log(tmp_path)
    path = tmp_path / "log.jsonl"
    text = path.read_text(encoding="utf-8")
    for broken, said in (
        (text.replace('"step":50', '"step":'), "damaged in line 6: it is no JSON object"),
        (text.replace('"format":1', '"format":7'), "has format 7"),
        (text[text.index("\n") + 1 :], "no header of a training log"),
    ):
        path.write_text(broken, encoding="utf-8")
        before = files(tmp_path)
        code, out, err = cli(command, str(tmp_path))
        said = "is a training's log, no scan" if command == "export" else said
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert said in err
        assert files(tmp_path) == before


def test_mistakes_are_one_line(cli: Any, tmp_path: Path) -> None:
    for arguments, said in (
        (["watch", str(tmp_path / "no")], "is no training log: there is no such folder"),
        (["watch", str(tmp_path)], "is no training log: it has no log.jsonl"),
        (["watch", str(write_log(tmp_path / "log")), "--measure", "mood"], "no measure named"),
        (["report", str(tmp_path / "log"), "--markdown"], "has no tables for Markdown"),
    ):
        code, out, err = cli(*arguments)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert said in err


def test_the_page_and_its_figures(cli: Any, tmp_path: Path) -> None:
    write_log(tmp_path)
    code, out, _ = cli("report", str(tmp_path), "--quiet")
    assert (code, out.splitlines()[0]) == (0, f"3 figures in {tmp_path / 'figures'}")
    drawn = {path.name for path in (tmp_path / "figures").iterdir()}
    assert {"training.png", "measures.svg", "heads.png"} <= drawn
    log = headgauge.read_run(tmp_path)
    assert isinstance(log, TrainingLog)
    assert "5 heads; steps 10 to 120" in str(log._repr_html_())
    changed = tmp_path / "t.toml"
    changed.write_text("")
    code, _, err = cli("report", str(tmp_path), "--thresholds", str(changed))
    assert (code, "a training log has no verdicts" in err) == (2, True)
    with pytest.raises(ValueError, match="a training log has no figure of a single head"):
        headgauge.plot(log, 0, 1)


class Terminal:
    """`headgauge watch` in a terminal of its own."""

    def __init__(self, folder: Path):
        import pty

        self.mine, other = pty.openpty()
        code = (
            "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
            "from headgauge.__main__ import main; main()"
        )
        known = os.environ | {"TERM": "xterm-256color", "COLUMNS": "80", "LINES": "40"}
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, "watch", str(folder)],
            stdout=other,
            stderr=subprocess.PIPE,
            env=known,
        )
        os.close(other)
        self.text = ""

    def until(self, said: str) -> None:
        end = time.monotonic() + 60
        while said not in self.text:
            assert time.monotonic() < end, self.text
            self.text += os.read(self.mine, 65536).decode(errors="replace")

    def ended(self) -> tuple[int, str]:
        err = self.process.communicate(timeout=60)[1].decode()
        os.close(self.mine)
        return self.process.returncode, err


@POSIX
def test_it_follows_a_log_until_that_is_closed_or_it_is_interrupted(tmp_path: Path) -> None:
    writer = LogWriter(tmp_path, HEADER)
    writer.write(record(10))
    one, two = Terminal(tmp_path), Terminal(tmp_path)
    for each in (one, two):
        each.until("step 10, loss")
    writer.write(record(20))
    for each in (one, two):
        each.until("step 20, loss")
    one.process.send_signal(signal.SIGINT)
    code, err = one.ended()
    assert (code, err.splitlines()[-1]) == (
        130,
        "headgauge: interrupted; repeat the command to start again",
    )
    writer.close()
    two.until("is closed")
    assert two.ended() == (0, "")


def test_watching_needs_no_torch(tmp_path: Path) -> None:
    code = f"""
import sys
from headgauge.cli.app import run
assert run(["watch", {str(write_log(tmp_path))!r}, "--once"]) == 0
print({{"torch", "transformers", "matplotlib"}} & set(sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "set()"
