"""Token ids that a caller has, without their padding."""

from typing import Any

import numpy as np
import pytest
import torch

from headgauge.errors import InputError
from headgauge.measure.token_rows import token_rows


def _rows(given: Any) -> list[list[int]]:
    found = token_rows(given)
    assert isinstance(found, tuple)
    return [row.tolist() for row in found]


def test_a_sequence_and_rows() -> None:
    for sequence in ([3, 4, 5], np.arange(5)):
        found = token_rows(sequence)
        assert isinstance(found, torch.Tensor)
        assert found.tolist() == list(sequence)
    assert _rows(torch.arange(6).reshape(1, 6)) == [[0, 1, 2, 3, 4, 5]]
    assert _rows(torch.arange(6).reshape(2, 3)) == [[0, 1, 2], [3, 4, 5]]
    assert _rows([[1, 2, 3], [4, 5]]) == [[1, 2, 3], [4, 5]]  # a tokenizer without padding
    assert _rows([torch.tensor([1, 2]), np.array([4, 5, 6])]) == [[1, 2], [4, 5, 6]]


@pytest.mark.parametrize("kind", [list, torch.tensor, np.array])
def test_padding_is_left_out_on_either_side(kind: Any) -> None:
    ids = kind([[9, 9, 1, 2], [3, 4, 9, 9], [5, 6, 7, 8]])
    mask = kind([[0, 0, 1, 1], [1, 1, 0, 0], [1, 1, 1, 1]])
    batch = {"input_ids": ids, "attention_mask": mask, "token_type_ids": mask}
    assert _rows(batch) == [[1, 2], [3, 4], [5, 6, 7, 8]]
    assert len(_rows({"input_ids": ids})[0]) == 4


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (torch.zeros(2, 3, 4).long(), "got torch.int64 of shape (2, 3, 4)"),
        (torch.zeros(24), "got torch.float32 of shape (24,)"),
        ([1.5, 2.5], "tokens must be whole numbers"),
        ([[1, 2], [3.5]], "tokens must be whole numbers"),
        ([[1, 2], ["three"]], "tokens must be whole numbers, got list"),
        ([], "tokens must be whole numbers"),
        ([[1, 2], []], "tokens must be whole numbers"),
        ([[1, 2], [3]], "row 1 has 1 token: a window needs at least 2"),
        (7, "tokens must be whole numbers"),
        ({"ids": [1]}, "a batch needs input_ids, and has ids"),
        ({"input_ids": [[1, 2]], "attention_mask": [[1]]}, "must have the shape of input_ids"),
        ({"input_ids": [[1, 2, 3]], "attention_mask": [[1, 0, 1]]}, "mask of row 0 has holes"),
        ({"input_ids": [[1, 2, 3]], "attention_mask": [[1, 1, 7]]}, "must be 0 or 1"),
        ({"input_ids": [[1, 2]], "attention_mask": [[0, 0]]}, "row 0 has no token"),
    ],
)
def test_refused_in_a_line(given: Any, line: str) -> None:
    with pytest.raises(InputError) as error:
        token_rows(given)
    assert line in str(error.value)
    assert "\n" not in str(error.value)
