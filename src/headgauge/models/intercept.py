"""Watch a model's attention, or replace what it makes, while its own functions compute it.

    with intercept(model, observer) as seen:
        model(input_ids)

For the time of the block transformers' attention functions are wrapped (`interface`): the wrapper
calls the original with the same arguments and hands q, k, v and the rest to `observer`. Modules of
other models pass through, and so do calls from other threads. Where other rules are in force
(`swap`), the call knows them: its weights are theirs.

About one modeling file in six computes its attention by hand (GPT-J, Bloom, GPT-Neo, MPT) or calls
torch's `scaled_dot_product_attention` itself (Falcon). A `TorchFunctionMode` sees both: of the
first the logits and the weights, of the second everything.

Each call from q, k, v is checked against the model's output; where they disagree, or where there is
NaN or infinity, the observer does not get it.
"""

import inspect
import math
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812
from torch.overrides import TorchFunctionMode

from headgauge.errors import InputError
from headgauge.models.attention_rows import attention_of, fields_of
from headgauge.models.calls import AttentionCall, ObservedCall, SoftmaxCall
from headgauge.models.head_rules import HeadRules
from headgauge.models.hooks import Hooks, uncompiled
from headgauge.models.interface import watched
from headgauge.models.structure import attention_modules, check_readable, head_count
from headgauge.threads import in_turn

Observer = Callable[[ObservedCall], object]
Replacement = Callable[[AttentionCall], Tensor | None]

# How far Σ weights·v may be from the model's output, relative to its largest entry: rounding stays
# far below, a forgotten mask or bias far above.
TOLERANCE = {torch.float64: 1e-8, torch.float32: 1e-3}
TOLERANCE_HALF = 5e-2

# The order of torch's own function, and its other names.
_TORCH_POSITIONAL = ("query", "key", "value", "attention_mask", "dropout", "causal")
_TORCH_NAMES = {"attn_mask": "attention_mask", "dropout_p": "dropout", "is_causal": "causal"}
_TORCH_NAMES |= {"scale": "scaling"}
_CONTEXT_ARGUMENTS = ("key_value_states", "encoder_hidden_states")
_SOFTMAX = (torch.softmax, F.softmax, Tensor.softmax, torch.special.softmax)
_in_use = threading.Lock()


@contextmanager
def intercept(
    model: nn.Module,
    observer: Observer,
    not_finite: Observer | None = None,
    replacement: Replacement | None = None,
) -> Iterator["Interception"]:
    """Call `observer` with every attention call of the model inside the `with` block.

    Calls with NaN or infinity in a head (`call.finite` tells which) go to `not_finite` or nowhere.
    Where `replacement(call)` returns a tensor of the shape of `call.output`, the model goes on with
    it; its call has the model's own tensors, with their gradients, the observer's is detached.
    One block at a time: a second one is refused, and a scan in another thread waits for its end.
    """
    check_readable(model)
    with Hooks() as hooks:
        hooks.enter_context(in_turn(wait=False))
        if not _in_use.acquire(blocking=False):
            raise InputError("an interception is already running: end it before starting another")
        hooks.callback(_in_use.release)
        seen = Interception(model, observer, not_finite, replacement)
        for module in seen.modules.values():
            hooks.before(module, seen.enter_module)
            hooks.after(module, seen.leave_module, always=True)
        hooks.enter_context(watched(seen))
        hooks.enter_context(uncompiled())
        hooks.enter_context(seen)
        yield seen


@dataclass
class _Running:
    """An attention module inside its forward: what its keys are made of, what was tapped so far."""

    name: str
    heads: int | None
    context: Tensor | None
    tapped: list[tuple[Tensor, Tensor]] = field(default_factory=list)


class Interception(TorchFunctionMode):
    """What was seen so far; `intercept` makes one."""

    def __init__(
        self,
        model: nn.Module,
        observer: Observer,
        not_finite: Observer | None,
        replacement: Replacement | None,
    ) -> None:
        super().__init__()
        self.modules = attention_modules(model)
        self.observed: Counter[str] = Counter()
        self.distrusted: dict[str, float] = {}
        self._observer, self._not_finite, self._replacement = observer, not_finite, replacement
        self._ran: Counter[str] = Counter()
        self._thread = threading.get_ident()
        self._names = {id(module): name for name, module in model.named_modules()}
        self._layers = {name: index for index, name in enumerate(self.modules)}
        self._stack: list[_Running] = []
        self._muted = False  # the call is already known, or is the observer's own

    @property
    def unseen(self) -> list[str]:
        """Attention modules that ran and could not be seen, or whose weights did not add up."""
        return [name for name in self.modules if self._ran[name] and not self.observed[name]]

    def enter_module(self, module: nn.Module, args: Any, kwargs: Any) -> None:
        """Before an attention module runs: where we are, and whose keys it reads."""
        bound = inspect.signature(module.forward).bind_partial(*args, **kwargs).arguments
        bound |= bound.get("kwargs", {})
        context = next((bound[k] for k in _CONTEXT_ARGUMENTS if bound.get(k) is not None), None)
        self._stack.append(_Running(self._names[id(module)], head_count(module), context))

    def leave_module(self, module: nn.Module, args: Any, kwargs: Any, output: Any) -> None:
        running = self._stack[-1]
        try:
            if output is not None:
                self._report_softmax(running)
        finally:
            self._stack.pop()
            self._ran[running.name] += 1

    def watches(self, module: nn.Module) -> bool:
        """Whether a call is one of the model's, in our thread."""
        return threading.get_ident() == self._thread and id(module) in self._names

    def see(
        self,
        implementation: str,
        attend: Callable[..., Any],
        rules: HeadRules | None,
        module: nn.Module,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        """Make a call of the interface, and hand it over."""
        with self._mute():
            made, *rest = attend(module, *args, **kwargs)
            given = attention_of(implementation, module, args, kwargs)
            dropout = bool(kwargs.get("dropout"))
            name = self._names[id(module)]
            return self._report(name, given, made, dropout, rules), *rest

    def __torch_function__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        if self._muted or not self._stack:
            return result
        if func in _SOFTMAX:
            logits, axis = _softmax_arguments(*args, **(kwargs or {}))
            if logits.ndim in (3, 4) and axis in (-1, logits.ndim - 1):
                self._stack[-1].tapped.append((logits.detach(), result.detach()))
        elif func is F.scaled_dot_product_attention:
            given = dict(zip(_TORCH_POSITIONAL, args, strict=False))  # it has no signature
            given |= {_TORCH_NAMES.get(key, key): each for key, each in (kwargs or {}).items()}
            if given["query"].ndim == 4:
                with self._mute():
                    name, dropout = self._stack[-1].name, bool(given.get("dropout"))
                    made = result.transpose(1, 2)
                    made = self._report(name, fields_of(given), made, dropout)
                    return made.transpose(1, 2)
        return result

    def _report_softmax(self, running: _Running) -> None:
        """Hand over the one softmax of a module that ran.

        Several, or one of another shape, are no rows of weights over the keys (Nyströmformer's
        landmarks, Longformer's bands): such a module counts as unseen.
        """
        if len(running.tapped) != 1:
            return
        logits, weights = (_by_head(each, running.heads) for each in running.tapped[0])
        if logits is None or weights is None:
            return
        if self._replacement is not None:
            raise InputError(
                f"{running.name} computes its attention outside transformers' interface: what it "
                "makes can be seen, not replaced"
            )
        with self._mute():
            self._observe(SoftmaxCall(*self._where(running.name), logits, weights))

    def _report(
        self,
        name: str,
        given: dict[str, Any],
        output: Tensor,
        dropout: bool,
        rules: HeadRules | None = None,
    ) -> Tensor:
        """Check a call and hand it over; what the model goes on with."""
        call = AttentionCall(*self._where(name), **given, output=output, rules=rules)
        tensors = {key: each for key, each in vars(call).items() if isinstance(each, Tensor)}
        detached = replace(call, **{key: each.detach() for key, each in tensors.items()})
        with torch.no_grad():
            # Dropout makes the output random: there is nothing to compare with.
            error = 0.0 if dropout else detached.reconstruction_error()
        if any(detached.finite) and not error <= TOLERANCE.get(output.dtype, TOLERANCE_HALF):
            self._distrust(name, error)
            return output
        self._observe(detached)
        new = None if self._replacement is None else self._replacement(call)
        if new is not None and new.shape != output.shape:
            raise InputError(
                f"a replacement for {name} must have the shape {tuple(output.shape)}, got "
                f"{tuple(new.shape)}"
            )
        return output if new is None else new

    def _where(self, name: str) -> tuple[str, int, int, Tensor | None]:
        layer = self._layers.setdefault(name, len(self._layers))
        context = self._stack[-1].context if self._stack else None
        return name, layer, self.observed[name], context

    def _distrust(self, name: str, error: float) -> None:
        self.distrusted[name] = max(error, self.distrusted.get(name, 0.0))

    def _observe(self, call: ObservedCall) -> None:
        observer: Observer | None = self._observer
        if not all(call.finite):
            self._distrust(call.module, math.inf)
            observer = self._not_finite
        if observer is not None:
            # Our mode would be asked at each of the observer's own operations.
            with torch.no_grad(), torch._C.DisableTorchFunction():
                observer(call)
            self.observed[call.module] += 1

    @contextmanager
    def _mute(self) -> Iterator[None]:
        before, self._muted = self._muted, True
        try:
            yield
        finally:
            self._muted = before


def _by_head(rows: Tensor, heads: int | None) -> Tensor | None:
    """(batch, heads, queries, keys) from that or from (batch·heads, queries, keys); else None."""
    if rows.ndim == 3:
        return None if heads is None or rows.shape[0] % heads else rows.unflatten(0, (-1, heads))
    return rows if heads is None or rows.shape[1] == heads else None


def _softmax_arguments(
    input: Tensor, dim: int | None = None, *rest: Any, **others: Any
) -> tuple[Tensor, int | None]:
    return input, dim
