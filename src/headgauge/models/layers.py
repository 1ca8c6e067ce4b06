"""The residual stream: what enters and leaves each layer, what runs inside, the keys' vectors.

    with KeyVectors(model, inputs, ("value", "hidden")) as vectors, intercept(model, observer):
        model(**inputs)             # observer: vectors.of(call, "hidden")

    watch_layers(model, inputs, {layer: [modules inside it]}, observer)    # observer(run)

The vectors x of the keys have a name each that a result may be about:

- `embedding`: the input token embeddings;
- `hidden`: the residual stream that enters the layer, `hidden_states[l]`;
- `final`: the last hidden states, from a plain pass before the observed one;
- `value`: what the head really sums, one set per KV head.

In cross attention the keys are the encoder's: `embedding` and `final` are then the encoder's, and
`hidden` is the stream the keys were made of.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from headgauge.devices import most_exact
from headgauge.errors import InputError
from headgauge.models.calls import AttentionCall, ObservedCall
from headgauge.models.hooks import Hooks
from headgauge.models.intercept import intercept
from headgauge.models.structure import (
    attention_modules,
    encoder_attention,
    layer_of,
    without_cache,
)

VECTOR_KINDS = ("embedding", "hidden", "final", "value")
Side = Literal["encoder", "decoder"]


class KeyVectors:
    """Collects the vectors of one forward pass; a context manager around it."""

    def __init__(
        self, model: nn.Module, inputs: Mapping[str, Tensor], kinds: Sequence[str] = ("value",)
    ) -> None:
        for kind in kinds:
            if kind not in VECTOR_KINDS:
                raise InputError(f"no vectors named {kind!r}; there are {', '.join(VECTOR_KINDS)}")
        self._model: Any = model
        self._inputs = dict(inputs)
        self._kinds = tuple(kinds)
        self._encoder = encoder_attention(model)
        self._hooks = Hooks()
        self._streams: dict[str, Tensor] = {}
        self._fixed: dict[tuple[str, str], Tensor] = {}

    def __enter__(self) -> "KeyVectors":
        with torch.no_grad():
            if "embedding" in self._kinds:
                self._embed()
            if "final" in self._kinds:
                self._plain_pass()
        if "hidden" in self._kinds:
            modules = dict(self._model.named_modules())
            for name in attention_modules(self._model):
                self._hooks.before(modules[layer_of(name, modules)], partial(self._keep, name))
        return self

    def __exit__(self, *exception: object) -> None:
        self._hooks.close()

    def of(self, call: ObservedCall, kind: str) -> Float[Tensor, "batch groups keys dim"] | None:
        """The vectors of a call's keys: one group per KV head for `value`, else a single one.

        None where the call's values cannot be seen.
        """
        if kind not in self._kinds:
            raise InputError(f"{kind!r} vectors were not asked for; asked for {self._kinds}")
        if kind == "value":
            return call.value if isinstance(call, AttentionCall) else None
        if kind == "hidden":
            vectors = call.context if call.cross else self._streams.get(call.module)
        else:
            vectors = self._fixed[kind, self.sides(call)[1]]
        if vectors is None or vectors.shape[1] != call.keys:
            have = "none" if vectors is None else str(vectors.shape[1])
            raise InputError(
                f"{call.module} has {call.keys} keys but {have} {kind} vectors; "
                "pass the whole sequence in one call, without a cache of earlier keys"
            )
        return vectors.detach().unsqueeze(1)

    def sides(self, call: ObservedCall) -> tuple[Side, Side]:
        """Which stream the queries and which the keys of a call come from."""
        queries: Side = "encoder" if call.module in self._encoder else "decoder"
        return queries, "encoder" if call.cross else queries

    def _embed(self) -> None:
        embed = self._model.get_input_embeddings()
        ids = self._inputs["input_ids"]
        self._fixed["embedding", "encoder"] = embed(ids)
        self._fixed["embedding", "decoder"] = embed(self._inputs.get("decoder_input_ids", ids))

    def _plain_pass(self) -> None:
        """Last hidden states without keeping those of every layer, where the model allows it."""
        base = getattr(self._model, "base_model", self._model)
        output = base(**self._inputs, **without_cache(base))
        final = getattr(output, "last_hidden_state", None)
        if final is None:
            output = base(**self._inputs, output_hidden_states=True)
            states = getattr(output, "decoder_hidden_states", None) or output.hidden_states
            final = states[-1]
        self._fixed["final", "decoder"] = final
        encoder = getattr(output, "encoder_last_hidden_state", None)
        self._fixed["final", "encoder"] = final if encoder is None else encoder

    def _keep(self, attention: str, _: nn.Module, args: Any, kwargs: dict[str, Any]) -> None:
        self._streams[attention] = _first_given(args, kwargs)


class StreamLengths:
    """‖x‖ of every token where it enters the layers of these attention modules; a context manager
    around a forward pass. The stream itself is not kept."""

    def __init__(self, model: nn.Module, attentions: Collection[str]) -> None:
        self._model, self._attentions = model, attentions
        self._hooks = Hooks()
        self._lengths: dict[str, Tensor] = {}

    def __enter__(self) -> "StreamLengths":
        modules = dict(self._model.named_modules())
        for name in self._attentions:
            self._hooks.before(modules[layer_of(name, modules)], partial(self._keep, name))
        return self

    def __exit__(self, *exception: object) -> None:
        self._hooks.close()

    def of(self, call: ObservedCall) -> Float[Tensor, "queries"] | None:
        """Of the queries of a call; None where its layer is not watched."""
        return self._lengths.get(call.module)

    def _keep(self, attention: str, _: nn.Module, args: Any, kwargs: dict[str, Any]) -> None:
        stream: Tensor = _first_given(args, kwargs)
        rows = stream.detach()[0].to(most_exact(stream.device))
        self._lengths[attention] = torch.linalg.vector_norm(rows, dim=-1).cpu().double()


@dataclass(frozen=True, eq=False)
class ModuleRun:
    """A module that ran in a layer; its first input and output where they look like the stream."""

    name: str
    module: nn.Module
    given: Tensor | None
    made: Tensor | None
    after: bool  # once the attention had mixed the tokens


@dataclass(eq=False)
class LayerRun:
    """One run of a layer: what entered, what ran inside in the order of finishing, what left."""

    layer: str
    entering: Tensor
    leaving: Tensor
    inside: list[ModuleRun] = field(default_factory=list)
    attention: str | None = None  # the first attention that ran


def watch_layers(
    model: nn.Module,
    inputs: Mapping[str, Tensor],
    inside: Mapping[str, Collection[str]],
    observer: Callable[[LayerRun], object],
    attention: bool = False,
) -> None:
    """Run the model and hand over each run of a layer as it ends; nothing of it is kept.

    `inside` has the layers by name, each with the modules whose runs are wanted. `attention`: tell
    those before the tokens are mixed from those after.
    """
    body: Any = getattr(model, "base_model", model)  # nobody needs its logits
    with torch.no_grad(), Hooks() as hooks:
        watch = _LayerWatch(model, inside, observer, hooks)
        if attention:
            hooks.enter_context(intercept(model, watch.mixed))
        body(**inputs, **without_cache(body))


class _LayerWatch:
    def __init__(
        self,
        model: nn.Module,
        inside: Mapping[str, Collection[str]],
        observer: Callable[[LayerRun], object],
        hooks: Hooks,
    ) -> None:
        self._observer = observer
        self._now: LayerRun | None = None
        self._names = {id(module): name for name, module in model.named_modules()}
        self._attentions = attention_modules(model)
        modules = dict(model.named_modules())
        for layer, names in inside.items():
            hooks.before(modules[layer], self._begin)
            for name in names:
                hooks.after(modules[name], self._ran)
            hooks.after(modules[layer], self._end)

    def mixed(self, call: ObservedCall) -> None:
        """The attention has computed its sums."""
        if self._now is not None and self._now.attention is None:
            self._now.attention = call.module

    def _begin(self, module: nn.Module, args: Any, kwargs: dict[str, Any]) -> None:
        found, layer = _first_given(args, kwargs), self._names[id(module)]
        if not isinstance(found, Tensor) or found.ndim != 3:
            what = tuple(found.shape) if isinstance(found, Tensor) else type(found).__name__
            raise InputError(
                f"{layer} gets {what}, not a stream of shape (1, tokens, dim): scan without depth"
            )
        self._now = LayerRun(layer, found.clone(), found)  # some layers add in place

    def _ran(self, module: nn.Module, args: Any, kwargs: dict[str, Any], output: Any) -> None:
        run, name = self._now, self._names[id(module)]
        if run is None:
            return
        if name in self._attentions and run.attention is None:
            run.attention = name  # not to be seen inside: mixed by now at the latest
        given = _like_stream(_first_given(args, kwargs), run.entering)
        made = _like_stream(_first_made(output), run.entering)
        run.inside.append(ModuleRun(name, module, given, made, run.attention is not None))

    def _end(self, module: nn.Module, args: Any, kwargs: dict[str, Any], output: Any) -> None:
        run, self._now = self._now, None
        if run is None:
            return
        if not isinstance(made := _first_made(output), Tensor):
            raise InputError(
                f"{run.layer} returns no tensor, so it has no stream: scan without depth"
            )
        run.leaving = made.clone()
        self._observer(run)


def _first_given(args: Any, kwargs: Mapping[str, Any]) -> Any:
    return args[0] if args else kwargs.get("hidden_states")


def _first_made(output: Any) -> Any:
    """A module's output, or the first of several."""
    return output[0] if isinstance(output, (tuple, list)) and output else output


def _like_stream(found: Any, stream: Tensor) -> Tensor | None:
    """A copy, because some layers add in place; None for what is no stream.

    OPT's layers read the tokens of all windows as one list.
    """
    if not isinstance(found, Tensor) or not found.is_floating_point():
        return None
    same = found.numel() == stream.numel() and found.shape[-1] == stream.shape[-1]
    return found.detach().clone().view_as(stream) if same else None
