"""What every rule needs to know about its rows: which keys are seen, and how many.

A key is invisible to a query where the boolean mask says so, or where the logit is −inf or at
most half the most negative number of its own dtype (what adding `finfo.min` leaves behind). The
row's length n counts the visible keys and nothing else, so padding never changes a weight. A
finite fill such as −10⁴ is a logit like any other: it is seen, and counted.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor

from headgauge.errors import InputError

# A number, or a tensor that broadcasts to the rows: (heads, 1) for one value per head of
# (batch, heads, queries, keys).
Number = int | float
PerRow = Number | Shaped[Tensor, "..."]
Logits = Float[Tensor, "*rows keys"]
Mask = Bool[Tensor, "..."] | None
Positions = Shaped[Tensor, "..."] | None


@dataclass(frozen=True, eq=False)
class Rows:
    """Logits in fp32 or fp64, with the visible keys of each row.

    `hidden` may be smaller than the logits: a causal mask is kept as the one square it is and
    broadcast where it is used.
    """

    logits: Logits
    hidden: Mask
    given_positions: Positions
    sinks: int = 0  # how many of the last columns are no keys

    @property
    def shape(self) -> torch.Size:
        """The shape of the rows, without the keys."""
        return self.logits.shape[:-1]

    @property
    def keys(self) -> int:
        return self.logits.shape[-1]

    @cached_property
    def visible(self) -> Bool[Tensor, "*rows keys"]:
        if self.hidden is None:
            return torch.ones_like(self.logits, dtype=torch.bool)
        return (~self.hidden).expand(self.logits.shape)

    @cached_property
    def n(self) -> Int[Tensor, "*rows"]:
        """How many keys each row sees."""
        if self.hidden is None:
            n = self.keys - self.sinks
            return torch.full((), n, device=self.logits.device).expand(self.shape)
        count = (~self.hidden).sum(-1)
        if self.hidden.shape[-1] == 1:
            count = count * self.keys
        return (count - self.sinks).expand(self.shape)

    @cached_property
    def length(self) -> Float[Tensor, "*rows"]:
        """n as a real number, at least 1 so that its logarithm is finite on a dead row."""
        return self.n.clamp(min=1).to(self.logits.dtype)

    @cached_property
    def positions(self) -> Float[Tensor, "*rows"]:
        """Where each query stands, counted from 1; n unless the caller said otherwise."""
        if self.given_positions is None:
            return self.length
        return self.given_positions.to(self.logits).expand(self.shape)

    @cached_property
    def dead(self) -> Bool[Tensor, "*rows 1"] | None:
        """Rows that see nothing; None when it is known that there are none."""
        if self.hidden is None and self.keys > 0:
            return None
        dead = (self.n == 0).unsqueeze(-1)
        return None if _may_read(self.logits) and not bool(dead.any()) else dead

    def widened(self) -> "Rows":
        """The same rows in fp64, where the device has it."""
        return Rows(widened(self.logits), self.hidden, self.given_positions, self.sinks)

    def with_sink(self, sink: PerRow) -> "Rows":
        """The same rows with one more logit each, which is no key; dead rows stay dead."""
        column = torch.as_tensor(self.column(sink, "sink"), dtype=self.logits.dtype)
        column = column.to(self.logits.device).expand(*self.shape, 1)
        hidden = self.hidden
        if hidden is not None:
            hidden = hidden.expand(*hidden.shape[:-1], self.keys)
            hidden = torch.cat([hidden, torch.zeros_like(hidden[..., :1])], dim=-1)
        return Rows(torch.cat([self.logits, column], dim=-1), hidden, self.given_positions, 1)

    def fill(self, values: Logits, number: float) -> Logits:
        """The values with `number` at the invisible keys, where no gradient flows."""
        return values if self.hidden is None else values.masked_fill(self.hidden, number)

    @cached_property
    def seen(self) -> Logits:
        """The logits with 0 at the invisible keys: safe to multiply and to differentiate."""
        return self.fill(self.logits, 0.0)

    def scaled(self, scale: float | Tensor) -> Logits:
        """scale · logits up to a constant of the row, for rules that do not see one.

        Invisible entries become 0 first: −inf · 0 is NaN, and the gradient of a learned scale is a
        sum over the logits that must not contain what lies under the mask. Where the product is
        beyond the numbers, the scale meets the distance to the logit that wins instead, and what is
        too far below it gets a weight of 0.
        """
        if isinstance(scale, float) and scale == 1.0:
            return self.logits
        plain = self.seen * scale
        if _may_read(plain) and math.isfinite(float(plain.detach().sum())):
            return plain
        far = torch.finfo(self.logits.dtype).max
        winner = self.maximum()
        if isinstance(scale, Tensor):
            scale = scale.clamp(-far, far)
            lowest = self.fill(self.logits.detach(), math.inf).amin(-1, keepdim=True)
            winner = torch.where(scale < 0, lowest, winner)
        else:
            scale = min(scale, far)
        if self.dead is not None:
            winner = winner.masked_fill(self.dead, 0.0)
        return (self.seen - winner).clamp(-far, far) * scale

    def softmax(self, scores: Logits) -> Logits:
        """Softmax over the visible keys; zeros, with zero gradients, on a dead row."""
        scores = self.fill(scores, -math.inf)
        if self.dead is None:
            return torch.softmax(scores, dim=-1)
        return torch.softmax(scores.masked_fill(self.dead, 0.0), dim=-1).masked_fill(self.dead, 0.0)

    def maximum(self) -> Float[Tensor, "*rows 1"]:
        """The largest visible logit (−inf on a dead row), without gradient."""
        return self.fill(self.logits.detach(), -math.inf).amax(-1, keepdim=True)

    def within(self, values: Tensor, limit: float) -> bool:
        """Whether all are seen to lie between −limit and limit; False where looking costs much."""
        if not _may_read(values):
            return False
        low, high = values.detach().aminmax()
        return -limit <= float(low) and float(high) <= limit

    def column(self, value: PerRow, label: str) -> float | Float[Tensor, "... 1"]:
        """A parameter ready to meet the logits: a number, or a tensor with a trailing axis of 1."""
        if not isinstance(value, Tensor):
            return float(value)
        _check_per_row(label, "does", value, self.logits)
        return value.to(self.logits).unsqueeze(-1)


def prepare(logits: Tensor, mask: Tensor | None = None, positions: Tensor | None = None) -> Rows:
    """Check the inputs, promote the logits and find the invisible keys."""
    for name, value in (("logits", logits), ("mask", mask), ("positions", positions)):
        if not (isinstance(value, Tensor) or (value is None and name != "logits")):
            raise InputError(f"{name} must be a torch tensor; got {type(value).__name__}")
    if logits.ndim == 0:
        raise InputError("logits need at least one axis, the keys; got a single number")
    if not logits.dtype.is_floating_point:
        raise InputError(f"logits must be floating point; got {logits.dtype}")
    if mask is not None and mask.dtype != torch.bool:
        raise InputError(
            f"mask must be boolean, True where a key may be seen; got {mask.dtype} "
            "(add an additive mask to the logits instead)"
        )
    if mask is not None and not _broadcasts(mask.shape, logits.shape):
        shapes = f"{tuple(mask.shape)} does not broadcast to logits of shape {tuple(logits.shape)}"
        raise InputError(f"mask of shape {shapes}")
    if positions is not None:
        _check_per_row("positions", "do", positions, logits)
        if positions.device.type == "cpu" and not bool((positions > 0).all()):
            raise InputError("positions are counted from 1; got one that is not above 0")

    floor = torch.finfo(logits.dtype).min / 2
    promoted = logits if logits.dtype == torch.float64 else logits.float()
    hidden = None if mask is None else ~_own_entries(mask)
    # One cheap read may show that only the mask hides anything.
    if not (_may_read(promoted) and (promoted.numel() == 0 or bool(promoted.amin() > floor))):
        # Not `> floor`: a NaN is visible, so that it reaches the weights and gets noticed.
        below = promoted.detach() <= floor
        hidden = below if hidden is None else hidden | below
    return Rows(promoted, hidden, positions)


def widened(tensor: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """In fp64, where the device has it."""
    return tensor.float() if tensor.device.type == "mps" else tensor.double()


def _may_read(tensor: Tensor) -> bool:
    """Reading one number is cheap on the CPU and a stall elsewhere (or a graph break)."""
    return tensor.device.type == "cpu" and not torch.compiler.is_compiling()


def _broadcasts(shape: torch.Size, target: torch.Size) -> bool:
    """Whether `shape` can be expanded to `target` (and not the other way round)."""
    pairs = zip(reversed(shape), reversed(target), strict=False)
    return len(shape) <= len(target) and all(size in (1, wanted) for size, wanted in pairs)


def _check_per_row(label: str, verb: str, value: Tensor, logits: Tensor) -> None:
    rows = logits.shape[:-1]
    if not _broadcasts(value.shape, rows):
        raise InputError(
            f"{label} of shape {tuple(value.shape)} {verb} not broadcast to the rows "
            f"{tuple(rows)} of logits {tuple(logits.shape)}"
        )


def _own_entries(mask: Tensor) -> Tensor:
    """The mask without the copies that `expand` made of it."""
    for axis, stride in enumerate(mask.stride()):
        if stride == 0 and mask.shape[axis] > 1:
            mask = mask.narrow(axis, 0, 1)
    return mask.reshape(1) if mask.ndim == 0 else mask
