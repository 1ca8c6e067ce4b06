"""A table described once, for a terminal, for Markdown and for a notebook.

In a terminal of any width columns that do not fit stand below the others, behind the columns that
say which row it is; none is lost and no number is cut. Cells are text, never markup.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import polars as pl
from rich import box
from rich.console import Console, ConsoleOptions, JustifyMethod, RenderableType
from rich.measure import Measurement
from rich.table import Table as Block
from rich.text import Text

_UNBOUNDED = 10_000
LINE = "1px solid rgba(128,128,128,.4)"  # seen on light and dark pages
FAINT = "opacity:.7"


@dataclass(frozen=True)
class Column:
    """`key` says which row it is; `spare` tells nothing that a number beside it does not, and is
    left out where it does not fit."""

    heading: str
    cells: Sequence[Any] | pl.Series  # Text, or whatever `str` makes of it
    justify: JustifyMethod = "right"
    key: bool = False
    spare: bool = False
    hints: Sequence[str] | None = None  # said in a notebook where a reader points


@dataclass(frozen=True)
class Table:
    """`bold` has the rows that are printed so."""

    title: str
    columns: Sequence[Column]
    note: str = ""
    bold: Sequence[bool] | None = None

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        yield Text(self.title, style="bold")
        yield from self._blocks(console, options)
        if self.note:
            yield Text(self.note, style="dim")

    def _blocks(self, console: Console, options: ConsoleOptions) -> Iterator[Block]:
        keys = [column for column in self.columns if column.key]
        unbounded = options.update(width=_UNBOUNDED)
        shown: list[Column] = []
        for column in self.columns:
            if column.key:
                continue
            wider = self._block([*keys, *shown, column])
            if Measurement.get(console, unbounded, wider).maximum <= options.max_width:
                shown.append(column)
            elif not column.spare:
                if shown:
                    yield self._block([*keys, *shown])
                shown = [column]
        yield self._block([*keys, *shown])

    def _block(self, columns: Sequence[Column]) -> Block:
        block = Block(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, collapse_padding=True)
        for column in columns:
            block.add_column(Text(column.heading), justify=column.justify, overflow="fold")
        for place, line in enumerate(zip(*(column.cells for column in columns), strict=True)):
            cells = (cell if isinstance(cell, Text) else Text(str(cell)) for cell in line)
            block.add_row(*cells, style="bold" if self.bold and self.bold[place] else None)
        return block

    def markdown(self) -> str:
        """For a README, an issue or a paper's repository."""
        columns = [map(markdown, (column.heading, *column.cells)) for column in self.columns]
        heading, *rows = (f"| {' | '.join(line)} |" for line in zip(*columns, strict=True))
        parts = [heading, "|" + "---|" * len(self.columns), *rows, ""]
        above = [markdown(self.title), ""] if self.title else []
        below = [markdown(self.note), ""] if self.note else []
        return "\n".join([*above, *parts, *below])

    def html(self) -> str:
        """For a notebook: no style sheet, and the page's own colours."""
        columns = []
        for column in self.columns:
            look = f"padding:2px 8px;text-align:{column.justify}"
            cells = [f'<th style="{look};border-bottom:{LINE}">{escape(column.heading)}</th>']
            for place, cell in enumerate(column.cells):
                hint = f' title="{escape(column.hints[place])}"' if column.hints else ""
                text = f"<b>{escape(str(cell))}</b>" if _is_bold(cell) else escape(str(cell))
                cells.append(f'<td style="{look}"{hint}>{text}</td>')
            columns.append(cells)
        rows = map("".join, zip(*columns, strict=True))
        body = "".join(f'<tr style="background:none">{row}</tr>' for row in rows)
        note = f'<div style="{FAINT}">{escape(self.note)}</div>' if self.note else ""
        title = f'<div style="margin-top:10px;font-weight:bold">{escape(self.title)}</div>'
        return (
            f'{title}<table style="border-collapse:collapse;font-size:inherit">{body}</table>{note}'
        )


def markdown(text: Any) -> str:
    """Text from a run is data: nothing in it may end a cell or become markup."""
    plain = str(text).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")
    plain = plain.replace("\n", " ")
    return f"**{plain}**" if _is_bold(text) else plain


def _is_bold(cell: Any) -> bool:
    return isinstance(cell, Text) and cell.style == "bold"
