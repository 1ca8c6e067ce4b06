"""The residual stream of one forward pass, a layer at a time.

    layers = layer_norms(model, a_few_tokens)
    read_stream(model, inputs, layers, observer)
    # observer(step): step.entering, step.attention, step.leaving

Of an encoder-decoder it is the decoder's stream. What a layer's attention adds is read after its
output projection, after a norm on it and with a residual multiplier, so that the rest of the layer
is `leaving − entering − attention`: the MLP; in a decoder that reads an encoder the cross attention
too; in Post-LN what the norms take away. Nothing of a layer is kept once the next has run.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from headgauge.errors import InputError
from headgauge.models.layer_trace import first_tensor, stream_given, stream_made, without_cache
from headgauge.models.schemes import LayerNorms
from headgauge.threads import here_only


@dataclass(frozen=True, eq=False)
class StreamStep:
    """One run of a layer; `place` counts them, and a shared layer's runs as layers of their own.

    `leaving` is what the next layer gets and, of the last, what the model's final norm gets.
    """

    place: int
    occurrence: int  # of the same layer, from 0
    norms: LayerNorms
    entering: Float[Tensor, "batch tokens dim"]
    attention: Float[Tensor, "batch tokens dim"] | None  # None where it could not be told
    leaving: Float[Tensor, "batch tokens dim"]


def read_stream(
    model: nn.Module,
    inputs: Mapping[str, Tensor],
    layers: Sequence[LayerNorms],
    observer: Callable[[StreamStep], object],
) -> None:
    """Run the model and call `observer` with each run of a layer, in order."""
    watch = _Watch(layers, observer)
    modules = dict(model.named_modules())
    body: Any = getattr(model, "base_model", model)  # nobody needs its logits
    with torch.no_grad(), ExitStack() as hooks:
        for name in dict.fromkeys(each.layer for each in layers):
            layer = modules[name]
            enter = layer.register_forward_pre_hook(here_only(watch.enter), with_kwargs=True)
            hooks.callback(enter.remove)
            hooks.callback(layer.register_forward_hook(here_only(watch.leave)).remove)
        for name in dict.fromkeys(each.added for each in layers if each.added is not None):
            made = here_only(watch.part(name))
            hooks.callback(modules[name].register_forward_hook(made).remove)
        body(**inputs, **without_cache(body))


class _Watch:
    def __init__(
        self, layers: Sequence[LayerNorms], observer: Callable[[StreamStep], object]
    ) -> None:
        self._layers = layers
        self._observer = observer
        self._place = 0
        self._runs: dict[str, int] = {}
        self._entering: Tensor | None = None
        self._attention: Tensor | None = None

    def enter(self, module: nn.Module, args: Any, kwargs: dict[str, Any]) -> None:
        if self._place == len(self._layers):
            raise InputError(
                f"more layers ran than the {self._place} that were traced: trace the same model"
            )
        # A copy, because some layers add in place.
        self._entering = stream_given(self._now.layer, args, kwargs).clone()

    def part(self, name: str) -> Callable[..., None]:
        def made(module: nn.Module, args: Any, output: Any) -> None:
            found = first_tensor(output)
            if self._entering is not None and self._now.added == name and found is not None:
                self._attention = found.view_as(self._entering) * self._now.factor

        return made

    def leave(self, module: nn.Module, args: Any, output: Any) -> None:
        norms, entering, attention = self._now, self._entering, self._attention
        assert entering is not None
        self._entering = self._attention = None
        occurrence = self._runs.get(norms.layer, 0)
        leaving = stream_made(norms.layer, output)
        self._observer(StreamStep(self._place, occurrence, norms, entering, attention, leaving))
        self._runs[norms.layer] = occurrence + 1
        self._place += 1

    @property
    def _now(self) -> LayerNorms:
        return self._layers[self._place]
