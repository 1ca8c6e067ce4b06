import pytest

BROKEN = [
    ("D9", "dynamics.theorems.peri_over_pre", "nan"),
    ("D9", "dynamics.theorems.peri_over_pre", "tight"),
    ("D9", "dynamics.theorems.peri_over_pre", "loose"),
    ("D9", "dynamics.rates.initial_velocity", "nan"),
    ("D10", "dynamics.long_context.output_cosine", "nan"),
    ("D10", "dynamics.long_context.output_cosine", "tight"),
    ("D10", "dynamics.long_context.limit", "nan"),
    ("D10", "dynamics.long_context.limit", "tight"),
    ("D10", "dynamics.long_context.limit", "loose"),
    ("D10", "dynamics.long_context.limit_printed", "nan"),
    ("D10", "dynamics.long_context.limit_printed", "tight"),
    ("D10", "dynamics.long_context.limit_printed", "loose"),
    ("D11", "dynamics.theorems.post_ln_time", "tight"),
    ("D11", "dynamics.schemes.PeriLn.gain", "tight"),
]


@pytest.mark.parametrize(("claim_id", "target", "how"), BROKEN)
def test_a_broken_formula_is_noticed(ledger_notices, claim_id, target, how):
    assert ledger_notices(claim_id, target, how)
