"""A swapped model on one token at a time, from its cache, against the same model on the whole text.

With the same q, k and v a row's attention is the same to 1e-5 (`test_swapping`). A model's logits
are held to 1e-5 of the largest of them, because rounding in a product over the hidden size goes by
that, or to what becomes of the model's own rounding: a linear map adds up in another order for one
row than for many, and a rule hands on such last digits, magnified where its Jacobian is large. How
far is measured, by one more unit in the last place after every linear map.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import headgauge
from model_families import INSIDE, Case, Family, case_of
from normalizers.conftest import RULES

CLOSE = 1e-5
ONE_BY_ONE = 2  # the last tokens; before them three at once
DECODERS = [each for each in INSIDE if each.name not in ("bert", "vit")]
# The first of each name.
OF_EACH = list({rule.name: rule for rule in reversed(RULES)}.values())
# The two are as often 0.6 as 1.5 times each other, and once in some hundred cases 4 times.
_DRAWS, _STRAY = 4, 4.0


def _logits(found: Case, *pieces: int) -> Tensor:
    """Of every token; read in pieces of these lengths, which share a cache, or as a whole."""
    whole = dict(found.inputs)
    name = "decoder_input_ids" if "decoder_input_ids" in whole else "input_ids"
    ids, mask = whole.pop(name), whole.get("attention_mask")
    made, begin, past = [], 0, None
    for length in pieces or (ids.shape[1],):
        end = begin + length
        if name == "input_ids" and mask is not None:
            whole["attention_mask"] = mask[:, :end]
        output = found.model(
            **whole, **{name: ids[:, begin:end]}, past_key_values=past, use_cache=bool(pieces)
        )
        made.append(output.logits)
        begin, past = end, output.past_key_values
    logits = torch.cat(made, 1)
    # What stands on padding means nothing.
    return logits if mask is None or name != "input_ids" else logits[:, int((mask == 0).sum()) :]


def _difference(one: Tensor, other: Tensor) -> float:
    return float((one - other).abs().max() / one.abs().max())


@contextmanager
def _rounded_once_more(model: nn.Module, seed: int) -> Iterator[None]:
    """Every output of a linear map a unit in the last place up, down or as it was."""
    generator = torch.Generator().manual_seed(seed)

    def moved(module: nn.Module, args: Any, output: Any) -> Any:
        if not isinstance(output, Tensor):  # a router's
            return output
        units = torch.randint(-1, 2, output.shape, generator=generator)
        return output * (1 + units * torch.finfo(output.dtype).eps)

    linear = [
        each
        for each in model.modules()
        if not [*each.children()]
        and not isinstance(each, nn.Embedding)
        and getattr(getattr(each, "weight", None), "ndim", 0) == 2
    ]
    assert len(linear) > 8
    hooks = [each.register_forward_hook(moved) for each in linear]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def _of_rounding(found: Case, whole: Tensor) -> float:
    """What becomes of the last digits of the model's own linear maps."""
    worst = 0.0
    for seed in range(_DRAWS):
        with _rounded_once_more(found.model, seed):
            worst = max(worst, _difference(whole, _logits(found)))
    return worst


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("family", DECODERS, ids=lambda each: each.name)
@torch.no_grad()
def test_decoding_follows_the_cache(family: Family) -> None:
    found = case_of((family, family.implementations[0]))
    ids = found.inputs.get("decoder_input_ids", found.inputs["input_ids"])
    first = ids.shape[1] - 3 - ONE_BY_ONE
    for rule in OF_EACH:
        with headgauge.swap(found.model, rule):
            whole, limit = _logits(found), CLOSE
            if rule.wide:  # whatever it is computed in, its logits come out of linear maps
                limit = max(limit, _STRAY * _of_rounding(found, whole))
            error = _difference(whole, _logits(found, first, 3, *[1] * ONE_BY_ONE))
            assert error <= limit < 1e-3, (rule.name, error, limit)
