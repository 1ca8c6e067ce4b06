"""One pass of a model over a window, with everything watched that is measured in it."""

import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass

from torch import Tensor

from headgauge import models
from headgauge.measure.measuring import Measurer, Progress
from headgauge.measure.requests import Task
from headgauge.measure.settings import UnitSettings
from headgauge.models import predicting
from headgauge.runs import UnitKey


@dataclass(eq=False)
class MeasuredPass:
    """What the model returned, what was gathered, and the seconds of the model alone."""

    measurer: Measurer
    output: models.Predicted
    seen: models.Interception
    seconds: float

    @property
    def unseen(self) -> list[str]:
        """Of the layers that were asked for."""
        return list(filter(self.measurer.chosen, self.seen.unseen))

    @property
    def distrusted(self) -> dict[str, float]:
        found = self.seen.distrusted.items()
        return {name: float(error) for name, error in found if self.measurer.chosen(name)}


def measured_pass(
    loaded: models.LoadedModel,
    key: UnitKey,
    inputs: Mapping[str, Tensor],
    settings: UnitSettings,
    task: Task,
    progress: Progress | None = None,
) -> MeasuredPass:
    """The model as it is now: a rule that was put into it is measured like its own."""
    predicting.apart(loaded)  # before anybody watches
    began = time.perf_counter()
    with ExitStack() as stack:
        vectors = stack.enter_context(models.KeyVectors(loaded.model, inputs, task.kinds))
        adds = {} if task.facts is None else task.facts.adds
        adding = [name for name, each in adds.items() if each.factor is not None]
        streams = stack.enter_context(models.StreamLengths(loaded.model, adding))
        measurer = Measurer(loaded, key, inputs, vectors, streams, settings, task, progress)
        seen = stack.enter_context(models.intercept(loaded.model, measurer, measurer))
        output = models.run(loaded, inputs)
    spent = time.perf_counter() - began - sum(measurer.gathered.seconds.values())
    return MeasuredPass(measurer, output, seen, spent)
