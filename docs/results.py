"""The tables in results.md, from the types of `headgauge.runs` and the words of the registry."""

import inspect
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import get_args, get_type_hints, is_typeddict

from docs.tables import table
from headgauge.registry import measures
from headgauge.registry.names import choice_meaning
from headgauge.registry.published import CHOICE
from headgauge.runs import dynamics_schema, paper_schema, schema
from headgauge.runs.layouts import (
    ABLATION,
    COMPARISON,
    REMEDY,
    REPRODUCTION,
    RULES,
    SCAN,
    SIMULATION,
    VALIDATION,
    Layout,
)
from headgauge.runs.manifest import Manifest
from headgauge.runs.training_schema import TRAINING_TABLES

# Where the registry has the words of a type's columns.
MEASURES = {
    schema.HeadRow: measures.HEAD_MEASURES,
    schema.QueryRow: measures.HEAD_MEASURES,
    schema.CurveRow: measures.CURVES,
    schema.SpanRow: measures.SPAN_MEASURES,
    schema.DepthRow: measures.LAYERS,
    schema.VanishingHeadRow: measures.WEIGHTS | measures.WEIGHT_BOUNDS,
    dynamics_schema.PhaseRow: measures.LAYERS,
}
# What names a row is explained once in the source, and in each table here.
_EXPLAINED = {
    schema.InWindow: schema.UNIT,
    schema.OfHead: schema.HEAD,
    schema.CurveRow: ("top_n",),
    schema.PaperCurveRow: ("rule",),
    schema.RuleHeadRow: ("where",),
    schema.DepthRow: ("least_cosine", "together", "clusters", "variance"),
    schema.SampleRow: ("row", "visible", "key", "key_text", "weight"),
    paper_schema.VectorRow: ("text",),
    paper_schema.CriticalRow: ("expected",),
    dynamics_schema.GammaRow: ("scheme", "tokens", "beta", "time", "gamma"),
    dynamics_schema.SwarmRow: ("dim", "weights", "seeds"),
}
_LAYOUTS = (SCAN, ABLATION, RULES, REMEDY, COMPARISON, VALIDATION, REPRODUCTION, SIMULATION)
# The names of `columns` as a reader of the files knows them.
_PLAIN = {
    "str": r"\b(Vectors|How|Kind|Scale|Keys|Seen|Side|SpanKind|Where|Logits|Panel|Expected|Weights"
    r"|Scheme|NotFinite|AlarmState)\b",
    "float": r"\b(Finite|Mean|Place|Share|Part)\b",
    "int": r"\bSize\b",
}
_FIELD = re.compile(r"    (\w+): ([^#=]+?)(?: = [^#]+?)?(?:  # (.*))?")


def render(page: str) -> str:
    """The page with its tables, which stand between `<!-- tables of … -->` and the next comment,
    made anew."""
    made = {layout.name: _layout_tables(layout) for layout in _LAYOUTS}
    made["training"] = [
        f"## {name}.parquet of a training\n\n{inspect.getdoc(row)}\n\n{_table(row)}"
        for name, row in TRAINING_TABLES.items()
    ]
    made["manifest"] = [_table(Manifest)]
    for record in dict.fromkeys(parts(Manifest)):
        about = f"### {record.__name__}\n\n{inspect.getdoc(record)}\n"
        made["manifest"] += [about, _table(record)]
    part = re.compile(r"(<!-- tables of a ([\w ]+) -->\n\n).*?(?=<!-- end -->)", re.DOTALL)
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
    told = SCAN.tables.values() if layout is ABLATION else ()  # its means are a scan's
    for row in dict.fromkeys(row for row in layout.tables.values() if row not in told):
        names = [name for name, each in layout.tables.items() if each is row]
        heading = ", ".join(str(layout.file(Path(), name)) for name in names)
        about = f"{inspect.getdoc(row)}\n"
        if not layout.folder:
            if names[0] in schema.KEYS:
                key = ", ".join(f"`{column}`" for column in schema.KEYS[names[0]])
                about = f"{inspect.getdoc(row)} Key: {key}.\n"
        else:
            module = inspect.getdoc(inspect.getmodule(row)) or ""
            said = dict(re.findall(r"\w+/(\w+)\.parquet +\w+ +(.+)", module))
            about = "; ".join(f"`{name}`: {said[name]}" for name in names) + f".\n\n{about}"
        sections += [f"## {heading}\n", about, _table(row)]
    return sections


def _table(record: type) -> str:
    rows = [(f"`{name}`", _plain(kind), meaning) for name, kind, meaning in fields(record)]
    return table(("name", "type", "meaning"), rows)


def fields(record: type) -> list[tuple[str, str, str]]:
    """Name, type and meaning of each field, inherited ones first."""
    known = {} if issubclass(record, dict) else _explained()
    return [
        (name, kind, comment or _measure(part, name) or known.get(name, ""))
        for part in reversed(record.__mro__)
        if part.__module__.startswith("headgauge.")
        for name, kind, comment in written(part)
    ]


def _measure(record: type, name: str) -> str:
    entries = MEASURES.get(record, {})
    return entries[name].meaning if name in entries else ""


def _explained() -> dict[str, str]:
    choices = {name: choice_meaning(name) for name in (*CHOICE, "logits")}
    return choices | {
        name: comment
        for record, names in _EXPLAINED.items()
        for name, _, comment in written(record)
        if name in names
    }


@cache
def written(record: type) -> list[tuple[str, str, str]]:
    """Name, type and comment of each field of its own, as they stand in the source."""
    matches = [_FIELD.fullmatch(line) for line in inspect.getsource(record).splitlines()]
    return [(field[1], field[2], field[3] or "") for field in matches if field]


def _plain(kind: str) -> str:
    """A type as a reader of the files knows it: words are text, ranges numbers."""
    for plain, names in _PLAIN.items():
        kind = re.sub(names, plain, kind)
    kind = re.sub(r"NotRequired\[(.+)\]", r"\1, or not there", kind)
    return kind.replace(" | None", " or null")
