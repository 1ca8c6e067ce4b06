"""The rows of one head under one rule, a block at a time: what its columns are made of.

Under a softmax of c·z the measures of its sharpness and sensitivity follow from those of a softmax:
1/Λ(c·z) and |c| times the norm. Other rules have a Jacobian of their own, whose norm costs more: it
is taken on some of the rows. Sharpness they have none, because it compares logits with a
temperature.
"""

from dataclasses import dataclass, field

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from headgauge import engine, models
from headgauge.measure.requests import RowRequest, spread_rows
from headgauge.measure.roles import Surroundings
from headgauge.normalizers.scaled_softmax import ScaledSoftmax

OF_ROWS = ("entropy", "effective_n", "sink_weight", "max_logit", "jacobian_norm", "sharpness")
JACOBIAN_ROWS = 64  # of a head, evenly spread


@dataclass(eq=False)
class JudgedRows:
    """What was gathered so far for one request."""

    request: RowRequest
    around: Surroundings | None
    softmax: bool = True  # whether the rule is one, of logits times a factor
    _parts: list[dict[str, np.ndarray]] = field(default_factory=list)
    _looks: list[engine.Looks] = field(default_factory=list)
    _visible: list[np.ndarray] = field(default_factory=list)
    _outputs: list[Tensor] = field(default_factory=list)
    _norms: list[np.ndarray] = field(default_factory=list)

    def measure(self, block: models.RowBlock) -> None:
        """Add the rows of a block, which has the rule's weights."""
        placed, seen, weights = self.request.placed, block.visible, block.weights
        self._visible.append(block.counts.cpu().numpy())
        logits, size = block.logits, None
        if placed is not None:
            rule = placed.at(block.call.layer, block.head)
            if isinstance(block.call, models.AttentionCall):
                rule = rule.in_heads_of(block.call.query.shape[-1])
            self.softmax = isinstance(rule, ScaledSoftmax)
            if isinstance(rule, ScaledSoftmax):
                n = seen.sum(-1).clamp(min=1).to(logits.dtype)
                factor = torch.as_tensor(rule.factor(n, n)).to(logits).expand(n.shape)
                logits, size = logits * factor[:, None], factor.abs().cpu().double().numpy()
            else:
                logits = None
                some = spread_rows(block.start, block.stop, block.call.queries, JACOBIAN_ROWS)
                picked = torch.from_numpy(some)
                norms = rule.spectral_norm(block.logits[picked], seen[picked])
                alive = self._visible[-1][some] > 0
                self._norms.append(norms.cpu().double().numpy()[alive])
        found = vars(engine.row_measures(weights, seen, logits, block.raw))
        if size is not None:
            found = found | {"jacobian_norm": found["jacobian_norm"] * size}
        self._parts.append(found)
        if self.request.on_logits and block.value is not None:
            # Double over rows × keys costs little on the CPU alone.
            exact = torch.float64 if weights.device.type == "cpu" else weights.dtype
            self._outputs.append(weights.to(exact) @ block.value.to(exact))

    def look(self, block: models.RowBlock) -> None:
        """Where the rows of a block look."""
        assert self.around is not None
        self._looks.append(self.around.looks(block))

    @property
    def visible(self) -> np.ndarray:
        """Keys that each row sees."""
        return np.concatenate(self._visible)

    @property
    def alive(self) -> np.ndarray:
        return self.visible > 0

    @property
    def outputs(self) -> Float[Tensor, "queries dim"] | None:
        """What the head would put out; None where the model's own output is that."""
        return torch.cat(self._outputs) if self._outputs else None

    def rows(self, name: str) -> np.ndarray:
        """A measure of every row."""
        return np.concatenate([part[name] for part in self._parts])

    def jacobian_norms(self) -> np.ndarray:
        """Of the rows it was taken on, those that see a key."""
        if self.softmax:
            return self.rows("jacobian_norm")[self.alive]
        return np.concatenate(self._norms)

    def columns(self, head: int) -> dict[str, float | None]:
        """What the head does, from its rows that see a key."""
        assert self.around is not None
        return self.around.columns(head, self._looks, self.alive, self.outputs)
