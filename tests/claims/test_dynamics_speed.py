import pytest

BROKEN = [
    ("D6", "dynamics.theorems.attention_bound_printed", "nan"),
    ("D6", "dynamics.theorems.attention_bound_printed", "tight"),
    ("D6", "dynamics.theorems.attention_bound_printed", "loose"),
    ("D6", "dynamics.theorems.across_bound", "nan"),
    ("D6", "dynamics.theorems.across_bound", "tight"),
    ("D6", "dynamics.theorems.across_bound", "loose"),
    ("D6", "dynamics.theorems.attention_size", "nan"),
    ("D6", "dynamics.theorems.attention_size", "tight"),
    ("D6", "dynamics.theorems.attention_size", "loose"),
    ("D7", "dynamics.theorems.cone_scale", "nan"),
    ("D7", "dynamics.theorems.cone_scale", "tight"),
    ("D7", "dynamics.theorems.cone_rates", "nan"),
    ("D7", "dynamics.theorems.cone_rates", "tight"),
    ("D7", "dynamics.theorems.cone_rates", "loose"),
    ("D7", "dynamics.theorems.cone_rates", "wide"),
    ("D8", "dynamics.rates.final_rate", "nan"),
    ("D8", "dynamics.rates.final_rate", "tight"),
    ("D8", "dynamics.rates.final_rate", "loose"),
    ("D8", "dynamics.schemes.LnScalingPre.clock", "tight"),
]


@pytest.mark.parametrize(("claim_id", "target", "how"), BROKEN)
def test_a_broken_formula_is_noticed(ledger_notices, claim_id, target, how):
    assert ledger_notices(claim_id, target, how)
