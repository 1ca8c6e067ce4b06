"""The tables in docs/results.md, from the types: `python -m headgauge.runs.page < PAGE`."""

import inspect
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import get_args, get_type_hints, is_typeddict

from headgauge.runs import dynamics_schema, paper_schema, schema
from headgauge.runs.layouts import REPRODUCTION, SCAN, SIMULATION, Layout
from headgauge.runs.manifest import Manifest

# What names a row is explained once in the source, and in each table here.
_EXPLAINED = {
    schema.InWindow: schema.UNIT,
    schema.OfHead: schema.HEAD,
    schema.CurveRow: ("top_n", "vectors", "scale", "keys"),
    schema.PaperCurveRow: ("rule",),
    paper_schema.CriticalRow: ("expected",),
    dynamics_schema.GammaRow: ("scheme", "tokens", "beta", "time", "gamma"),
    dynamics_schema.SwarmRow: ("dim", "weights", "seeds"),
}
# The names of `columns` as a reader of the files knows them.
_PLAIN = {
    "str": r"\b(Vectors|Scale|Keys|Seen|Side|Logits|Panel|Expected|Weights|Scheme|NotFinite)\b",
    "float": r"\b(Finite|Place|Share|Part)\b",
    "int": r"\bSize\b",
}
_FIELD = re.compile(r"    (\w+): ([^#=]+?)(?: = [^#]+?)?(?:  # (.*))?")


def render(page: str) -> str:
    """The page with its tables, which stand between `<!-- tables of … -->` and the next comment,
    made anew."""
    made = {layout.name: _layout_tables(layout) for layout in (SCAN, REPRODUCTION, SIMULATION)}
    made["manifest"] = [_table(Manifest)]
    for record in dict.fromkeys(parts(Manifest)):
        about = f"### {record.__name__}\n\n{inspect.getdoc(record)}\n"
        made["manifest"] += [about, _table(record)]
    part = re.compile(r"(<!-- tables of a (\w+) -->\n\n).*?(?=<!-- end -->)", re.DOTALL)
    return part.sub(lambda found: found[1] + "\n".join(made[found[2]]) + "\n", page)


def parts(record: type) -> Iterator[type]:
    """The records inside a record, each before what is inside it."""
    for hint in get_type_hints(record).values():
        for part in (hint, *get_args(hint)):
            if is_typeddict(part):
                yield part
                yield from parts(part)


def _layout_tables(layout: Layout) -> list[str]:
    """A section for the tables of each type of rows."""
    sections = []
    for row in dict.fromkeys(layout.tables.values()):
        names = [name for name, each in layout.tables.items() if each is row]
        heading = ", ".join(str(layout.file(Path(), name)) for name in names)
        about = f"{inspect.getdoc(row)}\n"
        if layout is SCAN:
            key = ", ".join(f"`{column}`" for column in schema.KEYS[names[0]])
            about = f"{inspect.getdoc(row)} Key: {key}.\n"
        else:
            module = inspect.getdoc(inspect.getmodule(row)) or ""
            said = dict(re.findall(r"\w+/(\w+)\.parquet +\w+ +(.+)", module))
            about = "; ".join(f"`{name}`: {said[name]}" for name in names) + f".\n\n{about}"
        sections += [f"## {heading}\n", about, _table(row)]
    return sections


def _table(record: type) -> str:
    lines = ["| name | type | meaning |", "|---|---|---|"]
    for name, kind, meaning in fields(record):
        lines.append(f"| `{name}` | {_cell(_plain(kind))} | {_cell(meaning)} |")
    return "\n".join(lines) + "\n"


def fields(record: type) -> list[tuple[str, str, str]]:
    """Name, type and comment of each field, as they stand in the source; inherited ones first."""
    known = {} if issubclass(record, dict) else _explained()
    return [
        (name, kind, text or known.get(name, ""))
        for part in reversed(record.__mro__)
        if part.__module__.startswith("headgauge.")
        for name, kind, text in _written(part)
    ]


def _explained() -> dict[str, str]:
    return {
        name: text
        for record, names in _EXPLAINED.items()
        for name, _, text in _written(record)
        if name in names
    }


@cache
def _written(record: type) -> list[tuple[str, str, str]]:
    found = [_FIELD.fullmatch(line) for line in inspect.getsource(record).splitlines()]
    return [(field[1], field[2], field[3] or "") for field in found if field]


def _plain(kind: str) -> str:
    """A type as a reader of the files knows it: words are text, ranges numbers."""
    for plain, names in _PLAIN.items():
        kind = re.sub(names, plain, kind)
    return re.sub(r"NotRequired\[(.+)\]", r"\1, or not there", kind)


def _cell(text: str) -> str:
    return text.replace(" | None", " or null").replace("|", "\\|")


if __name__ == "__main__":
    print(render(sys.stdin.read()), end="")
