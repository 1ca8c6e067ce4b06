"""The claims ledger: every statement of two papers with its verdict and a check that can fail.

>>> from headgauge import claims
>>> outcome = next(claims.run([claims.find("11")]))
>>> str(outcome.claim.verdict), outcome.agrees
('false', True)

One file per part of a paper (those of the second begin with `dynamics`); `record` says what a claim
is, `ledger` puts them in order, `page` writes docs/claims.md.
"""

from headgauge.claims.ledger import CLAIMS, find, run
from headgauge.claims.record import Claim, Finding, Outcome, Verdict

__all__ = ["CLAIMS", "Claim", "Finding", "Outcome", "Verdict", "find", "run"]
