"""All claims in the papers' order, and how to run their checks."""

import time
from collections.abc import Iterable, Iterator

from headgauge.claims import (  # noqa: F401  (they hold the records)
    discussion,
    distance,
    dynamics,
    dynamics_clocks,
    dynamics_speed,
    dynamics_synchrony,
    expected_distance,
    general_normalizer,
    jensen_gap,
    limits,
    rules,
    sensitivity,
    separability,
    separability_bounds,
    vanishing,
)
from headgauge.claims.record import RECORDS, Claim, Outcome
from headgauge.errors import InputError
from headgauge.threads import one_thread


def _order(claim: Claim) -> tuple[bool, int, int]:
    """The papers' order: 1, 1', 2, …, 22, D1, …"""
    number = claim.id.strip("D'")
    return claim.id.startswith("D"), int(number), claim.id.count("'")


CLAIMS: tuple[Claim, ...] = tuple(sorted(RECORDS, key=_order))


def find(claim_id: str) -> Claim:
    """The claim with this id; typographic primes are as good as ASCII ones."""
    wanted = claim_id.strip().replace("′", "'").replace("″", "''").replace("‴", "'''")
    wanted = wanted.replace("’", "'").upper()
    for claim in CLAIMS:
        if claim.id == wanted:
            return claim
    known = ", ".join(claim.id for claim in CLAIMS)
    raise InputError(f"there is no claim {claim_id!r}; the ledger has {known}")


def run(claims: Iterable[Claim] = CLAIMS) -> Iterator[Outcome]:
    """Run the checks one by one; the same numbers every time."""
    for claim in claims:
        start = time.perf_counter()
        with one_thread():
            finding = claim.check() if claim.check else None
        yield Outcome(claim, finding, time.perf_counter() - start)
