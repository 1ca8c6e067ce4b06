"""Attention outside transformers' interface, seen where it passes through torch.

About one modeling file in six computes its attention by hand (GPT-J, Bloom, GPT-Neo, MPT) or calls
torch's `scaled_dot_product_attention` itself (Falcon). A `TorchFunctionMode` sees both: of the
first the logits and the weights, of the second everything.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812
from torch.overrides import TorchFunctionMode

_SOFTMAX = (torch.softmax, F.softmax, Tensor.softmax, torch.special.softmax)


class SoftmaxTap(TorchFunctionMode):
    """Hands over each softmax of 3 or 4 axes over the last, and each sdpa call of 4 axes.

    `on_softmax(logits, weights)` and `on_sdpa(arguments, output)` are called after the model's own
    call, whose result is passed on untouched.
    """

    def __init__(
        self,
        on_softmax: Callable[[Tensor, Tensor], None],
        on_sdpa: Callable[[dict[str, Any], Tensor], None],
    ) -> None:
        super().__init__()
        self._on_softmax = on_softmax
        self._on_sdpa = on_sdpa
        self._muted = 0

    @contextmanager
    def muted(self) -> Iterator[None]:
        """See nothing for a while: the call is already known, or is the observer's own."""
        self._muted += 1
        try:
            yield
        finally:
            self._muted -= 1

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        if self._muted:
            return result
        if func in _SOFTMAX:
            logits, axis = _softmax_arguments(*args, **(kwargs or {}))
            if logits.ndim in (3, 4) and axis in (-1, logits.ndim - 1):
                with self.muted():
                    self._on_softmax(logits, result)
        elif func is F.scaled_dot_product_attention:
            arguments = _sdpa_arguments(*args, **(kwargs or {}))
            if arguments["query"].ndim == 4:
                with self.muted():
                    self._on_sdpa(arguments, result)
        return result


def by_head(rows: Tensor, heads: int | None) -> Tensor | None:
    """(batch, heads, queries, keys) from that or from (batch·heads, queries, keys); else None."""
    if rows.ndim == 3:
        if heads is None or rows.shape[0] % heads:
            return None
        return rows.unflatten(0, (-1, heads))
    return rows if heads is None or rows.shape[1] == heads else None


def _softmax_arguments(
    input: Tensor, dim: int | None = None, *rest: Any, **others: Any
) -> tuple[Tensor, int | None]:
    return input, dim


def _sdpa_arguments(*args: Any, **kwargs: Any) -> dict[str, Any]:
    """torch's call by name: the built-in function has no signature to bind to."""
    return dict(_SDPA_DEFAULTS) | dict(zip(_SDPA_NAMES, args, strict=False)) | kwargs


_SDPA_NAMES = ("query", "key", "value", "attn_mask", "dropout_p", "is_causal")
_SDPA_DEFAULTS = {"attn_mask": None, "dropout_p": 0.0, "is_causal": False, "scale": None}
