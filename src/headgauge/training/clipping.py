"""QK-clip: shrink W_q and W_k of a head whose logits have grown past a limit (Kimi K2).

After an optimiser's step, with S_h the largest logit of head h over all rows of the step and
γ_h = τ/S_h where S_h > τ, else 1:

    W_q ← γ_h^α W_q,  W_k ← γ_h^(1−α) W_k                  a key head for each query head
    W_q ← γ_h/γ_g^(1−α) W_q,  W_k ← γ_g^(1−α) W_k          γ_g the least of those that share k

so that every head's logits end at γ_h times what they were, also where others share its keys.
Biases go with their rows. A rotary embedding turns q and k without a change of length, so that a
factor on the weights is the same factor on the logits; a norm on q or k takes the factor away
again, and such a model is refused. S is the true maximum over all rows, not over some that were
drawn.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from headgauge.errors import InputError, check_whole, number
from headgauge.models.circuits import InputRows, MadeBy

Masters = Callable[[nn.Parameter], Tensor | None]


@dataclass(frozen=True)
class QKClip:
    """The action, for `Monitor(…, clip=QKClip())`.

    `limit` is τ and `alpha` the part of the factor that goes to the queries. The largest logit is
    measured on every `every`-th step, all of whose rows take part. `masters` gives the copy in
    higher precision that an optimiser keeps of a parameter, which is scaled with it; None: none.
    """

    limit: float = 100.0
    alpha: float = 0.5
    every: int = 1
    masters: Masters | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not 0 < number("the limit of QK-clip", self.limit) < float("inf"):
            raise InputError(f"the limit of QK-clip must be positive, got {self.limit}")
        if not 0 <= number("alpha of QK-clip", self.alpha) <= 1:
            raise InputError(f"alpha of QK-clip must be in 0 to 1, got {self.alpha}")
        check_whole("every", self.every, 1, 2**31)

    def factors(self, peaks: Tensor, kv_heads: int) -> tuple[Tensor, Tensor, Tensor]:
        """γ of each head, and what its queries and its key head are multiplied by."""
        # Without this guard a largest logit below 0 would give a negative base, and NaN.
        over = (peaks > self.limit) & peaks.isfinite()
        gamma = torch.where(over, self.limit / peaks.clamp(min=self.limit), 1.0)
        least = gamma.view(kv_heads, -1).amin(-1)
        of_key = least ** (1 - self.alpha)
        of_query = gamma / of_key.repeat_interleave(len(gamma) // kv_heads)
        return gamma, of_query, of_key

    def as_dict(self) -> dict[str, Any]:
        return {"limit": self.limit, "alpha": self.alpha, "every": self.every}


class Clipper:
    """QK-clip on a model: where its queries and keys are made is found once."""

    def __init__(self, action: QKClip, rows: dict[str, InputRows], layers: list[str]):
        self.action = action
        self._made = [_checked(layer, rows.get(layer)) for layer in layers]

    def clip(self, peaks: list[Tensor]) -> list[dict[str, Any]]:
        """Shrink what has grown past the limit; the heads that were, as a log has them."""
        clipped = []
        for layer, (query, key) in enumerate(self._made):
            own = peaks[layer].cpu()
            gamma, of_query, of_key = self.action.factors(own, len(key.output))
            if bool((gamma == 1).all()):
                continue
            _scale(query, of_query, self.action.masters)
            _scale(key, of_key, self.action.masters)
            clipped += [
                {"layer": layer, "head": head, "factor": factor}
                for head, factor in enumerate(gamma.tolist())
                if factor < 1
            ]
        return clipped


def _checked(layer: str, found: InputRows | None) -> tuple[MadeBy, MadeBy]:
    if found is None or found.query is None or found.key is None:
        raise InputError(
            f"QK-clip cannot tell which weights make the queries and keys of {layer}: they are no "
            "rows of plain matrices"
        )
    if found.query.normed or found.key.normed:
        raise InputError(
            f"{layer} normalises its queries and keys (QK-norm), which takes any factor on their "
            "weights away again: QK-clip does nothing there, and its logits are bounded anyway"
        )
    for module in (*found.query.modules, *found.key.modules):
        weight: Any = module.weight
        if type(weight) not in (Tensor, nn.Parameter):
            raise InputError(f"the weights of {layer} are {type(weight).__name__}: not clipped")
    return found.query, found.key


@torch.no_grad()
def _scale(made: MadeBy, factors: Tensor, masters: Masters | None) -> None:
    """Multiply each head's rows of weight and bias, in place."""
    each = factors[:, None].expand_as(made.output)
    for at, module in enumerate(made.modules):
        own = made.module == at
        places, scale = made.output[own], each[own]
        loose: Any = module
        across = isinstance(module, nn.Linear)
        _multiply(loose.weight, places, scale, 0 if across else 1, masters)
        if loose.bias is not None:
            _multiply(loose.bias, places, scale, 0, masters)


def _multiply(
    parameter: nn.Parameter, places: Tensor, scale: Tensor, axis: int, masters: Masters | None
) -> None:
    master = None if masters is None else masters(parameter)
    for tensor in (parameter, master):
        if tensor is None:
            continue
        if tensor.shape != parameter.shape:
            raise InputError(
                f"the master copy of a parameter of shape {tuple(parameter.shape)} has shape "
                f"{tuple(tensor.shape)}"
            )
        whole = torch.ones(tensor.shape[axis], dtype=torch.float64)
        whole[places] = scale.double()
        whole = whole.to(tensor.device, torch.promote_types(tensor.dtype, torch.float32))
        tensor.mul_(whole if axis or tensor.ndim == 1 else whole[:, None])
