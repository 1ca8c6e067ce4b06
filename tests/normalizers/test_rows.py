"""Which keys are seen, how many, and what is refused."""

import math

import pytest
import torch

from headgauge import normalizers
from headgauge.errors import InputError
from headgauge.normalizers.rows import prepare

MASK = torch.tensor([[True, False, False], [True, True, False]])


def test_n_counts_visible_keys_whatever_hides_them() -> None:
    logits = torch.zeros(4, 2, 3)
    logits[0, 1, 0] = -math.inf
    logits[1, 1, 1] = torch.finfo(torch.float32).min
    rows = prepare(logits, MASK)
    assert rows.n.tolist() == [[1, 1], [1, 1], [1, 2], [1, 2]]
    assert prepare(torch.zeros(4, 2, 3)).n.tolist() == [[3, 3]] * 4
    assert prepare(torch.zeros(4, 2, 3), torch.tensor([[True], [False]])).n.tolist() == [[3, 0]] * 4


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_the_floor_is_that_of_the_dtype_given(dtype: torch.dtype) -> None:
    lowest = torch.finfo(dtype).min
    logits = torch.tensor([lowest, lowest / 2, lowest / 4, -1e4, 0.0], dtype=dtype)
    assert prepare(logits).visible.tolist() == [False, False, True, True, True]


def test_a_shared_mask_stays_small() -> None:
    rows = prepare(torch.zeros(8, 4, 2, 3), MASK.expand(8, 4, 2, 3))
    assert rows.hidden is not None
    assert rows.hidden.numel() == MASK.numel()


def test_halves_are_promoted_and_doubles_kept() -> None:
    assert prepare(torch.zeros(3, dtype=torch.float16)).logits.dtype == torch.float32
    assert prepare(torch.zeros(3, dtype=torch.float64)).logits.dtype == torch.float64


def test_positions_default_to_n() -> None:
    logits = torch.zeros(4, 2, 3)
    assert prepare(logits, MASK).positions.tolist() == [[1, 2]] * 4
    assert prepare(logits, MASK, torch.tensor([5, 6])).positions.tolist() == [[5, 6]] * 4


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("logits", "mask", "positions", "message"),
    [
        (torch.zeros(2, 3, dtype=torch.int64), None, None, "floating point; got torch.int64"),
        (torch.tensor(1.0), None, None, "at least one axis"),
        (torch.zeros(2, 3), torch.ones(2, 3), None, "boolean.*got torch.float32"),
        (torch.zeros(2, 3), torch.ones(3, 2) > 0, None, r"\(3, 2\).*\(2, 3\)"),
        (torch.zeros(2, 3), torch.ones(5, 2, 3) > 0, None, r"\(5, 2, 3\).*\(2, 3\)"),
        (torch.zeros(2, 3), None, torch.ones(3), r"positions of shape \(3,\).*\(2,\)"),
        (torch.zeros(2, 3), None, torch.tensor([1, -3]), "positions are counted from 1"),
        (torch.zeros(2, 3), None, torch.tensor([1, math.nan]), "positions are counted from 1"),
        ([0.0, 1.0], None, None, "logits must be a torch tensor; got list"),
        (torch.zeros(2, 3), [True], None, "mask must be a torch tensor; got list"),
    ],
)
def test_what_is_refused(logits, mask, positions, message) -> None:
    with pytest.raises(InputError, match=message):
        normalizers.get("softmax")(logits, mask, positions=positions)


def test_a_parameter_that_does_not_fit_the_rows_is_refused() -> None:
    rule = normalizers.get("softmax", temperature=torch.ones(5))
    with pytest.raises(InputError, match=r"\(5,\) does not broadcast to the rows \(2, 4\)"):
        rule(torch.zeros(2, 4, 3))
    with pytest.raises(InputError, match="beta of shape"):
        normalizers.get("asentmax", beta=torch.ones(5))(torch.zeros(2, 4, 3))
