"""`headgauge`: the commands put together, and the one place where errors become exit codes."""

import os
import sys
from collections.abc import Sequence
from typing import Annotated, cast

import typer

from headgauge import __version__
from headgauge.cli import cache, claims, normalizers, report, reproduce, scan, simulate
from headgauge.errors import InputError

# typer does not export click's UsageError, and where it comes from depends on typer's version.
_UsageError = cast(
    type[Exception],
    next(base for base in typer.BadParameter.__mro__ if base.__name__ == "UsageError"),
)

app = typer.Typer(
    name="headgauge",
    help="Measure how selective attention heads are, and what limits them.",
    epilog="Exit codes: 0 all well, 1 a check disagreed, 2 a mistake in the call.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("scan")(scan.command)
app.command("reproduce")(reproduce.command)
app.command("simulate")(simulate.command)
app.command("report")(report.command)
app.command("claims")(claims.command)
app.command("normalizers")(normalizers.command)
app.command("cache")(cache.command)


def _version(wanted: bool) -> bool:
    if wanted:
        typer.echo(f"headgauge {__version__}")
        raise typer.Exit
    return wanted


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_version)
    ] = False,
) -> None:
    pass


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code; a user's mistake is one line on stderr and 2."""
    command = typer.main.get_command(app)
    try:
        code = command.main(
            args=None if arguments is None else list(arguments),
            prog_name="headgauge",
            standalone_mode=False,
        )
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except InputError as error:
        return _mistake(str(error))
    except _UsageError as error:
        text = error.format_message()  # pyright: ignore[reportAttributeAccessIssue]
        return _mistake(f"{text} (headgauge --help lists what there is)") if text else 2
    except typer.Exit as leaving:
        return leaving.exit_code
    except (typer.Abort, KeyboardInterrupt):
        print("headgauge: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader of a pipe has enough. Python would complain once more when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _mistake(text: str) -> int:
    line = " ".join(text.split())
    print(f"headgauge: {line}", file=sys.stderr)
    return 2


def main() -> None:
    sys.exit(run())
