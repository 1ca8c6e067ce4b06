"""The vectors x of the keys, under each name a result may be about.

- `embedding`: the input token embeddings;
- `hidden`: the residual stream that enters the layer, `hidden_states[l]`;
- `final`: the last hidden states, from a plain pass before the observed one;
- `value`: what the head really sums, one set per KV head.

In cross attention the keys are the encoder's: `embedding` and `final` are then the encoder's, and
`hidden` is the stream the keys were made of.

    with KeyVectors(model, inputs, ("value", "hidden")) as vectors, intercept(model, observer):
        model(**inputs)             # observer: vectors.of(call, "hidden")
"""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any, Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from headgauge.errors import InputError
from headgauge.models.attention_modules import attention_modules
from headgauge.models.calls import AttentionCall, ObservedCall
from headgauge.threads import here_only

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
        self._encoder = _encoder_modules(model)
        self._hooks = ExitStack()
        self._streams: dict[str, Tensor] = {}
        self._fixed: dict[tuple[str, str], Tensor] = {}

    def __enter__(self) -> "KeyVectors":
        with torch.no_grad():
            if "embedding" in self._kinds:
                self._embed()
            if "final" in self._kinds:
                self._plain_pass()
        if "hidden" in self._kinds:
            self._hook_layers()
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
        output = base(**self._inputs, use_cache=False) if _caches(base) else base(**self._inputs)
        final = getattr(output, "last_hidden_state", None)
        if final is None:
            output = base(**self._inputs, output_hidden_states=True)
            states = getattr(output, "decoder_hidden_states", None) or output.hidden_states
            final = states[-1]
        self._fixed["final", "decoder"] = final
        encoder = getattr(output, "encoder_last_hidden_state", None)
        self._fixed["final", "encoder"] = final if encoder is None else encoder

    def _hook_layers(self) -> None:
        modules = dict(self._model.named_modules())
        for name in attention_modules(self._model):
            layer = modules[_layer_of(name, modules)]

            def keep(
                module: nn.Module, args: Any, kwargs: dict[str, Any], attention: str = name
            ) -> None:
                self._streams[attention] = args[0] if args else kwargs["hidden_states"]

            hook = layer.register_forward_pre_hook(here_only(keep), with_kwargs=True)
            self._hooks.callback(hook.remove)


def _layer_of(name: str, modules: Mapping[str, nn.Module]) -> str:
    """The layer that holds an attention module: its outermost ancestor inside a ModuleList."""
    parts = name.split(".")
    for depth in range(1, len(parts)):
        if isinstance(modules[".".join(parts[:depth])], nn.ModuleList):
            return ".".join(parts[: depth + 1])
    return name


def _encoder_modules(model: nn.Module) -> set[str]:
    """The attention modules of the encoder of an encoder-decoder."""
    loose: Any = model
    if not getattr(getattr(loose, "config", None), "is_encoder_decoder", False):
        return set()
    encoder = {id(module) for module in loose.get_encoder().modules()}
    return {name for name, module in attention_modules(model).items() if id(module) in encoder}


def _caches(model: nn.Module) -> bool:
    return bool(getattr(getattr(model, "config", None), "use_cache", False))
