"""What a simulation says of itself."""

from report.page.results import fake_simulation


def test_a_finding_tells_who_collapsed_when_and_who_did_not():
    said = fake_simulation().finding()
    same, random = said.split("; with random Q, K, V, ")
    assert same.startswith("Until t = 20, with Q = K = V = I, LN-Scaling (t = 5.33), nGPT")
    assert "and Post-LN (t = 32) collapsed" in same
    assert "Pre-LN (25 % of the seeds) did in part." in random
    assert "nothing is said of collapse" in fake_simulation("rates").finding()


def test_what_it_stands_on_names_matrices_rule_and_who_is_seen():
    (said,) = fake_simulation().stands()
    assert "Q = K = V = I and random Q, K, V, softmax, each sees all;" in said
