import math

import pytest

from claims.mutants import instead, power, with_argument

SLIPS = {
    "D4 1/r^2": ("particles.schemes.Scheme.rates", power(2.0, part=0)),
    "D4 LN-Scaling fades": ("particles.schemes.LnScaling.gain", power(4.0)),
    "D4 attention repels": ("particles.attention.Attention.output", lambda f: lambda *a: -f(*a)),
    "D5 stated": ("theory.dynamics.theorems.radial_rate_stated", "double"),
    "D5 stated, n for n-1": (
        "theory.dynamics.theorems.radial_rate_stated",
        instead(lambda n, beta: (math.exp(beta) - n) / (n * math.exp(beta))),
    ),
    "D5 stated without 1/n": (
        "theory.dynamics.theorems.radial_rate_stated",
        instead(lambda n, beta: 1 - (n - 1) * math.exp(-beta)),
    ),
    "D5 least, nan": ("theory.dynamics.theorems.least_radial_rate", "nan"),
    "D5 least, n for n-1": (
        "theory.dynamics.theorems.least_radial_rate",
        with_argument("tokens", lambda n: n + 1),
    ),
    "D5 allowed without beta": (
        "theory.dynamics.theorems.tokens_allowed",
        instead(lambda beta: 1 + math.exp(beta + 1)),
    ),
    "D5 attained elsewhere": ("theory.dynamics.theorems.least_radial_cosine", "half"),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_is_noticed(ledger_notices, slip):
    assert ledger_notices(slip.split()[0], *SLIPS[slip])
