import pytest

BROKEN = [
    ("15", "coverage.multi_head_coverage", "nan"),
    ("15", "coverage.multi_head_coverage", "tight"),
    ("15", "coverage.heads_needed", "loose"),
    ("19", "trade_off.softmax_temperature", "nan"),
    ("19", "trade_off.softmax_temperature", "tight"),
    ("19", "trade_off.softmax_temperature", "loose"),
    ("19", "trade_off.lipschitz_price", "nan"),
    ("19", "trade_off.lipschitz_price", "tight"),
    ("19", "trade_off.lipschitz_price", "loose"),
    ("19", "sensitivity.corollary_3", "nan"),
]


@pytest.mark.parametrize(("claim_id", "target", "how"), BROKEN)
def test_a_broken_formula_is_noticed(ledger_notices, claim_id, target, how):
    assert ledger_notices(claim_id, target, how)
