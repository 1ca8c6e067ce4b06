"""Token ids that a caller has: a sequence, rows, or a tokenizer's batch with its mask."""

from collections.abc import Mapping
from numbers import Integral
from typing import Any

import torch
from torch import Tensor

from headgauge.errors import InputError


def token_rows(tokens: Any) -> Tensor | tuple[Tensor, ...]:
    """Ids of shape (tokens,): one sequence; or (windows, length), rows of different lengths, or a
    batch, `input_ids` with an `attention_mask` that is 0 at the padding: rows without padding."""
    mask = None
    if isinstance(tokens, Mapping):
        if "input_ids" not in tokens:
            raise InputError(f"a batch needs input_ids, and has {', '.join(map(str, tokens))}")
        tokens, mask = tokens["input_ids"], tokens.get("attention_mask")
    rows, sequence = _rows(tokens, "tokens")
    if mask is not None:
        masks, _ = _rows(mask, "attention_mask")
        if [len(each) for each in masks] != [len(each) for each in rows]:
            raise InputError("attention_mask must have the shape of input_ids")
        rows = [_shown(*pair, i) for i, pair in enumerate(zip(rows, masks, strict=True))]
    for number, row in enumerate(rows):
        if len(row) < 2:
            count = "1 token" if len(row) else "no token"
            raise InputError(f"row {number} has {count}: a window needs at least 2")
    return rows[0] if sequence else tuple(rows)


def _rows(given: Any, what: str) -> tuple[list[Tensor], bool]:
    """The rows, and whether there is but one sequence."""
    if isinstance(given, (list, tuple)) and given and not isinstance(given[0], Integral):
        return [_whole(each, what, 1) for each in given], False
    found = _whole(given, what, 1, 2)
    return ([found], True) if found.ndim == 1 else (list(found), False)


def _whole(given: Any, what: str, *dims: int) -> Tensor:
    try:
        found = torch.as_tensor(given).detach().cpu()
    except (ValueError, TypeError, RuntimeError):
        raise InputError(f"{what} must be whole numbers, got {type(given).__name__}") from None
    if found.is_floating_point() or found.is_complex() or found.ndim not in dims or not len(found):
        shapes = "(length,) or (windows, length)" if 2 in dims else "(length,) in each row"
        raise InputError(
            f"{what} must be whole numbers of shape {shapes}, got {found.dtype} of shape "
            f"{tuple(found.shape)}"
        )
    return found.long().contiguous()


def _shown(row: Tensor, mask: Tensor, number: int) -> Tensor:
    """A row without its padding, on whichever side that is."""
    places = mask.nonzero().flatten()
    if bool(((mask != 0) & (mask != 1)).any()):
        raise InputError(f"attention_mask must be 0 or 1, row {number} has other numbers")
    if len(places) and int(places[-1] - places[0]) + 1 != len(places):
        raise InputError(f"the mask of row {number} has holes: padding stands before or behind")
    return row[places]
