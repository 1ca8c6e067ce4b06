"""The tables in docs/results.md, from the types: `python -m headgauge.runs.page < PAGE`."""

import inspect
import re
import sys
from dataclasses import is_dataclass
from functools import cache
from pathlib import Path

from headgauge.runs.dynamics_schema import GammaRow, SwarmRow
from headgauge.runs.environment import Hardware, SourceCode
from headgauge.runs.layouts import REPRODUCTION, SCAN, SIMULATION, Layout
from headgauge.runs.manifest import (
    Data,
    EdgeToken,
    Manifest,
    Model,
    Outlook,
    Splits,
    TableRecord,
    Times,
    UnitRecord,
)
from headgauge.runs.paper_schema import CriticalRow
from headgauge.runs.schema import (
    HEAD,
    KEYS,
    UNIT,
    CurveRow,
    InWindow,
    OfHead,
    PaperCurveRow,
)

RECORDS = (
    *(SourceCode, Data, Splits, EdgeToken, Model, Hardware, UnitRecord, TableRecord, Times),
    Outlook,
)

# What names a row is explained once in the source, and in each table here.
_EXPLAINED = {
    InWindow: UNIT,
    OfHead: HEAD,
    CurveRow: ("top_n", "vectors", "scale", "keys"),
    PaperCurveRow: ("rule",),
    CriticalRow: ("expected",),
    GammaRow: ("scheme", "tokens", "beta", "time", "gamma"),
    SwarmRow: ("dim", "weights", "seeds"),
}
# The names of `columns` as a reader of the files knows them.
_PLAIN = {
    "str": r"\b(Vectors|Scale|Keys|Seen|Logits|Panel|Expected|Weights|Scheme|NotFinite)\b",
    "float": r"\b(Finite|Place|Share|Part)\b",
    "int": r"\bSize\b",
}
_FIELD = re.compile(r"    (\w+): ([^#=]+?)(?: = [^#]+?)?(?:  # (.*))?")


def render(page: str) -> str:
    """The page with its tables, which stand between `<!-- tables of … -->` and the next comment,
    made anew."""
    made = {layout.name: _layout_tables(layout) for layout in (SCAN, REPRODUCTION, SIMULATION)}
    made["manifest"] = [_table(Manifest)]
    for record in RECORDS:
        made["manifest"] += [
            f"### {record.__name__}\n",
            f"{inspect.getdoc(record)}\n",
            _table(record),
        ]
    part = re.compile(r"(<!-- tables of a (\w+) -->\n\n).*?(?=<!-- end -->)", re.DOTALL)
    return part.sub(lambda found: found[1] + "\n".join(made[found[2]]) + "\n", page)


def _layout_tables(layout: Layout) -> list[str]:
    """A section for the tables of each type of rows."""
    parts = []
    for row in dict.fromkeys(layout.tables.values()):
        names = [name for name, each in layout.tables.items() if each is row]
        heading = ", ".join(str(layout.file(Path(), name)) for name in names)
        parts += [f"## {heading}\n", f"{inspect.getdoc(row)}\n", _table(row)]
        if layout is SCAN:
            key = ", ".join(f"`{column}`" for column in KEYS[names[0]])
            parts[-2] = f"{inspect.getdoc(row)} Key: {key}.\n"
        else:
            module = inspect.getdoc(inspect.getmodule(row)) or ""
            about = dict(re.findall(r"\w+/(\w+)\.parquet +\w+ +(.+)", module))
            parts.insert(-2, "; ".join(f"`{name}`: {about[name]}" for name in names) + ".\n")
    return parts


def _table(record: type) -> str:
    lines = ["| name | type | meaning |", "|---|---|---|"]
    for name, kind, meaning in fields(record):
        lines.append(f"| `{name}` | {_cell(_plain(kind))} | {_cell(meaning)} |")
    return "\n".join(lines) + "\n"


def fields(record: type) -> list[tuple[str, str, str]]:
    """Name, type and comment of each field, as they stand in the source; inherited ones first."""
    known = _known() if is_dataclass(record) else {}
    return [
        (name, kind, text or known.get(name, ""))
        for part in reversed(record.__mro__)
        if is_dataclass(part) or part is record
        for name, kind, text in _written(part)
    ]


def _known() -> dict[str, str]:
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
