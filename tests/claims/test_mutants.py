"""Change one formula a little and see whether the ledger notices.

A mutant is a piece of a function's source and what stands in its place: a constant doubled, a
factor left out, N for L. At the end functions are broken from outside, so grossly that a loose
check would do.
"""

import inspect
import textwrap
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from claims.mutants import owner_of
from headgauge import claims


def checking(found: Any) -> Any:
    """A claim's check; any other function itself."""
    return found.check if isinstance(found, claims.Claim) else found


def mutated(function: Callable, old: str, new: str):
    """The code of the function with `new` for `old`, which must stand there once."""
    source = textwrap.dedent(inspect.getsource(function))
    assert source.count(old) == 1, f"{old!r} stands {source.count(old)} times in {function}"
    namespace = dict(function.__globals__)
    exec(compile(source.replace(old, new), inspect.getfile(function), "exec"), namespace)
    code = checking(namespace[function.__name__]).__code__
    return code.replace(co_qualname=function.__code__.co_qualname)


def find(name: str) -> Callable:
    """The plain function below `headgauge` of this name, without what checks its shapes."""
    owner, attribute = owner_of(name)
    return inspect.unwrap(checking(getattr(owner, attribute)))


V, D, DB = (f"theory.normalization.{name}" for name in ("vanishing", "distance", "distance_bounds"))
E, J = "theory.normalization.expected_distance", "theory.normalization.jensen_gap"
X, C = "theory.normalization.expected_limits", "theory.normalization.coverage"
S, SB = "theory.normalization.separability", "theory.normalization.separability_bounds"
N, G = "theory.normalization.sensitivity", "theory.normalization.general_normalizer"
F, T = "theory.normalization.finite_difference", "theory.normalization.trade_off"
R, K = "theory.normalization.random_logits", "theory.normalization.kolmogorov_smirnov"
APPENDIX = "claims.discussion.appendix_slips"
A, L = "theory.normalization.self_adjusted", "theory.normalization.selection"

MUTANTS = [
    # Lemma 1 and Corollary 1
    ("1", f"{V}.lemma_1_bounds", "lowest + (length - 1) * highest", "lowest + length * highest"),
    ("1", f"{V}.lemma_1_bounds", "highest + (length - 1) * lowest", "highest + length * lowest"),
    ("1", f"{V}.lemma_1_constants", "return lowest / highest,", "return lowest / highest / 2,"),
    ("1", f"{V}.lemma_1_constants", ", highest / lowest", ", 2 * highest / lowest"),
    ("1", "claims.vanishing._positive_only", ", 0.0)", ", 1e-6)"),
    ("1'", f"{V}.lemma_1_bounds", "highest + (length - 1) * lowest", "highest + length * lowest"),
    ("1'", f"{V}.lemma_1_bounds", "lowest + (length - 1) * highest", "lowest + length * highest"),
    ("1'", "normalizers.entmax.Sparsemax._weights", "2.0", "1.5"),
    ("1'", "normalizers.scaled_softmax.Softmax.factor", "1.0 /", "0.5 /"),
    ("2", f"{V}.corollary_1_range", "2 * query", "query"),
    ("2", f"{V}.corollary_1_range", "/ temperature", "* temperature"),
    ("2", f"{V}.corollary_1_printed", "torch.exp(spread)", "torch.exp(2 * spread)"),
    ("2", f"{V}.corollary_1_printed", "torch.exp(-spread)", "torch.exp(-2 * spread)"),
    ("2", f"{V}.corollary_1_sharp", "others = length - 1", "others = length"),
    ("2", f"{V}.jensen_upper_bound", "logits.mean(-1", "logits.amin(-1"),
    ("2", f"{V}.key_spread_upper_bound", "* away", "* 2 * away"),
    # Theorem 1.1
    ("3", f"{DB}._theorem_1_1", "sum(-1) - outside", "sum(-1) + outside"),
    ("3", f"{DB}._theorem_1_1", "bound = outside *", "bound = 2 * outside *"),
    ("3", f"{DB}.largest_cross_distance", "amax((-2, -1))", "amax(-1).mean(-1)"),
    ("3", f"{DB}.centroid_bound", "weights * away", "2 * weights * away"),
    ("3", f"{DB}.centroid_bound", "(mass[..., None] - weights)", "(mass[..., None] + weights)"),
    ("3", f"{DB}.sandwich", "(count * (difference", "(2 * count * (difference"),
    ("3", f"{DB}.sandwich", "min(peel, weights", "min(0, weights"),
    ("3'", f"{DB}.absolute_bound", "(mass[..., None] - weights)", "(mass[..., None] + weights)"),
    ("3'", f"{DB}.absolute_bound", "bound = outside *", "bound = 2 * outside *"),
    ("3'", f"{DB}._theorem_1_1", "sum(-1) - outside", "sum(-1) + outside"),
    ("3''", f"{DB}.slides_bound", "largest**2", "largest**3"),
    ("3''", f"{DB}._theorem_1_1", "sum(-1) - outside", "sum(-1) + outside"),
    ("3''", f"{D}.distance", "~selected", "selected"),
    # Theorem 1.2
    ("4", f"{E}._printed_norms", "weights + nu", "weights - nu"),
    ("4", f"{E}._printed_norms", "n / (length - 1)", "n / length"),
    ("4", f"{E}.printed", "(length - n) / length", "(length - n) / n"),
    ("4", f"{E}.printed", "* _printed_norms", "/ _printed_norms"),
    ("4", f"{E}._variance_factor", "(size * (size - 1))", "size**2"),
    ("4", f"{E}._variance_factor", "drawn * (size - drawn)", "2 * drawn * (size - drawn)"),
    ("4", f"{E}.sandwich", "centre**2 + variance", "centre**2 + 2 * variance"),
    ("4", f"{J}.printed", "0.5 *", "1.0 *"),
    ("4'", f"{E}._sum_of_others", "drawn * (mean", "drawn**2 / size * (mean"),
    ("4'", f"{E}._sum_of_others", "centred / size)", "centred / vectors.shape[-2])"),
    ("4'", f"{E}.appendix", "(length - n) / length", "(length - n) / (length + 1)"),
    ("4'", f"{E}.appendix", "(length - n) / length", "n / length"),
    ("4''", "claims.expected_distance.probability_left_out", "(length - n) / n", "n / length"),
    ("4''", "claims.expected_distance.probability_left_out", "(length - n) / length", "n / length"),
    ("4''", "claims.expected_distance.probability_left_out", "0 not in", "0 in"),
    ("4''", f"{E}.exact", "total / subsets", "total"),
    ("4'''", f"{E}.slides", "** 2", "** 3"),
    ("4'''", f"{E}.slides", "(length - n) / length", "(length - n) / n"),
    ("4'''", f"{E}._printed_norms", "weights + nu", "weights - nu"),
    ("4'''", f"{E}.appendix", "(length - n) / length", "(length - n) / n"),
    ("5", f"{J}.printed", "0.5 *", "1.0 *"),
    ("5", f"{J}.printed", "0.5 *", "0.25 *"),
    ("5", f"{J}.printed", "n / (length - 1)", "n / length"),
    ("5", f"{J}.corrected", "variance / (root + centre)", "variance / (2 * centre)"),
    ("5", f"{J}.corrected", "(length - n) / length", "1"),
    ("5'", f"{J}.appendix", "0.5 *", "1.0 *"),
    ("5'", f"{J}.appendix", "length - n - 1", "length - n"),
    ("5'", f"{J}.corrected", "variance / (root + centre)", "variance / root"),
    ("5''", f"{E}._variance_factor", "drawn * (size - drawn)", "2 * drawn * (size - drawn)"),
    ("5''", f"{E}._sum_of_others", "drawn * (mean", "drawn**2 / size * (mean"),
    ("5''", f"{E}.appendix", "centre.sum(-1)", "2 * centre.sum(-1)"),
    # Corollary 2
    ("6", f"{X}.cap", "(n + 1)", "(n + 2)"),
    ("6", f"{X}.cap", "(n + 1)", "n"),
    ("6", f"{X}.cap", "(1 - n / length) *", "1 *"),
    ("6", f"{X}.corollary_2_printed", ".sum(-1)", ".sum(-1) * 2"),
    ("6'", f"{X}.corollary_2_printed", ".sum(-1)", ".sum(-1) * 2"),
    ("6'", f"{E}.sandwich", "centre**2 + variance", "centre**2 + 4 * variance"),
    ("6'", f"{E}._printed_norms", "- mean)", ")"),
    ("6'", "claims.limits.linear_in_length", "n * math.e**2 + 1", "2 * n * math.e**2 + 1"),
    ("6'", "claims.limits.linear_in_length", "n * math.e**2 + 1", "n * math.e + 1"),
    ("6'", f"{X}.cap", "(n + 1)", "n"),
    ("7", f"{X}.cap", "(n + 1)", "n"),
    ("7", f"{X}.cap", "(1 - n / length)", "(2 - n / length)"),
    ("7", f"{E}.exact", "total / subsets", "total"),
    ("7", f"{D}.distance", "~selected", "selected"),
    ("8", f"{D}.distances_to_context", "- context[..., None, :]", ""),
    ("8", f"{L}.context_vector", "* selected[..., None]).sum(-2)", ").sum(-2)"),
    ("8", f"{D}.distance", ".sum(-1)", ".mean(-1)"),
    ("8", "claims.limits.collapse", "(norms * ~selected)", "(2 * norms * ~selected)"),
    # Theorem 2
    ("9", f"{S}.printed_lower_bound", "r * selected.sum(-1)", "2 * r * selected.sum(-1)"),
    ("9", f"{S}.printed_lower_bound", "r * selected.sum(-1)", "0.5 * r * selected.sum(-1)"),
    ("9", f"{S}.deterministic_lower_bound", "xi_values <= r", "xi_values <= r / 2"),
    ("9", f"{S}._xi", "delta**2 / 2", "delta**2"),
    ("9", f"{S}._xi", "delta**2 / 2", "delta**2 / 4"),
    ("9'", f"{SB}.deviation_bound", "(dim - 1) *", "2 * (dim - 1) *"),
    ("9'", f"{SB}.deviation_bound", "(dim - 1) *", "4 * (dim - 1) *"),
    ("9'", f"{SB}.deviation_bound", "(dim - 1) *", "0.5 * (dim - 1) *"),
    ("9'", f"{SB}.square_moments", "2 * sphere_radius**4", "sphere_radius**4"),
    ("9'", f"{SB}.square_moments", "2 * sphere_radius**4", "4 * sphere_radius**4"),
    ("9'", f"{SB}.square_moments", "spread**2 - fourth", "spread**2"),
    ("9'", f"{SB}.mean_bounds", "variance / safe**2", "variance / (2 * safe**2)"),
    ("9'", f"{SB}.cantelli", "variance / (variance + reach)", "variance / (variance + 2 * reach)"),
    ("9'", f"{SB}.fixed_radius_probabilities", "r - highest_mean", "r - lowest_mean"),
    ("9'", f"{SB}.cap_probability", "(dim - 1) / 2", "dim / 2"),
    ("9'", f"{SB}._cap_cosines", "denominator = 2 *", "denominator ="),
    ("9'", f"{SB}.expected_count_lower_bound", "-dim *", "-2 * dim *"),
    ("9'", f"{S}.printed_upper_bound", "16 *", "8 *"),
    ("9'", f"{SB}.fixed_radius_bounds", "upper.sum(-1) / count", "upper.sum(-1)"),
    ("9''", f"{S}._xi", "delta**2 / 2", "delta**2"),
    ("9''", f"{S}.xi", "leave_one_out_sum(chosen) ** 2", "chosen.sum(-1, keepdim=True) ** 2"),
    ("9''", f"{S}.xi_slides", "* total - squares", "* total"),
    ("9''", f"{S}._xi", "sphere**2 * squares", "squares"),
    ("10", f"{SB}.flat_weight_law", "math.sqrt(dim / n)", "math.sqrt(dim) / n"),
    ("10", f"{SB}.flat_weight_law", "(length - n))", "length)"),
    ("10", f"{SB}.flat_weight_law", "gauss / 2", "gauss"),
    ("10", f"{S}.printed_upper_bound", "16 *", "8 *"),
    # Corollary 3 and Lemma 2
    ("11", f"{N}.corollary_3_printed", "4 * temperature", "8 * temperature"),
    ("11", f"{N}.corollary_3", "(2 * temperature)", "temperature"),
    ("11", f"{N}.corollary_3", "(2 * temperature)", "(2 * temperature**2)"),
    ("11", f"{N}.spectral_norm", "/ temperature", "/ temperature**2"),
    ("11", f"{N}.solve_secular", "- first * nu", "- 0.9 * first * nu"),
    ("11", f"{N}.corollary_3_printed", "math.sqrt(2)", "2.0"),
    ("11'", f"{N}.corollary_3_printed", "math.sqrt(2)", "2.0"),
    ("11'", f"{F}.sharp_bound", "(2 * math.sqrt(2) * temperature)", "(2 * temperature)"),
    ("11'", f"{F}.sharp_bound", "math.sqrt(2) / epsilon", "2 / epsilon"),
    ("11'", f"{F}.direction_bound", "(4 * temperature)", "(2 * temperature)"),
    ("11'", f"{F}.direction_bound", "- direction.amin(-1)", "+ direction.amin(-1)"),
    ("12", f"{G}.uncapped_lemma_2_printed", "(length * smallest) ** 2", "length * smallest**2"),
    ("12", f"{G}.projector_bound", "root * norm", "2 * root * norm"),
    ("12", f"{G}.logarithmic_bound", ".abs().amax(-1)", ".abs().mean(-1)"),
    ("12", f"{G}.smallest_value_bound", "(length * smallest**2)", "(length * smallest)"),
    ("12", f"{G}.euclidean_bound", "1 / (length * smallest) +", "2 / (length * smallest) +"),
    ("12", f"{G}.lemma_2_printed", "math.sqrt(2)", "2.0"),
    ("12'", f"{G}.uncapped_lemma_2_printed", "(length * smallest) ** 2", "length * smallest**2"),
    ("12'", f"{G}.logarithmic_bound", "largest_eigenvalue(weights) *", "0.5 *"),
    ("12'", f"{G}.jacobian", "- weights[..., :, None] *", "+ weights[..., :, None] *"),
    ("12'", f"{G}.logarithmic_bound", "slopes / values", "values / slopes"),
    ("12''", f"{G}.uncapped_lemma_2_printed", "(length * smallest) ** 2", "length * smallest**2"),
    ("12''", f"{N}.corollary_3_printed", "4 * temperature", "8 * temperature"),
    ("12''", f"{N}.frobenius_norm", "2 * first**2 *", "first**2 *"),
    ("12''", f"{G}.uncapped_lemma_2_printed", "1 / (length", "2 / (length"),
    # The example and Algorithm 5
    ("13", f"{N}.example_first_order", "(2 - p) ** 2", "(1 - p) ** 2"),
    ("13", f"{N}.example_first_order", "(length - 2) * q**2", "length * q**2"),
    ("13", f"{N}.example_first_order", "epsilon / temperature", "epsilon * temperature"),
    ("13", f"{N}.example_first_order_printed", "math.sqrt(2) *", "2 *"),
    ("14", f"{F}.mean_over_directions", "math.sqrt(2 / math.pi)", "math.sqrt(math.pi / 4)"),
    ("14", f"{F}.mean_over_directions", "/ chi_mean / temp", "/ math.sqrt(size) / temp"),
    ("14", f"{F}.root_mean_square_over_directions", "math.sqrt(_size(", "1 + math.sqrt(_size("),
    ("14", f"{F}.root_mean_square_over_directions", "temperature) /", "1.0) /"),
    ("14", f"{F}.mean_over_directions", "2 * real", "4 * real"),
    ("14", f"{F}.mean_over_directions", "missing / unit", "2 * missing / unit"),
    ("14'", f"{N}.spectral_norm", "/ temperature", "/ (2 * temperature)"),
    ("14'", f"{N}.spectral_norm", "/ temperature", "/ temperature**2"),
    ("14'", f"{N}.spectral_norm", "/ temperature", ""),
    # The discussion
    ("15", f"{C}.multi_head_coverage", "** heads", "* heads"),
    ("15", f"{C}.multi_head_coverage", "(1 - separability) **", "separability **"),
    ("15", f"{C}.heads_needed", "math.ceil(", "math.floor("),
    ("15", f"{C}.heads_needed", "(-coverage) /", "(-coverage) *"),
    ("18", APPENDIX, "(x[i] @ x[j])", "(x[j] @ x[k])"),
    ("18", APPENDIX, "math.cosh(t)", "math.cosh(2 * t)"),
    (
        "18",
        APPENDIX,
        "1 - distances.mean()",
        "1 - 0.5 * distances.mean()",
    ),
    ("19", f"{T}.lipschitz_price", "1 / lead", "1 / lead**2"),
    ("19", f"{T}.lipschitz_price", "1 / lead", "0.5 / lead"),
    ("19", f"{T}.softmax_temperature", "(length - 1)", "length"),
    ("19", f"{T}.softmax_temperature", "return lead /", "return 1 /"),
    ("19", f"{N}.corollary_3", "(2 * temperature)", "temperature"),
    ("19'", f"{R}.entmax_largest", "(alpha / (", "(1 / ("),
    ("19'", f"{R}.entmax_largest", "density * length", "length"),
    ("19'", f"{R}.entmax_largest", "** (1 / alpha)", "** (1 / (alpha + 0.1))"),
    ("19'", f"{R}.entmax_support", "(beta + 1) *", "beta *"),
    ("19'", f"{T}.one_hot_lead", "1 / (alpha - 1)", "1 / alpha"),
    ("19'", f"{T}.one_hot_lead", "return 1 /", "return 2 /"),
    ("20", f"{T}.ssmax_weight", "(length - 1) *", "length *"),
    ("20", f"{T}.ssmax_weight", "-s * lead", "-s * lead / 2"),
    ("20", f"{R}.ssmax_largest", "s * math", "2 * s * math"),
    ("20", f"{R}.ssmax_largest", "density * length", "length"),
    ("20", "normalizers.scaled_softmax.SSMax.factor", "n.log()", "n.log2()"),
    ("21", f"{A}.jacobian_bound", "p.amax(-1) +", "1 +"),
    ("21", f"{A}.jacobian_bound", "largest_eigenvalue(p)", "0.5"),
    ("21", f"{A}.jacobian_bound", "logits.abs().amax", "0.5 * logits.abs().amax"),
    ("21", "normalizers.sa_softmax.SASoftmax._jacobian", "(-adjusted, p)", "(adjusted, p)"),
    ("22", f"{K}.p_value", "return 2 * total", "return total"),
    ("22", f"{K}.p_value", "(-1) ** (j - 1) *", "1 *"),
    ("22", f"{K}.p_value", "heads - j * excess", "heads - excess"),
    ("22", f"{K}.p_value", "heads // excess + 1", "heads // excess"),
    ("22", f"{K}.detectable", "return rejected /", "return kept /"),
    ("22", f"{E}.exact", "total / subsets", "total / (subsets + 1)"),
]


@pytest.mark.parametrize(("claim_id", "name", "old", "new"), MUTANTS)
def test_a_mutant_is_noticed(disagrees, monkeypatch, claim_id, name, old, new):
    function = find(name)
    code = mutated(function, old, new)
    # Everyone who calls the function runs the new code, whatever name it was imported under.
    assert disagrees(claim_id, function, lambda: monkeypatch.setattr(function, "__code__", code))


def test_every_record_with_a_check_has_three_mutants():
    count = Counter(mutant[0] for mutant in MUTANTS)
    own = [claim.id for claim in claims.CLAIMS if not claim.textual and claim.id[0] != "D"]
    assert set(count) == set(own)
    assert min(count.values()) >= 3


# From outside and grossly: only what no fine slip above can show.
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
