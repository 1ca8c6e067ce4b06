import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from headgauge.theory.normalization import selection


def test_ties_go_to_the_lowest_index():
    weights = torch.tensor([0.1, 0.3, 0.3, 0.3])
    assert selection.top_n_indices(weights, 2).tolist() == [1, 2]
    assert selection.top_n(torch.zeros(5), 3).tolist() == [True, True, True, False, False]


def test_a_batch_is_its_rows(rows):
    weights, vectors = rows
    selected = selection.top_n(weights, 3)
    context = selection.context_vector(weights, vectors, selected)
    for row in range(len(weights)):
        order = sorted(range(8), key=lambda i, row=row: (-weights[row, i].item(), i))[:3]
        expected = torch.stack([weights[row, i] * vectors[row, i] for i in order]).sum(0)
        assert torch.allclose(context[row], expected, rtol=1e-12)
        mass = selection.selected_mass(weights, selected)[row]
        assert mass.item() == pytest.approx(weights[row, order].sum().item())


def test_vectors_may_be_shared_by_all_rows(rows):
    weights, vectors = rows
    shared = vectors[0]
    selected = selection.top_n(weights, 2)
    one = selection.context_vector(weights, shared, selected)
    each = selection.context_vector(weights, shared.expand(len(weights), 8, 4), selected)
    assert torch.equal(one, each)


@pytest.mark.parametrize("n", [-1, 9])
def test_an_impossible_n_is_named(n):
    with pytest.raises(ValueError, match=f"N={n} for 8 keys"):
        selection.top_n(torch.rand(8), n)


def test_sums_to_one_wants_probabilities():
    rows = torch.tensor([[0.5, 0.5], [0.5, 0.4], [1.5, -0.5]])
    assert selection.sums_to_one(rows).tolist() == [True, False, False]


@settings(max_examples=50)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.integers(-300, 0))
def test_leave_one_out_keeps_the_digits_next_to_a_dominant_entry(values, exponent):
    row = torch.tensor([*values, 1.0], dtype=torch.float64)
    row[:-1] *= 10.0**exponent
    got = selection.leave_one_out_sum(row)
    for i in range(len(row)):
        rest = torch.cat([row[:i], row[i + 1 :]]).sum()
        assert got[i].item() == pytest.approx(rest.item(), rel=1e-14, abs=1e-320)


def test_missing_mass():
    rows = torch.tensor([[0.5, 0.5], [0.5, 0.2], [0.0, 0.0], [0.8, 0.4], [1.5, -0.5]])
    got = selection.missing_mass(rows)
    assert got[:3].tolist() == pytest.approx([0.0, 0.3, 1.0])
    assert got[3:].isnan().all()
    # A rounding error is no missing mass.
    assert selection.missing_mass(torch.tensor([1 - 1e-7, 0.0])) == 0
