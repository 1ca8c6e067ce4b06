"""The columns of a head that say what it does, from its rows, its values and what it puts out."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Float, Int, Shaped
from torch import Tensor

from headgauge import engine, models
from headgauge.devices import most_exact
from headgauge.models.projections import OutputProjection

ROWS = tuple(each.name for each in fields(engine.Looks) if each.name != "ahead")
# What is asked of all rows; the others count those that have such a key.
OF_ALL = {"local_mass", "mean_distance", "collision_entropy", "sink_output_share"}
# What has no meaning where a row sees what comes after it.
BACKWARD = ("streaming_mass", "duplicate_mass", "induction_mass")


@dataclass(frozen=True, eq=False)
class Surroundings:
    """What the heads of one call stand among.

    `ids` are the tokens of their sequence, None in cross attention; `stream` is ‖x‖ of each query
    and `factor` what the projection's output is multiplied by before it is added to x; None where
    that is not known, or where something else is added.
    """

    call: models.ObservedCall
    ids: Int[Tensor, "tokens"] | None
    projection: OutputProjection | None = None
    stream: Float[Tensor, "queries"] | None = None
    factor: float | None = None

    @cached_property
    def before(self) -> np.ndarray | None:
        return None if self.ids is None else engine.earlier_places(self.ids)

    @cached_property
    def there(self) -> Int[Tensor, "tokens"] | None:
        """The tokens on the device of the call, once for all of its blocks."""
        return None if self.ids is None else self.ids.to(device_of(self.call))

    @cached_property
    def lengths(self) -> Float[Tensor, "kv_heads keys"] | None:
        """‖v‖ of every key, where the values are; None where these are unseen."""
        if not isinstance(self.call, models.AttentionCall):
            return None
        value = self.call.value[0]
        return torch.linalg.vector_norm(value.to(most_exact(value.device)), dim=-1)

    @cached_property
    def first_value_ratios(self) -> list[float | None]:
        """‖v_1‖ beside the median ‖v_j‖ of each KV head."""
        assert self.lengths is not None
        lengths = self.lengths.cpu().double().numpy()
        middles = (float(np.median(each)) for each in lengths)
        first = lengths[:, 0].tolist()
        return [a / b if b > 0 else None for a, b in zip(first, middles, strict=True)]

    @cached_property
    def products(self) -> Float[Tensor, "heads dim dim"] | None:
        """W_O W_Oᵀ of each head; None where the projection's weights are unseen."""
        if self.projection is None:
            return None
        found = [self.projection.weight(head) for head in range(self.projection.heads)]
        weights = [each for each in found if each is not None]
        if len(weights) < len(found):
            return None
        made, device = torch.stack([each @ each.T for each in weights]), device_of(self.call)
        return made.to(device, most_exact(device))

    def looks(self, block: models.RowBlock) -> engine.Looks:
        """Where the rows of a block look."""
        lengths = None if self.lengths is None else self.lengths[block.kv_head]
        given = block.weights, block.visible, block.start
        return engine.looks(*given, self.there, lengths, self.before)

    def columns(
        self,
        head: int,
        parts: Sequence[engine.Looks],
        alive: np.ndarray,
        made: Float[Tensor, "queries dim"] | None = None,
    ) -> dict[str, float | None]:
        """The columns of a head, from its rows that see a key and what it `made` of them; the
        model's own output where that is None."""
        rows = [np.concatenate([getattr(each, name) for each in parts]) for name in ROWS]
        of_all = [name in OF_ALL for name in ROWS]
        some = slice(None) if alive.all() else alive
        found = dict(zip(ROWS, _means(np.stack(rows)[:, some], of_all), strict=True))
        if any(np.nan_to_num(each.ahead).any() for each in parts):
            found |= dict.fromkeys(BACKWARD)
        if not isinstance(self.call, models.AttentionCall) or self.lengths is None:
            return found
        made = self._exact(self.call.output[0, :, head] if made is None else made)
        seen = some if isinstance(some, slice) else torch.from_numpy(some)
        outputs = made[seen if isinstance(seen, slice) else seen.to(made.device)][None]
        found |= self.of_outputs([head], outputs)[0]
        shares = self.shares([head], outputs, seen)
        if shares is not None:
            found["contribution"] = _means(shares, [True])[0]
        return found

    def outputs(
        self, heads: Sequence[int], places: Int[Tensor, "rows"]
    ) -> Float[Tensor, "heads rows dim"] | None:
        """What heads put out at these places; None where it is unseen."""
        if not isinstance(self.call, models.AttentionCall):
            return None
        return self._exact(self.call.output[0, places][:, [*heads]].transpose(0, 1))

    @staticmethod
    def _exact(made: Tensor) -> Tensor:
        return made.to(most_exact(made.device))

    def of_outputs(
        self, heads: Sequence[int], outputs: Float[Tensor, "heads rows dim"]
    ) -> list[dict[str, float | None]]:
        """What is no mean over rows: of heads' values, and of what they put out."""
        found: list[dict[str, float | None]] = []
        # Of the small matrix OᵀO, on the CPU: its trace and its largest eigenvalue.
        squares = torch.linalg.eigvalsh((outputs.mT @ outputs).cpu().double()).tolist()
        for head, own in zip(heads, squares, strict=True):
            found.append({"first_value_ratio": self.first_value_ratios[self.call.kv_head(head)]})
            if own[-1] > 0:
                found[-1]["output_stable_rank"] = math.fsum(own) / own[-1]
        return found

    def shares(
        self,
        heads: Sequence[int],
        outputs: Float[Tensor, "heads rows dim"],
        which: Shaped[Tensor, "picked"] | slice,
    ) -> Float[np.ndarray, "heads rows"] | None:
        """What heads add at some queries beside the length of their stream; None where that is
        not known."""
        if self.stream is None or self.factor is None or self.products is None:
            return None
        # ‖oW‖² = o(WWᵀ)oᵀ: one small matrix instead of a vector of the stream's width a row.
        squares = ((outputs @ self.products[[*heads]]) * outputs).sum(-1).clamp(min=0.0)
        with np.errstate(divide="ignore", invalid="ignore"):  # a stream of zeros
            lengths = squares.sqrt().cpu().double().numpy()
            return abs(self.factor) * lengths / self.stream[which].numpy()


def device_of(call: models.ObservedCall) -> torch.device:
    """Where a call's numbers are."""
    assert isinstance(call, (models.AttentionCall, models.SoftmaxCall))
    return (call.query if isinstance(call, models.AttentionCall) else call.logits).device


def _means(
    values: Float[np.ndarray, "measures rows"], of_all: Sequence[bool]
) -> list[float | None]:
    """Over the rows that have a number; where it is asked of all, None if one has none.

    `cumsum` adds one after the other, whatever lies where in memory: the same bytes in every run.
    """
    there = ~np.isnan(values) | np.array(of_all)[:, None]
    totals = np.cumsum(np.where(there, values, 0.0), axis=1)[:, -1]
    with np.errstate(invalid="ignore"):
        means = totals / there.sum(1)
    return [float(mean) if math.isfinite(mean) else None for mean in means]
