"""Where the compiled rows do not serve, everything over keys stays on the device it is on."""

from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from headgauge import engine, kernels

ROWS, KEYS, DIM = 5, 23, 3


class Leaving(TorchFunctionMode):
    """Notes the shape of every tensor that leaves its device."""

    def __init__(self) -> None:
        super().__init__()
        self.shapes: list[tuple[int, ...]] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        to_cpu = func is Tensor.to and any(isinstance(each, str) for each in args)  # "cpu"
        if to_cpu or func in (Tensor.cpu, Tensor.numpy, Tensor.tolist):
            self.shapes.append(tuple(args[0].shape))
        return func(*args, **(kwargs or {}))


def test_only_finished_measures_leave_the_device(unchecked):
    source = torch.Generator().manual_seed(0)
    logits = torch.randn(ROWS, KEYS, generator=source)
    vectors = torch.randn(KEYS, DIM, generator=source)
    visible = torch.ones(ROWS, KEYS, dtype=torch.bool).tril(KEYS - ROWS)
    weights = torch.softmax(logits.masked_fill(~visible, -torch.inf), -1)
    geometry = engine.Geometry.of(vectors)
    unit = torch.nn.functional.normalize(logits, dim=-1)
    calls = {
        "geometry": lambda: engine.Geometry.of(vectors),
        "curves": lambda: engine.curves(weights, geometry, [1, 4], visible),
        "row_measures": lambda: engine.row_measures(weights, visible, logits),
        "sensitivity": lambda: engine.sensitivity(logits, visible, [1.0], [0.1], unit),
    }
    for name, call in calls.items():
        with kernels.use_compiled(False), Leaving() as leaving:
            call()
        assert not [shape for shape in leaving.shapes if KEYS in shape], (name, leaving.shapes)
        assert leaving.shapes or name == "geometry"
    with Leaving() as leaving:  # the compiled rows read the memory itself
        calls["curves"]()
    assert (ROWS, KEYS) in leaving.shapes
