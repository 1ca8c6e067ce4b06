import subprocess
import sys

import pytest

import headgauge
from headgauge.cli import app


def test_version(cli):
    assert cli("--version") == (0, f"headgauge {headgauge.__version__}\n", "")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["claims", "99"], "there is no claim '99'"),
        (["claims", "11", "12"], "unexpected extra argument"),
        (["claims", "--colour"], "No such option"),
        (["norm"], "No such command 'norm'"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(cli, arguments, line):
    code, out, err = cli(*arguments)
    assert code == 2
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("headgauge: ")
    assert line.lower() in err.lower()


@pytest.mark.parametrize("arguments", [["--help"], ["claims", "-h"], ["normalizers", "--help"]])
def test_help(cli, arguments):
    code, out, _ = cli(*arguments)
    assert code == 0
    assert "Usage: headgauge" in out


def test_no_arguments_show_the_commands(cli):
    code, out, err = cli()
    assert code == 2
    assert "claims" in out + err
    assert "normalizers" in out + err


def test_an_interrupt_is_no_traceback(cli, monkeypatch):
    def interrupted(*_args, **_kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(app.claims.claims, "run", interrupted)
    code, out, err = cli("claims")
    assert code == 130
    assert "Traceback" not in out + err


def test_a_closed_pipe_is_no_traceback():
    command = f"{sys.executable} -m headgauge normalizers --json --quiet | head -n 1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
    assert done.stdout == "[\n"
    assert done.stderr == ""
