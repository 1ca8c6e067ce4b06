"""The commands whose tables are their own: at 60 columns nothing is cut."""

import re
from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from headgauge import claims
from headgauge.claims import Outcome
from headgauge.cli.claims import _print_one, _print_table


def test_no_statement_of_the_ledger_is_cut() -> None:
    outcomes = [Outcome(claim, None, 0.0) for claim in claims.CLAIMS]
    found = []
    for width in (300, 60):
        console = Console(width=width, record=True, file=StringIO())
        _print_table(console, outcomes)
        for outcome in outcomes:
            _print_one(console, outcome)
        found.append(console.export_text().count("…"))  # some statements have one of their own
    assert found[0] == found[1]


@pytest.mark.parametrize("asked", [["normalizers"], ["claims", "D4"], ["cache"]])
def test_a_narrow_terminal_loses_nothing(
    cli: Any, monkeypatch: pytest.MonkeyPatch, asked: list[str]
) -> None:
    found = {}
    for width in (300, 60):
        monkeypatch.setenv("COLUMNS", str(width))
        code, out, err = cli(*asked, "--quiet") if asked[0] != "cache" else cli(*asked)
        assert code == 0, err
        assert "…" not in out
        found[width] = sorted(re.findall(r"\d+", re.sub(r"[\s│]", "", out)))
    assert len("".join(found[60])) == len("".join(found[300]))
