"""Wrong shapes are noticed in tests wherever a signature has one; all else is left as it is."""

import inspect

import pytest
import torch
from jaxtyping import TypeCheckError

from headgauge.errors import whole
from headgauge.logits import Logits, over_groups
from shape_checks import shapes_unchecked


def test_a_function():
    rows, matrices = torch.ones(1, 4, 3, 5), torch.ones(1, 2, 6, 7)
    with pytest.raises(TypeCheckError, match="matrices"):
        over_groups(rows, matrices)
    with shapes_unchecked(), pytest.raises(RuntimeError):  # torch's own
        over_groups(rows, matrices)


def test_a_dataclass_and_its_methods():
    with pytest.raises(TypeCheckError, match="key"):
        Logits(torch.ones(1, 2, 3, 4), torch.ones(1, 2, 3), 1.0)
    logits = Logits(torch.ones(1, 2, 3, 4), torch.ones(1, 2, 3, 4), 1.0)
    with pytest.raises(TypeCheckError, match="places"):
        logits.at(torch.zeros(2, 2, 2, dtype=torch.long))


def test_what_has_no_shape_is_itself():
    assert inspect.unwrap(whole) is whole
    assert inspect.unwrap(over_groups) is not over_groups
