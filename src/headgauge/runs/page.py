"""docs/results.md, written from the types: `python -m headgauge.runs.page`."""

import inspect
import re
from dataclasses import is_dataclass
from types import ModuleType

from headgauge.runs import dynamics_schema, paper_schema
from headgauge.runs.dynamics_schema import DYNAMICS_TABLES, GammaRow, SwarmRow
from headgauge.runs.environment import Hardware, SourceCode
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
from headgauge.runs.paper_schema import PAPER_TABLES, CriticalRow, FigureRow
from headgauge.runs.schema import HEAD, TABLES, UNIT, CurveRow, HeadRow
from headgauge.runs.tables import KEYS

HEADER = """\
# What a run leaves behind

```
DIR/
  manifest.json     what the run was: model, text, settings, versions, machine, loss per window
  heads.parquet     one row per window and head
  curves.parquet    one row per window, head, N, choice of vectors and keys
  samples.parquet   a few query rows of every head with their heaviest keys
  rows.parquet      on request: one row per window, head and query
  depth.parquet     on request: one row per window and layer, the residual stream as particles
  report.html       the run as one interactive page
  figures/          its figures
  units/            the pieces the tables are made of, one folder per window and length
    w0003-L01024/   the same tables, and unit.json with the unit's facts and its files' sha256
```

A reproduction of the paper (`headgauge reproduce`) has a run for each text:

```
DIR/
  manifest.json         model, texts, settings, versions, machine
  choosing/             the pass over the first text by which vectors and keys are chosen
  texts/NAME/           a run of each text: all of the above, and
    paper_curves.parquet   one row per window, head, N, choice of vectors and keys, and rule
    sensitivity.parquet    one row per window, head, logits, direction, ε and temperature
    points.parquet         the keys of a few query rows, seen in a plane
    vanishing.parquet      one row per window, head and rule
    shared_tokens.parquet  one row per head, query row and token that its layer is asked for
    vector_sets.parquet    one row per set of vectors
  paper/                what the paper's figures show on every text, and the verdicts: a table each
  judging.json          the choice, the text it was made on, what the verdicts stand on
  timing.json           per algorithm the paper's time, ours, and the literal loop's
  report.html           all of it as one interactive page
  figures/NAME/         the figures of each text
```

`headgauge.read_run("DIR")` reads a finished run of either kind; the files are plain parquet and
JSON, so polars, pandas or DuckDB do as well.

- Each file appears whole or not at all. Names that start with `.writing-` belong to a process at
  work, or to a dead one; whoever next writes there removes those.
- A table is read only with the bytes whose sha256 the manifest has. One that was damaged is made
  again when the command is repeated.
- A run that was killed goes on where it stopped when its command is repeated, and ends with the
  same bytes in its tables as one that was not. A unit whose files are damaged is made again.
- A folder with other settings is refused. `units/` may be removed once `status` is `finished`;
  repeating the command would then make the units again.
- The same rows give the same bytes whatever the number of processes and threads, with the same
  version of polars.

Every number is a mean over the counted query rows of its window unless its line says otherwise. A
null is what could not be seen or does not apply. Logarithms are natural. Rows are sorted by the
columns named as the table's key.

This page is made from the types in `src/headgauge/runs/` by `make docs`, and a test keeps it so.
"""
SIMULATION = """\
# What a simulation leaves behind

```
DIR/
  manifest.json     settings, versions, machine, seconds of each part
  dynamics/         its tables; one that was not asked for is empty
  report.html       the simulation as one interactive page
  figures/          its figures and sphere.gif, the animation
```

`headgauge.read_run("DIR")` reads it. A simulation that was killed goes on with the
table it stopped at when its command is repeated.
"""
MANIFEST = """\
The keys stand in this order. All that differs between two runs of the same thing on the same
machine is under `times`. There are no paths, user names or host names in it. A number that is not
finite is the text "nan", "inf" or "-inf".
"""
RECORDS = (
    *(SourceCode, Data, Splits, EdgeToken, Model, Hardware, UnitRecord, TableRecord, Times),
    Outlook,
)

# What names a row is explained once in the source, and in each table here.
_EXPLAINED = {
    HeadRow: (*UNIT, *HEAD),
    CurveRow: ("top_n", "vectors", "scale", "keys"),
    FigureRow: ("rule",),
    CriticalRow: ("expected",),
    GammaRow: ("scheme", "tokens", "beta", "time", "gamma"),
    SwarmRow: ("dim", "weights", "seeds"),
}
# The names of `known_words` as a reader of the files knows them.
_PLAIN = {
    "str": r"\b(Vectors|Scale|Keys|Seen|Logits|Panel|Expected|Weights|Scheme|NotFinite)\b",
    "float": r"\b(Finite|Place|Share|Part)\b",
    "int": r"\bSize\b",
}
_FIELD = re.compile(r"    (\w+): ([^#=]+?)(?: = [^#]+?)?(?:  # (.*))?")
_IN_FOLDER = re.compile(r"    \w+/(\w+)\.parquet +\w+ +(.+)")


def render() -> str:
    """The page as Markdown."""
    parts = [HEADER]
    for name, row in TABLES.items():
        key = ", ".join(f"`{column}`" for column in KEYS[name])
        parts += [f"## {name}.parquet\n", f"{inspect.getdoc(row)} Key: {key}.\n", _table(row)]
    for row in dict.fromkeys(PAPER_TABLES.values()):
        parts += _folder_table("paper", paper_schema, PAPER_TABLES, row)
    parts.append(SIMULATION)
    for row in DYNAMICS_TABLES.values():
        parts += _folder_table("dynamics", dynamics_schema, DYNAMICS_TABLES, row)
    parts += ["## manifest.json\n", MANIFEST, _table(Manifest)]
    for record in RECORDS:
        parts += [f"### {record.__name__}\n", f"{inspect.getdoc(record)}\n", _table(record)]
    return "\n".join(parts)


def _folder_table(folder: str, schema: ModuleType, tables: dict[str, type], row: type) -> list[str]:
    """The section of those tables in a folder that have rows of this type."""
    about = dict(_IN_FOLDER.findall(schema.__doc__ or ""))
    names = [name for name, each in tables.items() if each is row]
    heading = ", ".join(f"{folder}/{name}.parquet" for name in names)
    told = "; ".join(f"`{name}`: {about[name]}" for name in names)
    return [f"## {heading}\n", f"{told}.\n", f"{inspect.getdoc(row)}\n", _table(row)]


def _table(record: type) -> str:
    lines = ["| name | type | meaning |", "|---|---|---|"]
    for name, kind, meaning in fields(record):
        lines.append(f"| `{name}` | {_cell(_plain(kind))} | {_cell(meaning)} |")
    return "\n".join(lines) + "\n"


def fields(record: type) -> list[tuple[str, str, str]]:
    """Name, type and comment of each field, as they stand in the source; inherited ones first."""
    tables = (*TABLES.values(), *PAPER_TABLES.values(), *DYNAMICS_TABLES.values())
    known = _known() if record in tables else {}
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
    print(render(), end="")
