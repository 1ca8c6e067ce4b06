"""Table 1: the paper's times, ours, and the literal loop's, algorithm by algorithm."""

from typing import Any, TypedDict

from headgauge.paper.literal import LiteralTime
from headgauge.paper.settings import ReproduceSettings
from headgauge.runs import UnitKey

PAPER_SECONDS = {
    "1": 24 * 60.0,
    "2": 37 * 60.0,
    "3": 17 * 3600.0 + 4 * 60,
    "4": 7 * 60.0,
    "5": 60.0,
}
WHAT = {
    "1": "distance over L",
    "2": "distance over N",
    "3": "critical N",
    "4": "separability",
    "5": "sensitivity",
}
_SHARED = ("2", "3", "4")
_PASS = ("forward", "vectors", "paper")


class TimingRow(TypedDict):
    """An algorithm's times in seconds; null where there is none."""

    algorithm: str
    what: str
    paper_seconds: float
    ours_seconds: float | None
    shared: bool
    literal_seconds: float | None
    literal_share: float | None  # of the loop that was timed
    ratio: float | None
    note: str


def timing_table(
    units: dict[str, dict[str, float]], literal: list[LiteralTime], settings: ReproduceSettings
) -> list[dict[str, Any]]:
    """A row per algorithm. `units` has the seconds of each unit by phase.

    Algorithms 2, 3 and 4 share one pass over the longest window: each row has the whole of it, so
    that no ratio is flattered. Algorithm 1 is that pass and those over the shorter windows.
    """
    longest = units.get(UnitKey(0, settings.length).name, {})
    shared = _seconds(longest, _PASS)
    shorter = [
        _seconds(spent, _PASS)
        for name, spent in units.items()
        if (key := UnitKey.from_name(name)) and key.window == 0 and key.length < settings.length
    ]
    ours = {
        "1": sum(shorter) + shared if shorter else None,
        "2": shared,
        "3": shared,
        "4": shared,
        "5": longest.get("sensitivity"),
    }
    loops = {each.algorithm: each for each in literal}
    return [_row(number, ours[number], loops.get(number), settings) for number in PAPER_SECONDS]


def algorithms_seconds(table: list[dict[str, Any]]) -> float | None:
    """All five together: Algorithm 1 has the shared pass in it."""
    by = {row["algorithm"]: row["ours_seconds"] for row in table}
    wanted = [by.get("1"), by.get("5")]
    return None if None in wanted else sum(value for value in wanted if value is not None)


def _row(
    number: str, ours: float | None, loop: LiteralTime | None, settings: ReproduceSettings
) -> dict[str, Any]:
    literal = None if loop is None else loop.seconds
    ours_compares = True
    shorter = ", ".join(map(str, sorted(settings.lengths)[:-1]))
    notes = {
        "1": f"passes over L = {shorter or 'none shorter'}, with every N that Algorithm 3 needs "
        "there, and the pass of Algorithms 2 to 4 at the longest L",
        "3": "one pass serves Algorithms 2, 3 and 4; its whole time stands in each row; without "
        "the tests themselves, which take a second or two",
        "5": f"{settings.fig4.rows} of {settings.length} query rows per head, the literal loop all "
        f"of them: per row the ratio is {settings.length / settings.fig4.rows:.0f} times smaller",
    }
    if settings.paper_rows is not None and number != "5":
        notes[number] = (
            f"{settings.paper_rows} of {settings.length} query rows and a grid of N, the literal "
            "loop all of them: no ratio"
        )
        ours_compares = False
    shared = "one pass serves Algorithms 2, 3 and 4; its whole time stands in each row"
    return {
        "algorithm": number,
        "what": WHAT[number],
        "paper_seconds": PAPER_SECONDS[number],
        "ours_seconds": None if ours is None else round(ours, 3),
        "shared": number in _SHARED,
        "literal_seconds": None if literal is None else round(literal, 1),
        "literal_share": None if loop is None else loop.share,
        "ratio": round(literal / ours, 1) if literal and ours and ours_compares else None,
        "note": notes.get(number, shared),
    }


def _seconds(spent: dict[str, float], phases: tuple[str, ...]) -> float:
    return sum(spent.get(phase, 0.0) for phase in phases)
