"""Values that nobody means: every one is taken, or refused in one line with exit code 2."""

from pathlib import Path
from typing import Any

import pytest
import typer

from headgauge.cli.app import app
from headgauge.cli.running import default_folder

VALUES = [
    *("", "nan", "-1", "[/red]", "\udcff\x1b[31m", "x" * 5000),
    *("1-1000000000000", str(10**30)),
]
# None of these is there, so that a value that is taken goes no further.
CALLS = {
    "scan": ["scan", "no/such/model", "--text", "no-such-text"],
    "reproduce": ["reproduce", "no/such/model", "--text", "no-such-text"],
    "remedy": ["remedy", "no/such/model", "--text", "no-such-text"],
    "validate": ["validate", "no/such/model", "--text", "no-such-text"],
    "simulate": ["simulate", "--device", "abacus"],
    "report": ["report", "no-such-run"],
    "claims": ["claims", "no-such-claim"],
}


def options() -> list[tuple[str, str]]:
    commands: Any = typer.main.get_command(app)
    return [
        (name, option.opts[0])
        for name in CALLS
        for option in commands.commands[name].params
        if option.param_type_name == "option" and not option.is_flag and option.name != "device"
    ]


@pytest.mark.parametrize(("command", "option"), options())
def test_an_option(
    cli: Any, command: str, option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.chdir(tmp_path)
    for value in VALUES:
        told = cli(*CALLS[command], option, value)
        one_line(told, f"{option} {value[:40]!r}")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("command", CALLS)
def test_an_argument(
    cli: Any, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.chdir(tmp_path)
    for value in VALUES[1:]:
        one_line(cli(command, value, *CALLS[command][2:]), repr(value[:40]))
    assert not list(tmp_path.iterdir())


def one_line(told: tuple[int, str, str], what: str) -> None:
    code, out, err = told
    lines = [line for line in err.splitlines() if not line.startswith("out    ")]
    assert (code, out, len(lines)) == (2, "", 1), f"{what}: {err}"
    assert lines[0].startswith("headgauge: "), what
    assert len(lines[0]) < 1100, what
    assert "\x1b" not in err, what


def test_a_folder_can_be_made_of_any_names(tmp_path: Path) -> None:
    names = "a/" + "b" * 255, "\x1b[31m\udcff" + "é" * 255
    place = tmp_path / default_folder("scan", {}, *names)
    place.mkdir(parents=True)
    assert place.name.startswith("scan-a--bbb")
