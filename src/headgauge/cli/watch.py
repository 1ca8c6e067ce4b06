"""`headgauge watch`: the present state of a training, from the log that it writes."""

import time
from pathlib import Path
from typing import Annotated

import typer

from headgauge.cli.output import print_json, stdout
from headgauge.errors import InputError

_PAUSE = 1.0  # seconds between two looks


def command(
    folder: Annotated[Path, typer.Argument(help="The folder of a training's log.")],
    measure: Annotated[
        str | None,
        typer.Option(
            help="What the map shows, such as max_logit. Without it: what an alarm speaks of, else "
            "entropy_share."
        ),
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Print the present state and end.")] = False,
    json_output: Annotated[
        bool, typer.Option("--json", help="Print the present state as JSON and end.")
    ] = False,
) -> None:
    """Watch a training while it goes on in another process: alarms, trends, a map of every head.

    It ends when the log is closed, or with Ctrl-C.
    """
    from rich.live import Live

    from headgauge.cli.documents import watch_document
    from headgauge.registry.training import TRAINED_ORDER
    from headgauge.report.watching import Watched
    from headgauge.training.log.following import Followed
    from headgauge.training.log.words import spoken_of

    if measure is not None and measure not in TRAINED_ORDER:
        raise InputError(f"no measure named {measure!r}; there are {', '.join(TRAINED_ORDER)}")
    followed = Followed(folder)

    def shown() -> Watched:
        log = followed.look()
        asked = measure or spoken_of(log) or TRAINED_ORDER[0]
        return Watched(log, asked, followed.seconds_ago())

    if json_output:
        print_json(watch_document(shown()))
        return
    console = stdout()
    if once or not console.is_terminal:
        console.print(shown())
        return
    with Live(console=console, auto_refresh=False, vertical_overflow="ellipsis") as live:
        while True:
            live.update(shown(), refresh=True)
            if followed.log.closed:
                return
            time.sleep(_PAUSE)
