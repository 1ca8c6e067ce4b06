"""A pass that begins in the middle: layers that ran before hand on what they made then.

    kept = KeptLayers(model)
    with kept.keeping():
        model(**inputs)
    with kept.handed_on(kept.place(attention)):    # the layer that holds it and all behind it run
        model(**inputs)                            # the same numbers, bit by bit

Everything around the layers (embeddings, masks, the output layer) runs as usual. Layers that run
more than once in a pass, or that return something else than a stream, all run again.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from torch import Tensor, nn

from headgauge.models.hooks import Hooks, here_only
from headgauge.models.structure import all_layers, layer_of


class KeptLayers:
    """What the layers of a model made in one pass, in the order in which they ran."""

    def __init__(self, model: nn.Module) -> None:
        self._modules = dict(model.named_modules())
        self._layers = all_layers(model)
        self._made: dict[str, Any] = {}
        self.whole = False  # whether all layers run again all the same

    @contextmanager
    def keeping(self) -> Iterator[None]:
        with Hooks() as hooks:
            for name in self._layers:
                hooks.after(self._modules[name], partial(self._keep, name))
            yield

    def place(self, attention: str) -> int:
        """How many layers ran before the one that holds an attention module."""
        order = list(self._made)
        layer = layer_of(attention, self._modules)
        return 0 if self.whole or layer not in order else order.index(layer)

    @contextmanager
    def handed_on(self, place: int) -> Iterator[None]:
        """The first layers, as many as `place`, do not run. For passes without gradients."""
        with Hooks() as hooks:
            for name in list(self._made)[: 0 if self.whole else place]:
                _put(hooks, self._modules[name], partial(_handed, self._made[name]))
            yield

    def _keep(self, name: str, module: nn.Module, args: Any, kwargs: Any, output: Any) -> None:
        made = _copied(output)
        self.whole |= name in self._made or made is None
        self._made[name] = made


def _put(hooks: Hooks, module: nn.Module, instead: Callable[..., Any]) -> None:
    """Another `forward` for this thread; others get the module's own."""
    own, here = module.forward, here_only(instead)

    def forward(*args: Any, **kwargs: Any) -> Any:
        made = here(*args, *kwargs.values())
        return own(*args, **kwargs) if made is None else made

    hooks.put(vars(module), "forward", forward)


def _handed(made: Any, *given: Any) -> Any:
    return _copied(made)


def _copied(output: Any) -> Any:
    """With a stream of its own, because some layers add in place; None for what has no stream."""
    if isinstance(output, Tensor):
        return output.clone()
    if type(output) in (tuple, list) and output and isinstance(output[0], Tensor):
        return type(output)((output[0].clone(), *output[1:]))
    return None
