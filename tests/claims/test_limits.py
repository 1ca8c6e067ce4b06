import pytest

BROKEN = [
    ("6", "expected_limits.cap", "nan"),
    ("6", "expected_limits.cap", "tight"),
    ("6", "expected_limits.cap", "loose"),
    ("6", "expected_limits.corollary_2_printed", "nan"),
    ("6", "expected_limits.corollary_2_printed", "loose"),
    ("6'", "expected_distance.sandwich", "nan"),
    ("6'", "expected_distance.sandwich", "loose"),
    ("7", "expected_limits.cap", "nan"),
    ("7", "expected_limits.cap", "tight"),
    ("7", "expected_limits.cap", "loose"),
    ("7", "expected_distance.exact", "nan"),
    ("7", "expected_distance.exact", "loose"),
]


@pytest.mark.parametrize(("claim_id", "target", "how"), BROKEN)
def test_a_broken_formula_is_noticed(ledger_notices, claim_id, target, how):
    assert ledger_notices(claim_id, target, how)
