import io
import json

import pytest
from rich.console import Console
from rich.table import Table

from headgauge.cli import output


@pytest.mark.parametrize(
    ("terminal", "quiet", "drawn"),
    [(True, False, True), (False, False, False), (True, True, False)],
)
def test_bars_are_drawn_on_a_terminal_alone_and_quiet_beats_it(terminal, quiet, drawn):
    stream = io.StringIO()
    notes = Console(file=stream, force_terminal=terminal, quiet=quiet, width=80)
    with output.share_bar("letters", notes) as progress:
        progress(0.5)
    with output.part_bars(notes) as report:
        report("words", 0.5)
        report("lines", 0.5)
    for label in ("letters", "words", "lines"):
        assert (label in stream.getvalue()) is drawn
    assert drawn or stream.getvalue() == ""


def test_json_keeps_greek_letters(capsys):
    output.print_json({"α": [1.5, None]})
    assert capsys.readouterr().out == '{\n  "α": [\n    1.5,\n    null\n  ]\n}\n'


@pytest.mark.parametrize("name", ["[/]", "[/red]", "[bold]x", ":bug:", "x\x1b[31m\x9b2J\x07\udcff"])
def test_names_are_printed_as_they_are_and_a_terminal_obeys_none(capsys, monkeypatch, name):
    shown = "x[31m2J\ufffd" if name.startswith("x") else name
    table = Table(name, title=name)
    table.add_row(name)
    output.stdout().print(name, table)
    out = capsys.readouterr().out
    assert out.count(shown) == 4
    assert not set("\x1b\x9b\x07") & set(out)
    monkeypatch.setenv("FORCE_COLOR", "1")
    with output.stderr(quiet=False).status(name):
        pass
    assert shown in capsys.readouterr().err


def test_json_has_no_control_characters_either(capsys):
    output.print_json("x\x1b\x7f\x9b")
    assert capsys.readouterr().out == '"x\\u001b\\u007f\\u009b"\n'


def test_json_of_a_name_that_is_no_utf_8(capsys):
    output.print_json("α\udcff")
    assert json.loads(capsys.readouterr().out) == "α\udcff"
