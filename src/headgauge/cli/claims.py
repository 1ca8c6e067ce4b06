"""`headgauge claims`: run the ledger's checks and print the verdicts."""

from collections import Counter
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from headgauge.cli.output import JsonOption, QuietOption, print_json, share_bar, stderr, stdout

if TYPE_CHECKING:
    from headgauge.claims import Outcome

COLOURS = {
    "true": "green",
    "true with a condition": "yellow",
    "true but vacuous": "yellow",
    "misprint": "magenta",
    "false": "red",
    "not implied": "red",
}


def command(
    claim_id: Annotated[
        str | None,
        typer.Argument(
            metavar="[ID]", help="One claim, shown with its numbers: 11, 4' or 4''' (quote primes)."
        ),
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Check every statement of the papers (arXiv 2508.17821, D…: 2510.22026) against its verdict.

    Exit code 1 if a check disagrees with the verdict on record.
    """
    # torch takes seconds: not for --help.
    from headgauge import claims

    wanted = claims.CLAIMS if claim_id is None else (claims.find(claim_id),)
    notes = stderr(quiet)
    outcomes = []
    with share_bar("checking claims", notes) as progress:
        for outcome in claims.run(wanted):
            outcomes.append(outcome)
            progress(len(outcomes) / len(wanted))
    if as_json:
        print_json([outcome.as_dict() for outcome in outcomes])
    elif claim_id is not None:
        _print_one(stdout(), outcomes[0])
    else:
        _print_table(stdout(), outcomes)
    notes.print(_summary(outcomes))
    if not all(outcome.agrees for outcome in outcomes):
        raise typer.Exit(1)


def _check_word(outcome: "Outcome") -> Text:
    if outcome.claim.textual:
        return Text("textual", style="dim")
    return Text("agrees", style="green") if outcome.agrees else Text("DISAGREES", style="bold red")


def _print_table(console: Console, outcomes: list["Outcome"]) -> None:
    table = Table(title="What the papers say, and whether it holds", title_justify="left")
    table.add_column("#", no_wrap=True)
    table.add_column("statement", ratio=1, overflow="fold")
    table.add_column("verdict", max_width=12)
    table.add_column("check", no_wrap=True)
    for outcome in outcomes:
        claim = outcome.claim
        verdict = Text(str(claim.verdict), style=COLOURS[claim.verdict])
        table.add_row(claim.id, Text(claim.statement), verdict, _check_word(outcome))
    console.print(table)


def _print_one(console: Console, outcome: "Outcome") -> None:
    claim = outcome.claim
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column(ratio=1, overflow="fold")
    rows = {
        "claim": claim.id,
        "where": claim.where,
        "seen in": claim.seen_in,
        "statement": claim.statement,
        "verdict": Text(str(claim.verdict), style=COLOURS[claim.verdict]),
        "why": claim.because,
        "corrected": claim.corrected,
        "code": "\n".join(f"headgauge.{name}" for name in claim.code) or "–",
        "check": _check_word(outcome),
    }
    for name, value in rows.items():
        grid.add_row(name, value if isinstance(value, Text) else Text(value))
    console.print(grid)
    if outcome.finding is None:
        return
    numbers = Table(box=None, show_header=False, padding=(0, 2))
    numbers.add_column(ratio=1, overflow="fold")
    numbers.add_column(justify="right", no_wrap=True)
    for name, value in outcome.finding.numbers.items():
        numbers.add_row(Text(name), f"{value:.6g}" if isinstance(value, float) else str(value))
    console.print()
    console.print(numbers)


def _summary(outcomes: list["Outcome"]) -> str:
    from headgauge.claims import Verdict

    counts = Counter(outcome.claim.verdict for outcome in outcomes)
    verdicts = ", ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict if counts[verdict])
    wrong = [outcome.claim.id for outcome in outcomes if not outcome.agrees]
    state = f"disagreeing: {', '.join(wrong)}" if wrong else "every check agrees with its verdict"
    seconds = sum(outcome.seconds for outcome in outcomes)
    noun = "statement" if len(outcomes) == 1 else "statements"
    hint = "" if len(outcomes) == 1 else "; headgauge claims ID shows what holds instead"
    return f"{len(outcomes)} {noun} ({verdicts}); {state}; {seconds:.1f} s{hint}"
