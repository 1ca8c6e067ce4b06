"""What a page is made of: sections of parts, dicts that `assets/main.js` knows by their kind."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from rich.text import Text

from headgauge.registry import glossary
from headgauge.report.figure import Figure
from headgauge.report.page.values import plain
from headgauge.report.table import Table

Part = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Page:
    """report.html before it is written. What is None has no place on it."""

    title: str
    caption: str  # model, quantisation, text, L, windows
    warnings: Sequence[str]  # on top, where nobody can miss them
    stands: Sequence[str]  # what the numbers stand on: said before the first of them
    overview: Sequence[Part | None]
    sections: Sequence[Part | None]


def opening(kind: glossary.Kind, finding: str) -> list[Part]:
    """For someone who has not read the papers: what this is, what was found, what letters mean."""
    told = [[each.term, each.words] for each in glossary.terms(kind)]
    return [
        text(glossary.INTRODUCTION[kind], id="introduction"),
        {"kind": "glossary", "terms": told},
        {"kind": "finding", "text": finding},
    ]


def section(name: str, nav: str, title: str, *parts: Part | None) -> Part:
    held = [part for part in parts if part is not None]
    return {"id": name, "nav": nav, "title": title, "parts": held}


def text(words: str, **more: Any) -> Part:
    return {"kind": "text", "text": words, **more}


def notes(lines: Iterable[str]) -> Part | None:
    held = list(lines)
    return {"kind": "notes", "lines": held} if held else None


def figures(described: Iterable[Figure], words: str = "") -> Part | None:
    held = [plain(figure) for figure in described]
    return {"kind": "figures", "figures": held, "text": words} if held else None


class Column(NamedTuple):
    """Of a table: `of` is the name of its cells, or names where a cell is made of several;
    `assets/table.js` has the kinds in which cells are written."""

    title: str
    of: str | tuple[str, ...]
    kind: str = "text"
    digits: int | None = None
    hint: str | None = None  # said where a reader points at the title
    sorts: bool | None = None


def table(
    columns: Sequence[Column], rows: Iterable[Mapping[str, Any]], label: str, **more: Any
) -> Part | None:
    """None without rows. `look` is the table's class; for the rest see `assets/table.js`."""
    cells = [
        [
            plain(row[each.of] if isinstance(each.of, str) else [row[name] for name in each.of])
            for each in columns
        ]
        for row in rows
    ]
    told = [
        {name: value for name, value in each._asdict().items() if name != "of" and value}
        for each in columns
    ]
    described = {"kind": "table", "columns": told, "rows": cells, "label": label, **more}
    return described if cells else None


def as_shown(shown: Table) -> Part | None:
    """A table as the terminal has it."""
    columns = [
        Column(each.heading.replace("\n", ", ").strip(", "), str(place))
        for place, each in enumerate(shown.columns)
    ]
    cells = zip(*(each.cells for each in shown.columns), strict=True)
    rows = [{str(place): _bare(cell) for place, cell in enumerate(line)} for line in cells]
    return table(columns, rows, shown.title, title=shown.title, look="dense one-line")


def _bare(cell: Any) -> Any:
    """Without a terminal's colours."""
    return cell.plain if isinstance(cell, Text) else cell


def filter_by(name: str, of: Sequence[list[str]], known: Iterable[str], counted: str) -> Part:
    """Verdicts and roles to choose rows by, with how many each leaves."""
    counts = Counter(value for values in of for value in values)
    order = dict.fromkeys([*(value for value in known if value in counts), *counts])
    options = [["", f"all ({len(of)})"], *([each, f"{each} ({counts[each]})"] for each in order)]
    return {
        "id": name,
        "title": "Verdict or role",
        "of": of,
        "options": options,
        "counted": counted,
    }


def plural(count: int, word: str) -> str:
    return f"{count} {word}{'s' * (count != 1)}"
