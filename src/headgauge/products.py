"""Products of matrices in single precision on a CPU, by the faster of torch's two libraries.

`torch.mm` asks MKL, which on AMD's processors leaves half of each register empty; oneDNN, by which
torch multiplies what it packs for inference, fills it: 2.2 times as fast on a Zen 5. Both round
each product and each sum once, in another order. The call is torch's own but not public: where it
is missing or refuses, on other processors, for small matrices and for whatever autograd, autocast
or a reduced precision has to do with, `torch.matmul` serves.
"""

import importlib
import math
from collections.abc import Callable
from functools import cache
from itertools import product
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812
from torch.overrides import TorchFunctionMode

from headgauge.kernel_cache import numba

_FEW = 1 << 20  # multiplications below which calling oneDNN costs more than it saves
_PLAIN = (Tensor, nn.Parameter)
_Linear = Callable[..., Tensor]


@cache
def _pays() -> bool:
    """Whether this is a processor on which oneDNN is known to be faster."""
    if numba is None or torch.backends.cpu.get_cpu_capability() != "AVX512":
        return False
    processor = importlib.import_module("llvmlite.binding").get_host_cpu_name()
    return processor.startswith("znver")


@cache
def _onednn() -> _Linear | None:
    """x·wᵀ + b by oneDNN; None where it is missing or wrong."""
    try:
        linear = torch.ops.mkldnn._linear_pointwise.default

        def made(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
            # Other strides have no fast way there: a plain loop would serve, for minutes.
            if not (weight.is_contiguous() or weight.T.is_contiguous()):
                weight = weight.contiguous()
            return linear(x.contiguous(), weight, bias, "none", [], "")

        return made if _right(made) else None
    except (AttributeError, RuntimeError):
        return None


def _right(linear: _Linear) -> bool:
    """Whether it is torch's product: of few numbers and of many, rows in batches, a weight either
    way round, with bias and without."""
    for count, inner, width in ((4, 4, 2), (130, 96, 96)):
        x, weight, bias = (
            torch.arange(math.prod(shape), dtype=torch.float32, device="cpu").sin().view(shape)
            for shape in ((count, inner), (width, inner), (width,))
        )
        for rows, matrix in product((x, x.view(2, -1, inner)), (weight, weight.T.contiguous().T)):
            # No F.linear: within FasterLinear that would ask for this.
            wanted = rows @ matrix.T
            for found, own in (
                (linear(rows, matrix), wanted),
                (linear(rows, matrix, bias), wanted + bias),
            ):
                if found.shape != own.shape or not torch.allclose(found, own, rtol=0, atol=1e-4):
                    return False
    return True


def _whole() -> bool:
    """Whether products are to be in the precision of their factors."""
    try:
        return torch.get_float32_matmul_precision() == "highest"
    except RuntimeError:  # set for one backend: torch does not tell for all
        return False


def _serves(rows: Tensor, width: int, *others: Tensor | None) -> _Linear | None:
    """oneDNN for so many columns of these rows times a matrix."""
    given = [each for each in (rows, *others) if each is not None]
    if rows.numel() * width < _FEW or rows.device.type != "cpu" or not _pays():
        return None
    if torch.compiler.is_compiling() or not torch.backends.mkldnn.enabled:
        return None
    if any(type(each) not in _PLAIN or each.dtype != torch.float32 for each in given):
        return None
    if torch.is_grad_enabled() and any(each.requires_grad for each in given):
        return None
    if torch.is_autocast_enabled("cpu") or not _whole():
        return None
    return _onednn()


def times(
    rows: Float[Tensor, "*batch rows inner"], matrix: Float[Tensor, "inner n"]
) -> Float[Tensor, "*batch rows n"]:
    """rows @ matrix."""
    linear = _serves(rows, matrix.shape[1], matrix)
    return rows @ matrix if linear is None else linear(rows, matrix.T)


def batched(
    rows: Float[Tensor, "*batch rows inner"], matrices: Float[Tensor, "*batch inner n"]
) -> Float[Tensor, "*batch rows n"]:
    """rows @ matrices, each with its own."""
    *many, count, inner = rows.shape
    width = matrices.shape[-1]
    linear = None if 0 in many else _serves(rows[(0,) * len(many)], width, matrices)
    if linear is None:
        return rows @ matrices
    pairs = zip(rows.reshape(-1, count, inner), matrices.reshape(-1, inner, width).mT, strict=True)
    if rows.numel() == count * inner:
        return linear(*next(pairs)).view(*many, count, width)
    made = rows.new_empty(*many, count, width)
    for place, pair in zip(made.view(-1, count, width), pairs, strict=True):
        place.copy_(linear(*pair))
    return made


class FasterLinear(TorchFunctionMode):
    """For as long as the block lasts the linear maps of a model that does not learn are made so.

    Of this thread alone, below all modules and their hooks.
    """

    def __torch_function__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        if not kwargs and func is F.linear:
            x, weight, *bias = args
            linear = _serves(x, len(weight), weight, *bias)
            if linear is not None:
                return linear(*args)
        elif not kwargs and func is torch.addmm:  # GPT-2's
            bias, x, matrix = args
            linear = _serves(x, matrix.shape[1], matrix, bias)
            if linear is not None and bias.ndim == 1:
                return linear(x, matrix.T, bias)
        return func(*args, **(kwargs or {}))
