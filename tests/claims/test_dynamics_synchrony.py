import pytest

BROKEN = [
    ("D4", "dynamics.schemes.Scheme.rates", "tight"),
    ("D5", "dynamics.theorems.radial_rate_printed", "nan"),
    ("D5", "dynamics.theorems.radial_rate_printed", "tight"),
    ("D5", "dynamics.theorems.radial_rate_printed", "loose"),
    ("D5", "dynamics.theorems.least_radial_rate", "nan"),
    ("D5", "dynamics.theorems.least_radial_rate", "tight"),
    ("D5", "dynamics.theorems.least_radial_rate", "loose"),
    ("D5", "dynamics.theorems.tokens_allowed", "tight"),
    ("D5", "dynamics.theorems.tokens_allowed", "loose"),
    ("D5", "dynamics.theorems.least_radial_cosine", "nan"),
    ("D5", "dynamics.theorems.least_radial_cosine", "tight"),
]


@pytest.mark.parametrize(("claim_id", "target", "how"), BROKEN)
def test_a_broken_formula_is_noticed(ledger_notices, claim_id, target, how):
    assert ledger_notices(claim_id, target, how)
