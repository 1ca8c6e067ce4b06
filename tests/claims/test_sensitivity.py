import pytest

BROKEN = [
    ("11", "sensitivity.spectral_norm", "nan"),
    ("11", "sensitivity.spectral_norm", "tight"),
    ("11", "sensitivity.spectral_norm", "loose"),
    ("11", "sensitivity.corollary_3", "nan"),
    ("11", "sensitivity.corollary_3", "tight"),
    ("11", "sensitivity.corollary_3", "loose"),
    ("11", "sensitivity.corollary_3_printed", "loose"),
    ("11'", "finite_difference.sharp_bound", "nan"),
    ("11'", "finite_difference.sharp_bound", "tight"),
    ("11'", "finite_difference.sharp_bound", "loose"),
    ("11'", "finite_difference.direction_bound", "nan"),
    ("11'", "finite_difference.direction_bound", "tight"),
    ("11'", "finite_difference.direction_bound", "loose"),
    ("11'", "finite_difference.worst_sensitivity", "nan"),
    ("11'", "finite_difference.worst_sensitivity", "tight"),
    ("11'", "finite_difference.worst_sensitivity", "loose"),
    ("12", "general_normalizer.logarithmic_bound", "nan"),
    ("12", "general_normalizer.logarithmic_bound", "tight"),
    ("12", "general_normalizer.logarithmic_bound", "loose"),
    ("12", "general_normalizer.projector_bound", "nan"),
    ("12", "general_normalizer.projector_bound", "tight"),
    ("12", "general_normalizer.projector_bound", "loose"),
    ("12", "general_normalizer.smallest_value_bound", "nan"),
    ("12", "general_normalizer.lemma_2_printed", "loose"),
    ("12'", "general_normalizer.spectral_norm", "nan"),
    ("12'", "general_normalizer.spectral_norm", "loose"),
    ("12''", "sensitivity.frobenius_norm", "nan"),
    ("12''", "sensitivity.frobenius_norm", "tight"),
    ("12''", "sensitivity.frobenius_norm", "loose"),
]


@pytest.mark.parametrize(("claim_id", "target", "how"), BROKEN)
def test_a_broken_formula_is_noticed(ledger_notices, claim_id, target, how):
    assert ledger_notices(claim_id, target, how)
