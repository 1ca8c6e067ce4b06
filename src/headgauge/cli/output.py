"""What all commands print with: results on stdout, progress and notes on stderr."""

import json
from collections.abc import Iterable, Iterator
from typing import Annotated, TypeVar

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

JsonOption = Annotated[
    bool, typer.Option("--json", help="Print JSON on stdout instead of the table.")
]
QuietOption = Annotated[
    bool, typer.Option("--quiet", "-q", help="No progress and no notes on stderr.")
]

Item = TypeVar("Item")


def stdout() -> Console:
    """rich drops colours by itself when stdout is no terminal."""
    return Console(highlight=False)


def stderr(quiet: bool) -> Console:
    return Console(stderr=True, quiet=quiet, highlight=False)


def print_json(data: object) -> None:
    typer.echo(json.dumps(data, ensure_ascii=False, indent=2))


def progress(items: Iterable[Item], total: int, label: str, notes: Console) -> Iterator[Item]:
    """Yield the items while a bar on stderr counts them; nothing where stderr is no terminal."""
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=notes,
        transient=True,
        disable=not notes.is_terminal or notes.quiet,
    )
    with bar:
        task = bar.add_task(label, total=total)
        for item in items:
            yield item
            bar.advance(task)
