"""The house as CONTRIBUTING describes it: who may import whom, and what nothing may be called."""

import ast
import re
from pathlib import Path

import pytest

import headgauge

SOURCE = Path(headgauge.__file__).parent
CONTRIBUTING = Path(__file__).parents[1] / "CONTRIBUTING.md"
ROOMS = sorted(place.name for place in SOURCE.iterdir() if (place / "__init__.py").is_file())
FOR_ALL = {place.stem for place in SOURCE.glob("*.py")} - {"__init__", "__main__", "reading"}


def allowed() -> dict[str, set[str]]:
    """From the lines `room → what it may import` of CONTRIBUTING."""
    found = re.findall(r"^  (\w+) +→ (.*)$", CONTRIBUTING.read_text(encoding="utf-8"), re.MULTILINE)
    return {room: set(re.findall(r"\w+", names)) - {"nothing"} for room, names in found}


def imports(path: Path) -> tuple[set[str], set[str]]:
    """The rooms a file imports at its top, and those inside functions."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = list(ast.walk(tree))
    functions = [each for each in nodes if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)]
    within = {each for function in functions for each in ast.walk(function)}
    return _imported(set(nodes) - within), _imported(within)


def _imported(nodes: set[ast.AST]) -> set[str]:
    found = set()
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "headgauge":
            parts = (node.module or "").split(".")
            found |= {parts[1]} if len(parts) > 1 else {each.name for each in node.names}
        elif isinstance(node, ast.Import):
            named = [each.name.split(".") for each in node.names]
            found |= {parts[1] for parts in named if parts[0] == "headgauge" and len(parts) > 1}
    return found & {*ROOMS, *FOR_ALL, "reading"}


def test_contributing_has_a_line_for_every_room():
    assert sorted(allowed()) == ROOMS


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_what_contributing_says(room: str):
    may = {*allowed()[room], *FOR_ALL, room}
    if room == "theory":  # the specification stands alone
        may = {room}
    for path in sorted((SOURCE / room).rglob("*.py")):
        above, inside = imports(path)
        assert above <= may, path
        if room != "cli":  # which delays what is heavy, so that --help is not
            assert not inside, f"{path}: an import inside a function"


def test_the_rooms_stand_above_one_another():
    """No two import each other, not even by way of others."""
    below = allowed()
    while True:
        more = {
            room: mine.union(*(below.get(each, set()) for each in mine))
            for room, mine in below.items()
        }
        if more == below:
            break
        below = more
    assert [room for room, names in below.items() if room in names] == []


def test_no_module_has_the_name_of_a_public_function():
    functions = {name for name in headgauge.__all__ if name not in {*ROOMS, *FOR_ALL}}
    modules = {path.stem for path in SOURCE.rglob("*.py") if path.parent.name != "cli"}
    assert not functions - {"__version__"} & modules
    assert not {"ablate", "compare", "install", "stats", "swap"} & modules
