"""All claims in the papers' order, and how to run their checks."""

import time
from collections.abc import Iterable, Iterator

from headgauge.claims import (
    distance,
    dynamics,
    dynamics_clocks,
    dynamics_speed,
    dynamics_synchrony,
    expected_distance,
    finite_difference,
    general_normalizer,
    jensen_gap,
    kolmogorov_smirnov,
    limits,
    rules,
    sensitivity,
    separability,
    trade_off,
    vanishing,
    wording,
)
from headgauge.claims.record import Claim, Outcome
from headgauge.errors import InputError
from headgauge.threads import one_thread

CLAIMS: tuple[Claim, ...] = (
    *vanishing.CLAIMS,
    *distance.CLAIMS,
    *expected_distance.CLAIMS,
    *jensen_gap.CLAIMS,
    *limits.CLAIMS,
    *separability.CLAIMS,
    *sensitivity.CLAIMS,
    *general_normalizer.CLAIMS,
    *finite_difference.CLAIMS,
    *wording.CLAIMS,
    *trade_off.CLAIMS,
    *rules.CLAIMS,
    *kolmogorov_smirnov.CLAIMS,
    *dynamics.CLAIMS,
    *dynamics_synchrony.CLAIMS,
    *dynamics_speed.CLAIMS,
    *dynamics_clocks.CLAIMS,
)


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
