"""The commands whose tables are their own: at 60 columns nothing is cut."""

import re
from typing import Any

import pytest


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
