"""Break one formula from outside, grossly. Where `test_mutants` has a fine slip of a formula in a
check, only what that cannot show stands here."""

import pytest

BROKEN = {
    "1": {
        "vanishing.lemma_1_bounds": "nan wide",
    },
    "2": {
        "vanishing.corollary_1_sharp": "nan wide",
        "vanishing.corollary_1_printed": "nan",
        "vanishing.jensen_upper_bound": "nan",
        "vanishing.key_spread_upper_bound": "nan",
    },
    "3": {
        "distance_bounds.printed_bound": "nan tight loose",
        "distance_bounds.centroid_bound": "nan",
        "distance_bounds.sandwich": "nan wide",
    },
    "3'": {
        "distance_bounds.absolute_bound": "nan",
        "distance_bounds.centroid_bound": "nan tight",
    },
    "3''": {
        "distance_bounds.printed_bound": "nan tight loose",
    },
    "4": {
        "expected_distance.sandwich": "nan wide",
    },
    "4'": {
        "expected_distance.appendix": "nan",
    },
    "5": {
        "jensen_gap.printed": "nan",
        "jensen_gap.corrected": "nan",
    },
    "5'": {
        "jensen_gap.corrected": "nan",
    },
    "5''": {
        "expected_distance.appendix": "nan",
        "expected_distance.conditional_moments": "nan",
    },
    "6": {
        "expected_limits.cap": "nan",
        "expected_limits.corollary_2_printed": "nan",
    },
    "6'": {
        "expected_distance.sandwich": "nan",
    },
    "7": {
        "expected_limits.cap": "nan",
        "expected_distance.exact": "nan",
    },
    "9": {
        "separability.printed_lower_bound": "nan",
        "separability.deterministic_lower_bound": "nan",
        "separability.xi": "nan tight loose",
    },
    "9'": {
        "separability_bounds.fixed_radius_bounds": "nan wide",
        "separability_bounds.expected_count_given_selected": "nan tight loose",
    },
    "9''": {
        "separability.xi": "nan",
    },
    "10": {
        "separability_bounds.flat_weight_law": "nan",
        "separability.separability": "nan tight",
    },
    "11": {
        "sensitivity.spectral_norm": "nan",
        "sensitivity.corollary_3": "nan",
    },
    "11'": {
        "finite_difference.sharp_bound": "nan",
        "finite_difference.direction_bound": "nan",
        "finite_difference.worst_sensitivity": "nan tight loose",
    },
    "12": {
        "general_normalizer.logarithmic_bound": "nan",
        "general_normalizer.projector_bound": "nan",
        "general_normalizer.smallest_value_bound": "nan",
    },
    "12'": {
        "general_normalizer.spectral_norm": "nan loose",
    },
    "12''": {
        "sensitivity.frobenius_norm": "nan",
    },
    "13": {
        "sensitivity.example_first_order": "nan",
    },
    "14": {
        "finite_difference.mean_over_directions": "nan",
        "finite_difference.root_mean_square_over_directions": "nan",
        "sensitivity.spectral_norm": "nan tight loose",
    },
    "14'": {
        "sensitivity.spectral_norm": "nan",
    },
    "15": {
        "coverage.multi_head_coverage": "nan",
    },
    "19": {
        "trade_off.softmax_temperature": "nan",
        "trade_off.lipschitz_price": "nan",
        "sensitivity.corollary_3": "nan",
    },
}


@pytest.mark.parametrize(
    ("claim_id", "target", "how"),
    [
        (claim_id, target, how)
        for claim_id, targets in BROKEN.items()
        for target, hows in targets.items()
        for how in hows.split()
    ],
)
def test_a_broken_formula_is_noticed(ledger_notices, claim_id, target, how):
    assert ledger_notices(claim_id, f"theory.normalization.{target}", how)
