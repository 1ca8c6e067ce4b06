"""The loss of a window while some of a model's layers are changed.

    losses = ChangedLosses(loaded, inputs, ids, [(3,), (5, 7)])      # layers that will be changed
    losses.clean
    losses.under((5, 7), swap(model, …))                             # or `ablated`

The layers before the first that is changed would make what they make without the change, so they
hand that on (`models.kept_layers`). In every window it is looked whether the untouched model's loss
comes out the same to the last bit on this way; where it does not, whole passes serve.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress

from jaxtyping import Int
from torch import Tensor

from headgauge import models
from headgauge.models import predicting
from headgauge.models.kept_layers import KeptLayers


class ChangedLosses:
    """`clean` is the loss of the model as it is, nats per token.

    `changes` has the layers, by their place among the attention modules, of every change that will
    be asked for. For passes without gradients.
    """

    def __init__(
        self,
        loaded: models.LoadedModel,
        inputs: Mapping[str, Tensor],
        ids: Int[Tensor, "1 length"],
        changes: Iterable[Sequence[int]],
    ) -> None:
        self._loaded, self._inputs, self._ids = loaded, inputs, ids
        predicting.apart(loaded)  # before anything is kept
        self._kept = KeptLayers(loaded.model)
        with self._kept.keeping():
            self.clean = self._loss()
        modules = models.attention_modules(loaded.model)
        self._places = [self._kept.place(name) for name in modules]
        starts = sorted({self.place(layers) for layers in changes} - {0})
        # The middle has most before and after it, the last most that could be missing.
        looked = {*starts[len(starts) // 2 :][:1], *starts[-1:]}
        self._kept.whole |= not all(map(self._same, looked))

    @property
    def whole(self) -> bool:
        """Whether all layers run again every time."""
        return self._kept.whole

    def place(self, layers: Sequence[int]) -> int:
        """How many layers run before those that are changed."""
        return min(self._places[layer] for layer in layers)

    def under(self, layers: Sequence[int], change: AbstractContextManager[object]) -> float:
        """The loss while a change of these layers is in force."""
        with self._kept.handed_on(self.place(layers)), change:
            return self._loss()

    def _loss(self) -> float:
        output = models.run(self._loaded, self._inputs)
        found = models.next_token_loss(self._loaded, output, self._ids)
        assert found is not None
        return float(found[0])

    def _same(self, place: int) -> bool:
        """Whether the untouched model's loss is the same if the first layers do not run."""
        # Layers that look for what others left behind (shared keys) fail in ways of their own.
        with suppress(Exception), self._kept.handed_on(place):
            return self._loss() == self.clean
        return False
