"""What all commands print with: results on stdout, progress and notes on stderr."""

import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from rich import progress as bars
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.status import Status
from rich.text import Text

from headgauge.cli.process import printable

JsonOption = Annotated[
    bool, typer.Option("--json", help="Print JSON on stdout instead of the table.")
]
QuietOption = Annotated[
    bool, typer.Option("--quiet", "-q", help="No progress and no notes on stderr.")
]


class _Console(Console):
    """Prints names as they are: no markup is read in them, no control character leaves."""

    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, emoji=False, highlight=False, **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else printable(text), style, control)

    def status(self, status: RenderableType, **options: Any) -> Status:
        return super().status(Text(status) if isinstance(status, str) else status, **options)


def stdout() -> Console:
    """rich drops colours by itself when stdout is no terminal."""
    return _Console()


def stderr(quiet: bool) -> Console:
    return _Console(stderr=True, quiet=quiet)


def print_json(data: object) -> None:
    """Letters as they are, unless stdout cannot show them; control characters always escaped."""
    text = json.dumps(data, ensure_ascii=False, indent=2)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(data, indent=2)
    print(re.sub("[\x7f-\x9f]", lambda found: f"\\u{ord(found[0]):04x}", text))


@contextmanager
def share_bar(label: str, notes: Console) -> Iterator[Callable[[float], None]]:
    """A bar with the remaining time; call it with the share that is done. It shows itself at the
    first call, so that nothing flickers where there was nothing to do."""
    left = bars.TextColumn("left"), bars.TimeRemainingColumn(elapsed_when_finished=False)
    with _bar(notes, bars.TaskProgressColumn(), bars.TimeElapsedColumn(), *left) as bar:
        task = bar.add_task(label, total=1.0, visible=False)
        yield lambda done: bar.update(task, completed=done, visible=True)


@contextmanager
def part_bars(notes: Console) -> Iterator[Callable[[str, float], None]]:
    """A bar for each named part, shown from its first call on."""
    with _bar(notes, bars.TaskProgressColumn(), bars.TimeElapsedColumn()) as bar:
        tasks: dict[str, bars.TaskID] = {}

        def report(part: str, share: float) -> None:
            if part not in tasks:
                for done in tasks.values():
                    bar.update(done, completed=1.0)
                tasks[part] = bar.add_task(part, total=1.0)
            bar.update(tasks[part], completed=share)

        yield report


def size(number: int) -> str:
    """Bytes in the unit that fits."""
    return f"{number / 1e9:.1f} GB" if number >= 1e9 else f"{number / 1e6:.1f} MB"


def _bar(notes: Console, *columns: bars.ProgressColumn) -> bars.Progress:
    """Nothing is drawn where stderr is no terminal."""
    return bars.Progress(
        bars.TextColumn("{task.description}"),
        bars.BarColumn(),
        *columns,
        console=notes,
        transient=True,
        disable=not notes.is_terminal or notes.quiet,
    )
