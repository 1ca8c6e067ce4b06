import pytest

BROKEN = [
    ("13", "sensitivity.example_first_order", "nan"),
    ("13", "sensitivity.example_first_order", "tight"),
    ("13", "sensitivity.example_first_order", "loose"),
    ("14", "finite_difference.mean_over_directions", "nan"),
    ("14", "finite_difference.mean_over_directions", "tight"),
    ("14", "finite_difference.mean_over_directions", "loose"),
    ("14", "finite_difference.root_mean_square_over_directions", "nan"),
    ("14", "finite_difference.root_mean_square_over_directions", "tight"),
    ("14", "finite_difference.root_mean_square_over_directions", "loose"),
    ("14", "sensitivity.spectral_norm", "nan"),
    ("14", "sensitivity.spectral_norm", "tight"),
    ("14", "sensitivity.spectral_norm", "loose"),
    ("14'", "sensitivity.spectral_norm", "nan"),
    ("14'", "sensitivity.spectral_norm", "tight"),
    ("14'", "sensitivity.spectral_norm", "loose"),
]


@pytest.mark.parametrize(("claim_id", "target", "how"), BROKEN)
def test_a_broken_formula_is_noticed(ledger_notices, claim_id, target, how):
    assert ledger_notices(claim_id, target, how)
