"""The limits that decide a word stand in one file, each with its reason."""

import ast
import inspect
import re
from pathlib import Path
from typing import Any

from headgauge import paper
from headgauge.paper import limits, verdicts
from headgauge.paper.verdicts import CLAIMS
from headgauge.registry import published

FOLDER = Path(paper.__file__).parent
LINES = (FOLDER / "limits.py").read_text(encoding="utf-8").splitlines()
NAMES = [name for name in vars(limits) if name.isupper()]

# What a judge may say in numbers: counting, logarithms, the paper's own N and the middle of things.
PLAIN = {0, 1, 2, 3, 5, 10, 16, 20, 100, -1, 0.5, 0.8, 1e3, 1e-6, 0.005, 256}


def _numbers(path: Path) -> set[Any]:
    """Numbers in expressions; those in a format, such as .2f, are none."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and type(node.value) in (int, float)
    }


def test_no_judge_has_a_limit_of_its_own():
    for path in (FOLDER / "evidence.py", *(FOLDER / "verdicts").glob("*.py")):
        assert _numbers(path) <= PLAIN, path.stem


def test_nor_has_what_they_look_at():
    """The paper's shares, bands and number of heads are named in one place."""
    stray = {0.03, 0.06, 0.07, 0.70, 0.85, 144, 256, 1e-6, 64}
    for name in ("choice_table", "assumptions", "fig2c_critical", "discussion"):
        assert not _numbers(FOLDER / f"{name}.py") & stray, name


def test_every_limit_is_used_and_has_a_reason():
    sources = [path.read_text(encoding="utf-8") for path in FOLDER.rglob("*.py")]
    for name in NAMES:
        assert any(f"limits.{name}" in source for source in sources), name
        (at,) = (
            number for number, line in enumerate(LINES)
            if re.match(rf"(\w+, )?{name}\b(, \w+)? = ", line)
        )  # fmt: skip
        above = LINES[at - 1].startswith("#") and len(LINES[at - 1]) > 20
        assert "  # " in LINES[at] or above, name


def test_the_papers_own_numbers():
    assert published.PLATEAU == (0.70, 0.85)
    assert limits.CRITICAL[0] <= published.CRITICAL_SHARE == 0.06 <= limits.CRITICAL[1]
    assert (published.LEVEL, published.GPT2_HEADS, published.SETTLED) == (0.01, 144, 16)
    assert (published.COLD, published.WARM, published.DROP) == (0.1, 1.0, 100.0)
    assert limits.SUB_LINEAR == 1.0
    assert limits.COVERED == 0.985


def test_every_judge_asks_for_rows_or_measures_all_of_them():
    """All but what has no rows: vectors of a window, and a time."""
    without = {"vectors_isotropic", "tokens_apart", "run_time"}
    for claim in CLAIMS:
        look = inspect.unwrap(claim.look)
        asks = re.search(r"enough\(|limits\.\w*ROWS", inspect.getsource(look)) is not None
        assert asks == (look.__name__ not in without), claim.claim


def test_the_words_come_from_the_helpers_alone():
    """No judge hands out a word past `word`, but for what cannot be tested."""
    for path in Path(verdicts.__file__).parent.glob("*.py"):
        if path.stem == "__init__":
            continue
        source = path.read_text(encoding="utf-8")
        for found in re.findall(r"verdict=(\w+)", source):
            assert found in ("word", "UNTESTABLE"), path.stem
