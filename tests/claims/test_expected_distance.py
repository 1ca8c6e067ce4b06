import pytest

BROKEN = [
    ("4", "expected_distance.printed", "loose"),
    ("4", "expected_distance.sandwich", "nan"),
    ("4", "expected_distance.sandwich", "tight"),
    ("4", "expected_distance.sandwich", "loose"),
    ("4", "expected_distance.sandwich", "wide"),
    ("4'", "expected_distance.appendix", "nan"),
    ("4'", "expected_distance.appendix", "tight"),
    ("4'", "expected_distance.appendix", "loose"),
    ("5", "jensen_gap.printed", "nan"),
    ("5", "jensen_gap.printed", "tight"),
    ("5", "jensen_gap.corrected", "nan"),
    ("5", "jensen_gap.corrected", "tight"),
    ("5", "jensen_gap.corrected", "loose"),
    ("5'", "jensen_gap.appendix", "tight"),
    ("5'", "jensen_gap.corrected", "nan"),
    ("5'", "jensen_gap.corrected", "tight"),
    ("5'", "jensen_gap.corrected", "loose"),
    ("5''", "expected_distance.appendix", "nan"),
    ("5''", "expected_distance.appendix", "tight"),
    ("5''", "expected_distance.appendix", "loose"),
    ("5''", "expected_distance.conditional_moments", "nan"),
]


@pytest.mark.parametrize(("claim_id", "target", "how"), BROKEN)
def test_a_broken_formula_is_noticed(ledger_notices, claim_id, target, how):
    assert ledger_notices(claim_id, target, how)
