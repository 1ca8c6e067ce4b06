"""`headgauge`: the commands put together, and the one place where errors become exit codes."""

import sys
from collections.abc import Sequence
from typing import Annotated, Any, cast

import typer

from headgauge import __version__
from headgauge.cli import cache, claims, normalizers, report, reproduce, scan, simulate
from headgauge.cli.building import command
from headgauge.cli.process import printable
from headgauge.errors import InputError
from headgauge.options.commands import ReproduceOptions, ScanOptions, SimulateOptions

# typer does not export click's UsageError, and where it comes from depends on typer's version.
_UsageError = cast(
    type[Exception],
    next(base for base in typer.BadParameter.__mro__ if base.__name__ == "UsageError"),
)

_LONGEST = 1000  # characters of an error: a name may have thousands

app = typer.Typer(
    name="headgauge",
    help="Measure how selective attention heads are, and what limits them.",
    epilog="Exit codes: 0 all well, 1 a check disagreed, 2 a mistake in the call, 130 and 143 "
    "interrupted.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("scan")(command(ScanOptions, scan.run))
app.command("reproduce")(command(ReproduceOptions, reproduce.run))
app.command("simulate")(command(SimulateOptions, simulate.run))
app.command("report")(report.command)
app.command("claims")(claims.command)
app.command("normalizers")(normalizers.command)
app.command("cache")(cache.command)


def _version(wanted: bool) -> bool:
    if wanted:
        print(f"headgauge {__version__}")
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
    command: Any = typer.main.get_command(app)
    given = sys.argv[1:] if arguments is None else list(arguments)
    try:
        return _call(command, given)
    except InputError as error:
        return _mistake(str(error))
    except OSError as error:
        if error.filename is None:
            raise
        return _mistake(f"{error.filename}: {error.strerror}")
    except _UsageError as error:
        # Its own context does not always tell which command's options were read.
        called = given[0] if given and given[0] in command.commands else ""
        return _usage(error, f"headgauge {called}".rstrip())


def _call(command: Any, given: list[str]) -> int:
    """Not the command's own `main`, which has its ways with interrupts and closed pipes."""
    try:
        with command.make_context("headgauge", given) as context:
            command.invoke(context)
    except typer.Exit as leaving:
        return leaving.exit_code
    return 0


def _usage(error: Any, called: str) -> int:
    """Options, arguments and commands that are not understood; no text is the help, printed."""
    text = error.format_message()
    return _mistake(f"{text} ({called} --help lists what there is)") if text else 2


def _mistake(text: str) -> int:
    line = printable(" ".join(text.split()))
    if len(line) > _LONGEST:
        line = f"{line[: _LONGEST // 2]} … {line[-_LONGEST // 2 :]}"
    print(f"headgauge: {line}", file=sys.stderr)
    return 2
