import pytest

BROKEN = [
    ("3", "distance_bounds.printed_bound", "nan"),
    ("3", "distance_bounds.printed_bound", "tight"),
    ("3", "distance_bounds.printed_bound", "loose"),
    ("3", "distance_bounds.centroid_bound", "nan"),
    ("3", "distance_bounds.centroid_bound", "tight"),
    ("3", "distance_bounds.centroid_bound", "loose"),
    ("3", "distance_bounds.sandwich", "nan"),
    ("3", "distance_bounds.sandwich", "tight"),
    ("3", "distance_bounds.sandwich", "loose"),
    ("3", "distance_bounds.sandwich", "wide"),
    ("3'", "distance_bounds.absolute_bound", "nan"),
    ("3'", "distance_bounds.absolute_bound", "tight"),
    ("3'", "distance_bounds.absolute_bound", "loose"),
    ("3'", "distance_bounds.centroid_bound", "nan"),
    ("3'", "distance_bounds.centroid_bound", "tight"),
    ("3''", "distance_bounds.slides_bound", "loose"),
    ("3''", "distance_bounds.printed_bound", "nan"),
    ("3''", "distance_bounds.printed_bound", "tight"),
    ("3''", "distance_bounds.printed_bound", "loose"),
]


@pytest.mark.parametrize(("claim_id", "target", "how"), BROKEN)
def test_a_broken_formula_is_noticed(ledger_notices, claim_id, target, how):
    assert ledger_notices(claim_id, target, how)
