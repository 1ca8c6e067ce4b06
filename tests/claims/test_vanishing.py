import pytest

BROKEN = [
    ("1", "vanishing.lemma_1_bounds", "nan"),
    ("1", "vanishing.lemma_1_bounds", "tight"),
    ("1", "vanishing.lemma_1_bounds", "wide"),
    ("1", "vanishing.lemma_1_constants", "tight"),
    ("2", "vanishing.corollary_1_sharp", "nan"),
    ("2", "vanishing.corollary_1_sharp", "tight"),
    ("2", "vanishing.corollary_1_sharp", "wide"),
    ("2", "vanishing.corollary_1_printed", "nan"),
    ("2", "vanishing.corollary_1_printed", "tight"),
    ("2", "vanishing.jensen_upper_bound", "nan"),
    ("2", "vanishing.jensen_upper_bound", "tight"),
    ("2", "vanishing.jensen_upper_bound", "loose"),
    ("2", "vanishing.key_spread_upper_bound", "nan"),
    ("2", "vanishing.key_spread_upper_bound", "tight"),
]


@pytest.mark.parametrize(("claim_id", "target", "how"), BROKEN)
def test_a_broken_formula_is_noticed(ledger_notices, claim_id, target, how):
    assert ledger_notices(claim_id, target, how)
