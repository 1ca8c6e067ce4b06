"""The weights that make the queries, keys and values of each head, found by what they compute.

    for name, found in input_weights(loaded).items():
        found.query, found.key, found.value       # (heads, width, dim) in float64, or None

Names of modules differ by family, and many keep q, k and v in one matrix, in different orders. So a
few single tokens are read, each a sequence of its own: at the first place of a sequence a rotary
embedding turns by nothing, and what reaches the attention is the very output of a projection, or of
a norm that read one. Each entry of q, k and v is looked up among the outputs of the layer's
modules; where all entries come from plain matrices that read the stream, the rows of those are the
head's own. A factor on the way (a scaled query, as in OPT), a low-rank detour (MLA) or quantised
weights leave None.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from headgauge.models.calls import AttentionCall, ObservedCall
from headgauge.models.hooks import Hooks
from headgauge.models.intercept import intercept
from headgauge.models.norm_placement import is_norm
from headgauge.models.structure import attention_modules, layer_of, without_cache

_TOKENS = 12  # by which columns are told apart


@dataclass(frozen=True, eq=False)
class InputWeights:
    """W_Q, W_K and W_V of one attention module, by head or KV head; None where not told."""

    query: Float[Tensor, "heads width dim"] | None
    key: Float[Tensor, "kv_heads width dim"] | None
    value: Float[Tensor, "kv_heads width value_dim"] | None


@dataclass(frozen=True, eq=False)
class _Made:
    """Outputs of a layer's matrices that read the stream: which row of `weights` made each."""

    rows: dict[bytes, int]
    weights: Float[Tensor, "rows width"]


@dataclass(frozen=True, eq=False)
class _Ran:
    module: nn.Module
    given: Tensor
    made: Tensor


def single_tokens(vocabulary: int) -> Tensor:
    """A few tokens, each a sequence of its own."""
    return torch.linspace(0, vocabulary - 1, _TOKENS).long().unique()[:, None]


def plain_weight(module: nn.Module) -> Float[Tensor, "outputs inputs"] | None:
    """The matrix of a linear layer, also of the kind that GPT-2 has; None where it is no such."""
    weight = getattr(module, "weight", None)
    if not isinstance(weight, Tensor) or weight.ndim != 2 or not weight.is_floating_point():
        return None
    if isinstance(module, nn.Linear):
        return weight.detach()
    return weight.detach().T if type(module).__name__ == "Conv1D" else None


def input_weights(model: nn.Module, inputs: Mapping[str, Tensor]) -> dict[str, InputWeights]:
    """By attention module; `inputs` are single tokens. What is seen at its softmax alone has
    none."""
    modules = dict(model.named_modules())
    inside: dict[str, list[_Ran]] = {}
    found: dict[str, InputWeights] = {}

    def look(call: ObservedCall) -> None:
        if call.module in found or not isinstance(call, AttentionCall):
            return
        runs = inside.get(layer_of(call.module, modules), [])
        known = _known(runs, len(call.query))
        parts = (call.query, call.key, call.value)
        found[call.module] = InputWeights(*(_rows_of(part, runs, known) for part in parts))

    with torch.no_grad(), Hooks() as hooks:
        for layer in {layer_of(name, modules) for name in attention_modules(model)}:
            runs = inside[layer] = []

            def begin(*_: Any, runs: list[_Ran] = runs) -> None:
                runs.clear()

            def ran(module: nn.Module, args: Any, _: Any, output: Any, runs: Any = runs) -> None:
                given = args[0] if args else None
                if isinstance(output, Tensor) and isinstance(given, Tensor):
                    runs.append(_Ran(module, given, output))

            hooks.before(modules[layer], begin)
            for module in modules[layer].modules():
                if plain_weight(module) is not None or is_norm(module):
                    hooks.after(module, ran)
        hooks.enter_context(intercept(model, look))
        model(**inputs, **without_cache(model))
    return found


def _rows_of(
    part: Float[Tensor, "tokens heads 1 dim"], runs: list[_Ran], known: _Made
) -> Float[Tensor, "heads width dim"] | None:
    """The matrices that made q, k or v, one for each of its heads."""
    tokens, heads, _, dim = part.shape
    wanted = _flat(part, tokens)
    for run in reversed(runs):  # a norm on the queries: its input is what a matrix made
        if is_norm(run.module) and torch.equal(_flat(run.made, tokens), wanted):
            wanted = _flat(run.given, tokens)
            break
    rows = [known.rows.get(column) for column in _columns(wanted)]
    if None in rows:
        return None
    found = known.weights[torch.tensor(rows, device=known.weights.device)].double()
    return found.unflatten(0, (heads, dim)).transpose(1, 2).contiguous()


def _known(runs: list[_Ran], tokens: int) -> _Made:
    rows: dict[bytes, int] = {}
    weights: list[Tensor] = []
    for run in runs:
        weight = plain_weight(run.module)
        made = _flat(run.made, tokens)
        if weight is None or made.shape[1] != len(weight):
            continue
        if not weights or weight.shape[1] == weights[0].shape[1]:  # the first reads the stream
            first = sum(map(len, weights))
            rows |= zip(_columns(made), range(first, first + len(weight)), strict=True)
            weights.append(weight)
    return _Made(rows, torch.cat(weights) if weights else torch.empty(0, 0))


def _flat(tensor: Tensor, tokens: int) -> Tensor:
    """(tokens, entries); 0 added, so that −0 is 0."""
    return tensor.detach().reshape(tokens, -1) + 0.0


def _columns(table: Float[Tensor, "tokens entries"]) -> list[bytes]:
    columns = table.T.contiguous().cpu().float().numpy()
    return columns.view(np.dtype((np.void, columns.strides[0]))).ravel().tolist()
