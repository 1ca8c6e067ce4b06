"""The weights that make the queries, keys and values of each head, found by what they compute.

    for name, found in input_rows(model, inputs).items():
        found.query, found.key, found.value       # which outputs of which modules they are, or None
        found.query.weights()                     # (heads, width, dim) in float64

Names of modules differ by family, and many keep q, k and v in one matrix, in different orders. So a
few single tokens are read, each a sequence of its own: at the first place of a sequence a rotary
embedding turns by nothing, and what reaches the attention is the very output of a projection, or of
a norm that read one. Each entry of q, k and v is looked up among the outputs of the layer's
modules; where all entries come from plain matrices that read the stream, the rows of those are the
head's own. A factor on the way (a scaled query, as in OPT), a low-rank detour (MLA) or quantised
weights leave None.
"""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from headgauge.devices import most_exact
from headgauge.models.calls import AttentionCall, ObservedCall
from headgauge.models.hooks import Hooks
from headgauge.models.intercept import intercept
from headgauge.models.norm_placement import is_norm
from headgauge.models.structure import attention_modules, layer_of, without_cache

_TOKENS = 12  # by which columns are told apart


@dataclass(frozen=True, eq=False)
class MadeBy:
    """Of each entry of each head, which output of which module it is.

    `normed`: a norm reads those outputs, and the entries are what it made of them.
    """

    modules: tuple[nn.Module, ...]
    module: Int[Tensor, "heads dim"]
    output: Int[Tensor, "heads dim"]
    normed: bool

    def weights(self) -> Float[Tensor, "heads width dim"]:
        """W of every head as it is now, in float64 where its device has that."""
        several = [plain_weight(module) for module in self.modules]
        all_rows = torch.cat([each for each in several if each is not None])
        first = torch.tensor([0, *itertools.accumulate(len(e) for e in several if e is not None)])
        rows = (first[self.module] + self.output).to(all_rows.device)
        exact = most_exact(all_rows.device)
        return all_rows[rows].to(exact).transpose(1, 2).contiguous()


@dataclass(frozen=True, eq=False)
class InputRows:
    """What makes q, k and v of one attention module, by head or KV head; None where not told."""

    query: MadeBy | None
    key: MadeBy | None
    value: MadeBy | None

    def weights(self) -> "InputWeights":
        several = (self.query, self.key, self.value)
        return InputWeights(*(None if each is None else each.weights() for each in several))


@dataclass(frozen=True, eq=False)
class InputWeights:
    """W_Q, W_K and W_V of one attention module, by head or KV head; None where not told."""

    query: Float[Tensor, "heads width dim"] | None
    key: Float[Tensor, "kv_heads width dim"] | None
    value: Float[Tensor, "kv_heads width value_dim"] | None


@dataclass(frozen=True, eq=False)
class _Made:
    """Outputs of a layer's matrices that read the stream: which module made each, and where."""

    places: dict[bytes, tuple[int, int]]
    modules: tuple[nn.Module, ...]


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
    """By attention module, as they are now."""
    return {name: found.weights() for name, found in input_rows(model, inputs).items()}


def input_rows(model: nn.Module, inputs: Mapping[str, Tensor]) -> dict[str, InputRows]:
    """By attention module; `inputs` are single tokens. What is seen at its softmax alone has
    none."""
    modules = dict(model.named_modules())
    inside: dict[str, list[_Ran]] = {}
    found: dict[str, InputRows] = {}

    def look(call: ObservedCall) -> None:
        if call.module in found or not isinstance(call, AttentionCall):
            return
        runs = inside.get(layer_of(call.module, modules), [])
        known = _known(runs, len(call.query))
        parts = (call.query, call.key, call.value)
        found[call.module] = InputRows(*(_made_by(part, runs, known) for part in parts))

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


def _made_by(
    part: Float[Tensor, "tokens heads 1 dim"], runs: list[_Ran], known: _Made
) -> MadeBy | None:
    """What made q, k or v."""
    tokens, heads, _, dim = part.shape
    wanted, normed = _flat(part, tokens), False
    for run in reversed(runs):  # a norm on the queries: its input is what a matrix made
        if is_norm(run.module) and torch.equal(_flat(run.made, tokens), wanted):
            wanted, normed = _flat(run.given, tokens), True
            break
    places = [known.places.get(column) for column in _columns(wanted)]
    if None in places:
        return None
    module, output = torch.tensor(places).view(heads, dim, 2).unbind(-1)
    used, module = module.unique(return_inverse=True)
    return MadeBy(tuple(known.modules[at] for at in used.tolist()), module, output, normed)


def _known(runs: list[_Ran], tokens: int) -> _Made:
    places: dict[bytes, tuple[int, int]] = {}
    modules: list[nn.Module] = []
    width = None
    for run in runs:
        weight = plain_weight(run.module)
        made = _flat(run.made, tokens)
        if weight is None or made.shape[1] != len(weight):
            continue
        width = weight.shape[1] if width is None else width  # the first reads the stream
        if weight.shape[1] == width:
            columns = _columns(made)
            places |= {column: (len(modules), at) for at, column in enumerate(columns)}
            modules.append(run.module)
    return _Made(places, tuple(modules))


def _flat(tensor: Tensor, tokens: int) -> Tensor:
    """(tokens, entries); 0 added, so that −0 is 0."""
    return tensor.detach().reshape(tokens, -1) + 0.0


def _columns(table: Float[Tensor, "tokens entries"]) -> list[bytes]:
    columns = table.T.contiguous().cpu().float().numpy()
    return columns.view(np.dtype((np.void, columns.strides[0]))).ravel().tolist()
