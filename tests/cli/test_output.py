import io

from rich.console import Console

from headgauge.cli import output


def test_progress_passes_items_through_and_is_silent_without_a_terminal():
    stream = io.StringIO()
    notes = Console(file=stream, force_terminal=False)
    assert list(output.progress(iter("abc"), 3, "letters", notes)) == ["a", "b", "c"]
    assert stream.getvalue() == ""


def test_progress_draws_on_a_terminal():
    stream = io.StringIO()
    notes = Console(file=stream, force_terminal=True, width=80)
    assert list(output.progress(iter("abc"), 3, "letters", notes)) == ["a", "b", "c"]
    assert "letters" in stream.getvalue()


def test_quiet_beats_the_terminal():
    stream = io.StringIO()
    notes = Console(file=stream, force_terminal=True, quiet=True)
    assert list(output.progress(iter("ab"), 2, "letters", notes)) == ["a", "b"]
    assert stream.getvalue() == ""


def test_json_keeps_greek_letters(capsys):
    output.print_json({"α": [1.5, None]})
    assert capsys.readouterr().out == '{\n  "α": [\n    1.5,\n    null\n  ]\n}\n'
