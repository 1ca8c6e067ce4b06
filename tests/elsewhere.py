"""A device that is not there: tensors that say they are on it, and compute on the CPU.

While `Elsewhere` is on, tensors that are made for "cuda" or moved there are `Far`. As on a GPU, a
tensor of the CPU must not meet one of them, and none has memory that numpy could read; where the
device is to have no double (as Apple's), making one is an error. What comes back is noted.
"""

from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

_DEVICE = torch.device("cuda:0")
_ITEM = torch.ops.aten._local_scalar_dense.default
_MOVES = (torch.ops.aten._to_copy.default, torch.ops.aten.copy_.default)


class Far(Tensor):
    """A tensor on a device that is not there; `near` has its numbers."""

    near: Tensor

    @staticmethod
    def __new__(cls, near: Tensor) -> "Far":
        shape = {"strides": near.stride(), "storage_offset": near.storage_offset()}
        kind: Any = {"dtype": near.dtype, "device": "meta"}
        made = Tensor._make_wrapper_subclass(cls, near.shape, **shape, **kind)
        made.near = near
        return made

    @property
    def device(self) -> torch.device:  # pyright: ignore[reportIncompatibleVariableOverride]
        # torch itself takes it for one on "meta", which it has.
        return _DEVICE

    def __repr__(self, **_: Any) -> str:
        return f"Far({self.near!r})"

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        raise AssertionError(f"{func} while there is no such device")


class Elsewhere(TorchDispatchMode):
    """Such a device, with or without `double`. `left` has the shapes that came back from it."""

    def __init__(self, double: bool) -> None:
        super().__init__()
        self.double, self.left = double, list[tuple[int, ...]]()

    def far(self, near: Tensor) -> Far:
        if near.dtype == torch.float64 and not self.double:
            raise TypeError("this device has no double")
        return Far(near)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        given = [each for each in tree_leaves((args, kwargs)) if isinstance(each, Tensor)]
        away = [each for each in given if isinstance(each, Far)]
        if away and func not in _MOVES and any(each.ndim for each in set(given) - set(away)):
            raise RuntimeError(f"{func} of tensors here and there")
        kwargs = dict(kwargs or {})
        asked = kwargs.get("device")
        there = bool(away) if asked is None else torch.device(asked).type in (_DEVICE.type, "meta")
        if away and (func is _ITEM or not there):
            self.left += [tuple(each.shape) for each in away]
        if asked is not None:
            kwargs["device"] = torch.device("cpu")
        nearby = tree_map(lambda each: each.near if isinstance(each, Far) else each, (args, kwargs))
        found = func(*nearby[0], **nearby[1])
        # What is written in place stays the tensor that it was.
        same = {id(each.near): each for each in away}

        def back(each: Any) -> Any:
            if not isinstance(each, Tensor) or not there:
                return each
            return same[id(each)] if id(each) in same else self.far(each)

        return tree_map(back, found)
