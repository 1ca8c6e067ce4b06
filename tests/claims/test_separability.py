import pytest

BROKEN = [
    ("9", "separability.printed_lower_bound", "nan"),
    ("9", "separability.printed_lower_bound", "loose"),
    ("9", "separability.deterministic_lower_bound", "nan"),
    ("9", "separability.deterministic_lower_bound", "tight"),
    ("9", "separability.deterministic_lower_bound", "loose"),
    ("9", "separability.xi", "nan"),
    ("9", "separability.xi", "tight"),
    ("9", "separability.xi", "loose"),
    ("9'", "separability_bounds.fixed_radius_bounds", "nan"),
    ("9'", "separability_bounds.fixed_radius_bounds", "tight"),
    ("9'", "separability_bounds.fixed_radius_bounds", "wide"),
    ("9'", "separability_bounds.expected_count_given_selected", "nan"),
    ("9'", "separability_bounds.expected_count_given_selected", "tight"),
    ("9'", "separability_bounds.expected_count_given_selected", "loose"),
    ("9''", "separability.xi", "nan"),
    ("9''", "separability.xi", "tight"),
    ("9''", "separability.xi", "loose"),
    ("10", "separability_bounds.flat_weight_law", "nan"),
    ("10", "separability_bounds.flat_weight_law", "tight"),
    ("10", "separability.separability", "nan"),
    ("10", "separability.separability", "tight"),
]


@pytest.mark.parametrize(("claim_id", "target", "how"), BROKEN)
def test_a_broken_formula_is_noticed(ledger_notices, claim_id, target, how):
    assert ledger_notices(claim_id, target, how)
