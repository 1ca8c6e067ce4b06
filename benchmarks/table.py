"""All that was measured, in one table: each figure with its spread beside its limit and target."""

from dataclasses import dataclass

from rich.table import Table

from benchmarks.timing import Result


@dataclass(frozen=True)
class Part:
    """One benchmark's rows, and what it measured them on."""

    name: str
    setting: str
    results: list[Result]


def table(parts: list[Part], where: str) -> Table:
    """The rows, part by part."""
    made = Table(
        caption=f"{where}; the spread is all of few rounds, the middle half of eight or more"
    )
    for heading in ("what", "against"):
        made.add_column(heading, overflow="fold")
    for heading in ("ours", "theirs", "median", "spread", "limit", "target", "reached"):
        made.add_column(heading, justify="right", no_wrap=True)
    for part in parts:
        made.add_section()
        made.add_row(part.name, style="bold")
        for each in part.results:
            made.add_row(*_cells(each))
    return made


def _cells(result: Result) -> list[str]:
    sign = {"at most": "≤", "at least": "≥"}[result.direction]
    unit = f" {result.unit}".rstrip()
    theirs, spread = result.theirs_seconds, result.spread
    ratio = {"at most": " ×", "at least": " × as fast"}[result.direction]
    return [
        f"  {result.what}",
        result.against,
        _short(result.ours_seconds) + unit,
        "" if theirs is None else _short(theirs) + unit,
        _short(result.figure) + (unit if theirs is None else ratio),
        "one round" if spread is None else "–".join(map(_short, spread)),
        *("" if each is None else f"{sign} {each:g}" for each in (result.limit, result.target)),
        result.met,
    ]


def _short(number: float) -> str:
    """Three digits that count, without an exponent."""
    return f"{number:.0f}" if abs(number) >= 100 else f"{number:#.3g}" if number else "0"
