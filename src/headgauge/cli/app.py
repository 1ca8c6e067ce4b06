"""`headgauge`: the commands put together, and the one place where errors become exit codes."""

import sys
from collections.abc import Sequence
from typing import Annotated, Any, cast

import typer

from headgauge import __version__
from headgauge.cli import (
    ablate,
    cache,
    claims,
    compare,
    export,
    normalizers,
    remedy,
    report,
    reproduce,
    scan,
    simulate,
    validate,
    watch,
)
from headgauge.cli.building import command
from headgauge.cli.process import printable
from headgauge.errors import InputError
from headgauge.options.commands import (
    AblateOptions,
    CompareOptions,
    RemedyOptions,
    ReproduceOptions,
    ScanOptions,
    SimulateOptions,
    ValidateOptions,
)

# typer does not export click's UsageError, and where it comes from depends on typer's version.
_UsageError = cast(
    type[Exception],
    next(base for base in typer.BadParameter.__mro__ if base.__name__ == "UsageError"),
)

# What an option meant before, told where it is not given as it is now.
_MOVED = {"--rows": "it takes a number of rows; --keep-rows keeps every row's numbers"}
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
app.command("ablate")(command(AblateOptions, ablate.run))
app.command("reproduce")(command(ReproduceOptions, reproduce.run))
app.command("validate")(command(ValidateOptions, validate.run))
app.command("compare")(command(CompareOptions, compare.run))
app.command("remedy")(command(RemedyOptions, remedy.run))
app.command("simulate")(command(SimulateOptions, simulate.run))
app.command("watch")(watch.command)
app.command("report")(report.command)
app.command("export")(export.command)
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
        # Not the command's own `main`, which has its ways with interrupts and closed pipes.
        with command.make_context("headgauge", list(given)) as context:
            command.invoke(context)
        return 0
    except typer.Exit as leaving:
        return leaving.exit_code
    except InputError as error:
        return _mistake(str(error))
    except OSError as error:
        if error.filename is None:
            raise
        return _mistake(f"{error.filename}: {error.strerror}")
    except _UsageError as error:
        text = cast(Any, error).format_message()  # none: the help was printed
        # Its own context does not always tell which command's options were read.
        called = ["headgauge", *(name for name in given[:1] if name in command.commands)]
        for moved in (said for name, said in _MOVED.items() if f"'{name}'" in text):
            text = f"{text.removesuffix('.')}: {moved}"
        return _mistake(f"{text} ({' '.join(called)} --help lists what there is)") if text else 2


def _mistake(text: str) -> int:
    line = printable(" ".join(text.split()))
    if len(line) > _LONGEST:
        line = f"{line[: _LONGEST // 2]} … {line[-_LONGEST // 2 :]}"
    print(f"headgauge: {line}", file=sys.stderr)
    return 2
