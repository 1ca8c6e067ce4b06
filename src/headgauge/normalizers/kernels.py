"""When and how the compiled rows run: the switch, the threads, the way from torch and back.

Rows are split over threads by hand: numba's own parallel loops may not be entered from two
threads at once, which a training loop does.
"""

import contextlib
import itertools
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

import numpy as np
import torch
from torch import Tensor

from headgauge.normalizers import entmax_rows

_enabled = True
_pools: dict[int, ThreadPoolExecutor] = {}
if hasattr(os, "register_at_fork"):  # a forked child has none of the threads
    os.register_at_fork(after_in_child=_pools.clear)
_SMALL = 1 << 16  # entries below which threads cost more than they save


@contextlib.contextmanager
def use_compiled(enabled: bool) -> Iterator[None]:
    """Switch the compiled kernels off (or on again) for a while."""
    global _enabled
    before, _enabled = _enabled, enabled
    try:
        yield
    finally:
        _enabled = before


def serves(tensor: Tensor) -> bool:
    """Whether the compiled kernels take this tensor."""
    return (
        entmax_rows.numba is not None
        and _enabled
        and tensor.device.type == "cpu"
        and not torch.compiler.is_compiling()
    )


def over_rows(kernel: Callable[..., Any], rows: int, entries: int, *arguments: Any) -> None:
    """Run kernel(*arguments, start, stop) over all rows, in threads when there is enough to do."""
    workers = min(torch.get_num_threads(), rows)
    if workers < 2 or entries < _SMALL:
        kernel(*arguments, 0, rows)
        return
    # Several pieces per worker, the last first: under a causal mask those are the expensive ones.
    edges = np.linspace(0, rows, 4 * workers + 1).astype(int)
    pool = _pool(workers)
    jobs = [
        pool.submit(kernel, *arguments, int(start), int(stop))
        for start, stop in reversed(list(itertools.pairwise(edges)))
    ]
    wait(jobs)  # all of them, before an error lets go of the arrays
    for job in jobs:
        job.result()


def _pool(workers: int) -> ThreadPoolExecutor:
    """Kept from call to call: starting threads costs half a millisecond, some heads take ten."""
    if workers not in _pools:
        _pools.setdefault(workers, ThreadPoolExecutor(workers, "headgauge"))
    return _pools[workers]


def _as_rows(tensor: Tensor, keys: int) -> np.ndarray:
    return tensor.detach().reshape(-1, keys).contiguous().numpy()


def _zeros_like(tensor: Tensor) -> Tensor:
    """Zeros for the kernels to write into. From numpy, which gets them untouched from the system
    where torch would write every one of them."""
    flat = tensor.new_empty(0).numpy()
    return torch.from_numpy(np.zeros(tensor.shape, flat.dtype))


def _alpha_rows(alpha: Tensor, rows: torch.Size) -> np.ndarray:
    """α for every row, or the single one they share."""
    alpha = alpha.detach().double()
    if alpha.numel() == 1:
        return alpha.reshape(1).numpy()
    return alpha.expand(*rows, 1).reshape(-1).contiguous().numpy()


def _hidden_rows(hidden: Tensor | None, shape: torch.Size) -> tuple[np.ndarray, np.ndarray]:
    """The mask's own rows and, for every row of logits, which of them is its own.

    A causal mask shared by all heads stays one square instead of one per head.
    """
    if hidden is None:
        return np.zeros((1, shape[-1]), np.bool_), np.zeros(shape[:-1].numel(), np.int64)
    own = hidden.shape[:-1]
    index = torch.arange(own.numel()).reshape(own).expand(shape[:-1]).reshape(-1).contiguous()
    return _as_rows(hidden.expand(*own, shape[-1]), shape[-1]), index.numpy()


def entmax_forward(scores: Tensor, alpha: Tensor, hidden: Tensor | None) -> Tensor:
    """α-entmax of every row; `alpha` is one number or (*rows, 1), `hidden` broadcasts."""
    weights = _zeros_like(scores)
    flat = _as_rows(scores, scores.shape[-1])
    # fp32 rows are solved in fp64 but need not be solved to its last bit.
    tolerance = 1e-10 if scores.dtype == torch.float32 else 4 * np.finfo(np.float64).eps
    over_rows(
        entmax_rows.forward,
        flat.shape[0],
        flat.size,
        flat,
        *_hidden_rows(hidden, scores.shape),
        _alpha_rows(alpha, scores.shape[:-1]),
        tolerance,
        _as_rows(weights, scores.shape[-1]),
    )
    return weights


def entmax_backward(
    weights: Tensor, gradient: Tensor, alpha: Tensor, to_alpha: bool
) -> tuple[Tensor, Tensor | None]:
    """The gradients to the scores and, if asked, to α (one number per row)."""
    keys = weights.shape[-1]
    to_scores = _zeros_like(weights)
    flat = _as_rows(weights, keys)
    per_row = np.empty(flat.shape[0] if to_alpha else 0, np.float64)
    over_rows(
        entmax_rows.backward,
        flat.shape[0],
        flat.size,
        flat,
        _as_rows(gradient, keys),
        _alpha_rows(alpha, weights.shape[:-1]),
        _as_rows(to_scores, keys),
        per_row,
    )
    if not to_alpha:
        return to_scores, None
    return to_scores, torch.from_numpy(per_row).reshape(*weights.shape[:-1], 1)
