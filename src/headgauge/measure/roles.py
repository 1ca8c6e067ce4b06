"""The columns of a head that say what it does, from its rows, its values and what it puts out."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from headgauge import engine, models
from headgauge.models.projections import OutputProjection

_ROWS = tuple(each.name for each in fields(engine.Looks) if each.name != "ahead")
# What is asked of all rows; the others count those that have such a key.
_OF_ALL = {"local_mass", "mean_distance", "collision_entropy", "sink_output_share"}
# What has no meaning where a row sees what comes after it.
_BACKWARD = ("streaming_mass", "duplicate_mass", "induction_mass")


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
    def lengths(self) -> Float[Tensor, "kv_heads keys"] | None:
        """‖v‖ of every key; None where values are unseen."""
        if not isinstance(self.call, models.AttentionCall):
            return None
        return torch.linalg.vector_norm(self.call.value[0].cpu().double(), dim=-1)

    @cached_property
    def products(self) -> Float[Tensor, "heads dim dim"] | None:
        """W_O W_Oᵀ of each head; None where the projection's weights are unseen."""
        if self.projection is None:
            return None
        found = [self.projection.weight(head) for head in range(self.projection.heads)]
        weights = [each for each in found if each is not None]
        if len(weights) < len(found):
            return None
        return torch.stack([each @ each.T for each in weights])

    def looks(self, block: models.RowBlock) -> engine.Looks:
        """Where the rows of a block look."""
        lengths = None if self.lengths is None else self.lengths[block.kv_head]
        given = block.weights, block.visible, block.start
        return engine.looks(*given, self.ids, lengths, self.before)

    def columns(
        self,
        head: int,
        parts: Sequence[engine.Looks],
        alive: np.ndarray,
        made: Float[Tensor, "queries dim"] | None = None,
    ) -> dict[str, float | None]:
        """The columns of a head, from its rows that see a key and what it `made` of them; the
        model's own output where that is None."""
        rows = [np.concatenate([getattr(each, name) for each in parts]) for name in _ROWS]
        of_all = [name in _OF_ALL for name in _ROWS]
        found = dict(zip(_ROWS, _means(np.stack(rows)[:, alive], of_all), strict=True))
        if any(np.nan_to_num(each.ahead).any() for each in parts):
            found |= dict.fromkeys(_BACKWARD)
        if not isinstance(self.call, models.AttentionCall) or self.lengths is None:
            return found
        lengths = self.lengths[self.call.kv_head(head)].numpy()
        middle = float(np.median(lengths))
        found["first_value_ratio"] = float(lengths[0]) / middle if middle > 0 else None
        made = self.call.output[0, :, head].cpu().double() if made is None else made
        outputs = made[torch.from_numpy(alive)]
        # Of the small matrix OᵀO: its trace and its largest eigenvalue.
        squares = torch.linalg.eigvalsh(outputs.T @ outputs).tolist()
        if squares[-1] > 0:
            found["output_stable_rank"] = math.fsum(squares) / squares[-1]
        found["contribution"] = self._contribution(head, outputs, alive)
        return found

    def _contribution(
        self, head: int, outputs: Float[Tensor, "rows dim"], alive: np.ndarray
    ) -> float | None:
        if self.stream is None or self.factor is None or self.products is None:
            return None
        # ‖oW‖² = o(WWᵀ)oᵀ: one small matrix instead of a vector of the stream's width a row.
        squares = ((outputs @ self.products[head]) * outputs).sum(-1).clamp(min=0.0)
        with np.errstate(divide="ignore", invalid="ignore"):  # a stream of zeros
            shares = abs(self.factor) * squares.sqrt().numpy() / self.stream.numpy()[alive]
        return _means(shares[None], [True])[0]


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
