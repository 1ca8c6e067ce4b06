"""The command as a real process: what its signals and streams do, what it imports."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

POSIX = pytest.mark.skipif(os.name != "posix", reason="signals and shells as on POSIX")
BEGIN = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # however the tests were started
from pathlib import Path
from headgauge.cli import process
"""
INTERRUPTED = (130, "", "headgauge: interrupted; repeat the command to start again\n")


def start(code: str, **options: Any) -> subprocess.Popen[str]:
    """A process that runs this body of `run()` as a command."""
    body = "\n    ".join(code.strip().splitlines())
    script = f"{BEGIN}\ndef run():\n    {body}\n    return 0\nprocess.main(run)"
    script = script.encode("ascii", "backslashreplace").decode()  # read under any locale
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
    return subprocess.Popen([sys.executable, "-c", script], text=True, **pipes)


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


def headgauge(shell: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A line of bash in which `headgauge` is the command."""
    line = f'headgauge() {{ "{sys.executable}" -m headgauge "$@"; }}; set -o pipefail; {shell}'
    known = os.environ | environment
    return subprocess.run(["bash", "-c", line], capture_output=True, text=True, env=known)


def test_nothing_heavy_is_imported_before_it_is_needed():
    code = """
import sys
import headgauge.__main__
assert not {"typer", "rich", "pathlib"} & set(sys.modules)
from headgauge.cli.app import run
commands = ["scan", "ablate", "validate", "remedy", "reproduce", "simulate", "report", "export"]
commands += ["watch", "claims", "normalizers", "cache"]
codes = [run([]), run(["--version"]), run(["--help"])]
codes += [run([command, "--help"]) for command in commands]
codes += [run([command, "--nonsense"]) for command in commands]
assert codes == [2] + [0] * (2 + len(commands)) + [2] * len(commands)
print({"torch", "transformers", "polars", "matplotlib", "numba", "scipy"} & set(sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "set()"


@POSIX
@pytest.mark.parametrize(
    ("number", "said", "code"),
    [(signal.SIGINT, "interrupted", 130), (signal.SIGTERM, "ended by SIGTERM", 143)],
)
def test_a_signal_ends_it_in_one_line(tmp_path: Path, number: int, said: str, code: int):
    process = start(f"process.works_in(Path({str(tmp_path)!r})); print(1, flush=True)\n"
                    "time.sleep(60)")  # fmt: skip
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(number)
    told = f"headgauge: {said}; repeat the command to go on in {tmp_path}\n"
    assert ended(process) == (code, "", told)


@POSIX
def test_an_import_that_is_interrupted_and_says_it_in_its_own_way():
    process = start("""
print(1, flush=True)
try:
    time.sleep(60)
except BaseException:
    raise ImportError("could not be imported")
""")
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    assert ended(process) == INTERRUPTED


@POSIX
def test_once_more_is_at_once():
    process = start("""
try:
    print(1, flush=True)
    time.sleep(60)
finally:
    print(2, flush=True)
    time.sleep(60)
""")
    assert process.stdout is not None
    for _ in range(2):
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
    assert ended(process) == INTERRUPTED


@POSIX
def test_one_that_does_not_end_is_ended():
    process = start("""
process._PATIENCE = 0.2
print(1, flush=True)
while True:
    try:
        time.sleep(60)
    except BaseException:
        pass
""")
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    told = "headgauge: ended by SIGTERM; repeat the command to start again\n"
    assert ended(process) == (143, "", told)


@POSIX
def test_a_signal_that_is_ignored_stays_ignored():
    process = start("import os; os.kill(os.getpid(), signal.SIGTERM)",
                    preexec_fn=lambda: signal.signal(signal.SIGTERM, signal.SIG_IGN))  # fmt: skip
    assert ended(process) == (0, "", "")


PRINTED = {
    "table": "from headgauge.cli.output import stdout; stdout().print('α β\\n' * 2000)",
    "JSON": "from headgauge.cli.output import print_json; print_json(['α β'] * 2000)",
    "little": "print('α β')",
}


@POSIX
@pytest.mark.parametrize("code", PRINTED.values(), ids=PRINTED.keys())
def test_a_reader_that_has_enough_is_no_error(code: str):
    process = start(f"sys.stdin.read(); {code}", stdin=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.close()
    process.stdout = None
    assert ended(process) == (0, None, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("code", PRINTED.values(), ids=PRINTED.keys())
def test_a_full_disk_behind_stdout(code: str):
    with open("/dev/full", "w") as full:
        found = ended(start(code, stdout=full))
    assert found == (2, None, "headgauge: cannot write to stdout: No space left on device\n")


@POSIX
def test_streams_that_are_closed():
    done = headgauge("headgauge --version >&-")
    assert done.returncode == 2
    assert done.stderr == "headgauge: stdout is closed: give the result a place to go\n"
    done = headgauge("headgauge --version <&- 2>&- && headgauge scn 2>&-; echo $?")
    assert done.stdout.splitlines()[1:] == ["2"]
    assert done.stderr == ""


@POSIX
def test_notes_that_nobody_reads_stop_nothing():
    process = start("""
from headgauge.cli.output import stderr
sys.stdin.read()
for _ in range(3): stderr(False).print("a note")
print("the result")
""", stdin=subprocess.PIPE)  # fmt: skip
    assert process.stderr is not None
    process.stderr.close()
    process.stderr = None
    assert ended(process) == (0, "the result\n", None)


@POSIX
@pytest.mark.parametrize(
    "environment",
    [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}],
    ids=["told", "locale"],
)
def test_a_terminal_that_knows_ascii_alone(environment: dict[str, str]):
    process = start("""
from rich.table import Table
from headgauge.cli.output import print_json, stderr, stdout
table = Table("β"); table.add_row("5 × 5")
stdout().print(table); stderr(False).print(table)
print_json({"β": 1})
""", env=os.environ | environment)  # fmt: skip
    code, out, err = ended(process)
    assert (code, err.splitlines()[0]) == (0, "+-------+")
    assert out.splitlines()[:4] == ["+-------+", "| ?     |", "|-------|", "| 5 ? 5 |"]
    assert json.loads(out[out.index("{") :]) == {"β": 1}
