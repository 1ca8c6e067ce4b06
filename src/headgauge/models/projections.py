"""Which module takes the heads' outputs up again: an attention's output projection.

Told from what runs and not from names: in a short pass, the first module after an attention call
that reads what the call put out, all heads side by side. Its columns h·d to (h + 1)·d are head h's,
so that a head can be silenced there, and what it writes into the residual stream can be computed.

Where no module reads it as it is, be it that a gate stands between or that the attention is
computed outside transformers' interface, there is no projection, and `missing` says why.
"""

from dataclasses import dataclass, field
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from headgauge.models.calls import AttentionCall, ObservedCall
from headgauge.models.facts import LoadedModel
from headgauge.models.hooks import Hooks, in_eval
from headgauge.models.intercept import intercept
from headgauge.models.structure import IMPLEMENTATIONS, attention_modules, without_cache
from headgauge.models.windows import model_inputs, vocabulary

TAPPED = "it computes its attention outside transformers' interface, where outputs are not seen"
CHANGED = "what its heads put out is changed, as by a gate, before an output projection reads it"
UNSEEN = "it could not be seen in a short pass"

_SEQUENCES, _TOKENS = 2, 4  # of the short pass


@dataclass(frozen=True, eq=False)
class OutputProjection:
    """The module that reads the outputs of an attention module's heads.

    `attention` is that module's name and `layer` its place among the model's attention modules.
    """

    attention: str
    layer: int
    name: str
    module: nn.Module
    heads: int
    value_dim: int

    def columns(self, head: int) -> slice:
        """A head's part of what the projection reads."""
        return slice(head * self.value_dim, (head + 1) * self.value_dim)

    def weight(self, head: int) -> Float[Tensor, "value_dim width"] | None:
        """W_O of a head, so that it writes o·W_O; None where the weights are not plain numbers."""
        from transformers.pytorch_utils import Conv1D

        weight = getattr(self.module, "weight", None)
        if not isinstance(self.module, (nn.Linear, Conv1D)) or not isinstance(weight, Tensor):
            return None
        read = weight if isinstance(self.module, Conv1D) else weight.T
        if not weight.is_floating_point() or read.shape[0] != self.heads * self.value_dim:
            return None
        # On the CPU, because not every device has float64.
        return read[self.columns(head)].detach().cpu().double()


class Projections(dict[str, OutputProjection]):
    """By the name of the attention module; `missing` has those without one, and why."""

    def __init__(self) -> None:
        super().__init__()
        self.missing: dict[str, str] = {}

    def at(self, layer: int) -> OutputProjection | None:
        return next((each for each in self.values() if each.layer == layer), None)


def output_projections(loaded: LoadedModel) -> Projections:
    """Those of all attention modules, from one pass over a few tokens."""
    model: Any = loaded.model
    size = min(_TOKENS, loaded.facts.context_length or _TOKENS)
    ids = torch.arange(_SEQUENCES * size).view(_SEQUENCES, size) % (vocabulary(loaded) or 1)
    inputs = model_inputs(loaded, ids)
    found = _Trace()
    used = model.config._attn_implementation
    with Hooks() as hooks, torch.no_grad():
        hooks.enter_context(in_eval(model))
        if used not in IMPLEMENTATIONS:  # the modules are the same under every one
            hooks.callback(model.set_attn_implementation, used)
            model.set_attn_implementation("sdpa")
        for name, module in model.named_modules():
            # Before any other hook: one that silences a head would hide what it reads.
            hooks.before(module, found.reader(name), first=True)
        hooks.enter_context(intercept(model, found.attended, found.attended))
        model(**inputs, **without_cache(model))
    found.settle()
    for name in attention_modules(model):
        if name not in found.projections:
            found.projections.missing.setdefault(name, UNSEEN)
    return found.projections


@dataclass
class _Trace:
    """The attention call whose outputs wait for a reader, and the first that read them."""

    projections: Projections = field(default_factory=Projections)
    _call: AttentionCall | None = None
    _reader: tuple[str, nn.Module] | None = None

    def attended(self, call: ObservedCall) -> None:
        self.settle()
        if isinstance(call, AttentionCall):
            self._call = call
        else:
            self.projections.missing[call.module] = TAPPED

    def reader(self, name: str) -> Any:
        """A hook for the module of this name."""

        def begins(module: nn.Module, args: Any, kwargs: dict[str, Any]) -> None:
            if self._call is None or isinstance(module, (nn.Dropout, nn.Identity)):
                return
            given, made = first_input(args, kwargs), self._call.output.flatten(2)
            if not isinstance(given, Tensor) or given.shape[-1] != made.shape[-1]:
                return
            if given.numel() != made.numel() or not torch.equal(given.reshape(made.shape), made):
                return
            # BERT's projection lies in a module that reads the same: the one with weights counts.
            self._reader = self._reader or (name, module)
            if isinstance(getattr(module, "weight", None), Tensor):
                self._reader = name, module
                self.settle()

        return begins

    def settle(self) -> None:
        """No further module may read the outputs of the call."""
        call, reader, self._call, self._reader = self._call, self._reader, None, None
        if call is None or call.module in self.projections:
            return
        if reader is None:
            self.projections.missing[call.module] = CHANGED
            return
        self.projections.missing.pop(call.module, None)
        *_, heads, value_dim = call.output.shape
        self.projections[call.module] = OutputProjection(
            call.module, call.layer, *reader, heads, value_dim
        )


def first_input(args: Any, kwargs: dict[str, Any]) -> Any:
    """What a module is given first, by place or by name."""
    return args[0] if args else next(iter(kwargs.values()), None)
