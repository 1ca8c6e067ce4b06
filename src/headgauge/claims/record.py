"""What one row of the claims ledger is, and when a check agrees with its verdict.

A record is a check with `@claim`: its docstring has the statement, why the verdict, what holds
instead and where the code is, a paragraph each.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Verdict(StrEnum):
    TRUE = "true"
    CONDITION = "true with a condition"
    VACUOUS = "true but vacuous"
    MISPRINT = "misprint"
    FALSE = "false"
    NOT_IMPLIED = "not implied"


@dataclass(frozen=True)
class Finding:
    """What a check saw. It reports facts and does not know the verdict on record."""

    printed: bool
    """The statement, as it was found, survived everything that was tried."""
    corrected: bool
    """So did the corrected one."""
    conditional: bool = False
    """The statement survived under the condition that the verdict names."""
    informative: bool = True
    """It says more than nothing: its bound is of the size of what it bounds."""
    numbers: dict[str, float | int | str] = field(default_factory=dict)

    def supports(self, verdict: Verdict) -> bool:
        refuted = not self.printed and not self.conditional
        expected = {
            Verdict.TRUE: self.printed and self.informative,
            Verdict.VACUOUS: self.printed and not self.informative,
            Verdict.CONDITION: self.conditional and not self.printed,
        }
        return expected.get(verdict, refuted) and self.corrected


@dataclass(frozen=True)
class Claim:
    """A paper's statement, the verdict on it, and the check that can contradict the verdict."""

    id: str
    """ASCII: the statement's number, primes for its variants."""
    where: str
    statement: str
    verdict: Verdict
    because: str
    """The counterexample, or why it holds."""
    corrected: str
    code: tuple[str, ...] = ()
    """Where the statement and the corrected form live, below `headgauge`."""
    check: Callable[[], Finding] | None = None
    """None for a row that is only about wording."""
    seen_in: str = ""
    """What the statement was read in. Empty: the paper itself, or its slides if `where` says so."""

    def __post_init__(self) -> None:
        if not self.seen_in:
            # "Eq. (12); slides" stands in both, "Slides, Theorem 1" in the slides alone.
            said = self.where.lower()
            parts = ["the slides"] if "slides" in said else []
            parts = parts if said.startswith("slides") else ["the paper", *parts]
            object.__setattr__(self, "seen_in", " and ".join(parts))

    @property
    def textual(self) -> bool:
        return self.check is None

    def as_dict(self) -> dict[str, str]:
        """What a page says of it; the check has not run."""
        return {
            "id": self.id,
            "where": self.where,
            "seen_in": self.seen_in,
            "statement": self.statement,
            "verdict": str(self.verdict),
            "because": self.because,
            "corrected": self.corrected,
        }


RECORDS: list[Claim] = []
"""Every record, in whatever order the modules were read."""


def claim(
    id: str, where: str, verdict: Verdict, seen_in: str = "", textual: bool = False
) -> Callable[[Callable[[], Finding | None]], Claim]:
    """The record of the check below it; a `textual` one is only about wording."""

    def made(check: Callable[[], Any]) -> Claim:
        paragraphs = [" ".join(each.split()) for each in (check.__doc__ or "").split("\n\n")]
        statement, because, corrected, *code = paragraphs
        parts = [part[len("in ") :].split(": ") for each in code for part in each[:-1].split("; ")]
        names = tuple(f"{module}.{name}" for module, some in parts for name in some.split(", "))
        run = None if textual else check
        record = Claim(id, where, statement, verdict, because, corrected, names, run, seen_in)
        RECORDS.append(record)
        return record

    return made


@dataclass(frozen=True)
class Outcome:
    """A claim after its check has run."""

    claim: Claim
    finding: Finding | None
    seconds: float

    @property
    def agrees(self) -> bool:
        """A textual row has nothing that could disagree."""
        return self.finding is None or self.finding.supports(self.claim.verdict)

    def as_dict(self) -> dict[str, object]:
        claim = self.claim
        return {
            "id": claim.id,
            "where": claim.where,
            "seen_in": claim.seen_in,
            "statement": claim.statement,
            "verdict": str(claim.verdict),
            "agrees": self.agrees,
            "textual": claim.textual,
            "because": claim.because,
            "corrected": claim.corrected,
            "code": [f"headgauge.{name}" for name in claim.code],
            "numbers": dict(self.finding.numbers) if self.finding else {},
            "seconds": round(self.seconds, 3),
        }
