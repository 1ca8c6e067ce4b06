"""A terminal's table of any width: columns that do not fit stand below the others, none is lost.

The columns that say which row it is are repeated there. Cells are text, never markup, and a number
is never cut: where a single column is too wide for the terminal it is folded.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console, ConsoleOptions, JustifyMethod, RenderableType
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

_UNBOUNDED = 10_000


@dataclass(frozen=True)
class Column:
    """`key` says which row it is; `spare` tells nothing that a number beside it does not, and is
    left out where it does not fit."""

    heading: str
    cells: Sequence[Text | str]
    justify: JustifyMethod = "right"
    key: bool = False
    spare: bool = False


@dataclass(frozen=True)
class Stacked:
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

    def _blocks(self, console: Console, options: ConsoleOptions) -> Iterator[Table]:
        keys = [column for column in self.columns if column.key]
        unbounded = options.update(width=_UNBOUNDED)
        shown: list[Column] = []
        for column in self.columns:
            if column.key:
                continue
            wider = self._table([*keys, *shown, column])
            if Measurement.get(console, unbounded, wider).maximum <= options.max_width:
                shown.append(column)
            elif not column.spare:
                if shown:
                    yield self._table([*keys, *shown])
                shown = [column]
        yield self._table([*keys, *shown])

    def _table(self, columns: Sequence[Column]) -> Table:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, collapse_padding=True)
        for column in columns:
            table.add_column(Text(column.heading), justify=column.justify, overflow="fold")
        for place, line in enumerate(zip(*(column.cells for column in columns), strict=True)):
            style = "bold" if self.bold is not None and self.bold[place] else None
            table.add_row(
                *(Text(cell) if isinstance(cell, str) else cell for cell in line), style=style
            )
        return table
