"""A device that is not there: tensors that say they are on it, and compute on the CPU.

While `Elsewhere` is on, tensors that are made for "cuda" or moved there are `Far`. As on a GPU, a
tensor of the CPU must not meet one of them, and none has memory that numpy could read; where the
device is to have no double (as Apple's), making one is an error. What comes back is noted.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import pytest
import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

_DEVICE = torch.device("cuda:0")
_ITEM = torch.ops.aten._local_scalar_dense.default
_INDEX = torch.ops.aten.index.Tensor
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

    @property
    def is_meta(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        return False

    def tolist(self) -> Any:
        return self.cpu().tolist()

    def __getitem__(self, index: Any) -> Tensor:
        # torch would make a list a tensor on "meta", which has no numbers.
        several = index if isinstance(index, tuple) else (index,)
        some = (torch.tensor(each) if isinstance(each, list) else each for each in several)
        return super().__getitem__(tuple(some))

    def new_tensor(self, data: Any) -> Tensor:  # pyright: ignore[reportIncompatibleMethodOverride]
        return torch.tensor(data, dtype=self.dtype).to(_DEVICE)

    def __repr__(self, **_: Any) -> str:
        return f"Far({self.near!r})"

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if not Elsewhere.on:
            raise AssertionError(f"{func} while there is no such device")
        return Elsewhere.on[-1].__torch_dispatch__(func, types, args, kwargs)  # of another thread


class Elsewhere(TorchDispatchMode):
    """Such a device, with or without `double`. `left` has the shapes that came back from it, and
    `doubled` those that were made there in double."""

    on: ClassVar[list["Elsewhere"]] = []

    def __init__(self, double: bool) -> None:
        super().__init__()
        self.double, self.left = double, list[tuple[int, ...]]()
        self.doubled: set[tuple[int, ...]] = set()

    def __enter__(self) -> Any:
        self.on.append(self)
        return super().__enter__()

    def __exit__(self, *exception: Any) -> None:
        super().__exit__(*exception)
        self.on.remove(self)

    def far(self, near: Tensor) -> Far:
        if near.dtype == torch.float64 and not self.double:
            raise TypeError("this device has no double")
        if near.dtype == torch.float64:
            self.doubled.add(tuple(near.shape))
        return Far(near)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        given = [each for each in tree_leaves((args, kwargs)) if isinstance(each, Tensor)]
        away = [each for each in given if isinstance(each, Far)]
        near = set(given) - set(away)
        if func is _INDEX and isinstance(args[0], Far):  # which numbers may come from here
            near -= set(args[1])
        if away and func not in _MOVES and any(each.ndim for each in near):
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


@contextmanager
def device_elsewhere(
    monkeypatch: pytest.MonkeyPatch, double: bool, room: int = 1 << 16
) -> Iterator[Elsewhere]:
    """The mode, with room for a few rows at a time."""
    exact = {"cuda": torch.float64 if double else torch.float32, "cpu": torch.float64}
    told: dict[str, Any] = {"most_exact": lambda device: exact[device.type]}
    told |= {"widened": lambda tensor: tensor.to(exact[tensor.device.type])}
    told |= {"room": lambda device: room}
    for name, module in list(sys.modules.items()):  # functions hide some by their names
        for asked, answer in told.items():
            if name.startswith("headgauge.") and callable(getattr(module, asked, None)):
                monkeypatch.setattr(module, asked, answer)
    monkeypatch.setattr(torch.cuda, "_lazy_init", lambda: None)
    with Elsewhere(double) as mode:
        yield mode


def move(model: nn.Module, mode: Elsewhere) -> None:
    """What `model.to` would do: it refuses tensors that are none of torch's own."""
    for module in model.modules():
        for name, weight in module._parameters.items():
            if weight is not None:
                far = mode.far(weight.detach())
                module._parameters[name] = nn.Parameter(far, requires_grad=False)
        for name, buffer in module._buffers.items():
            if buffer is not None:
                module._buffers[name] = mode.far(buffer)
