"""The monitor of a training: what its attention heads do, on some steps, inside the forward pass.

    with headgauge.Monitor(model, every=50, out="logs/mine") as monitor:
        for batch in batches:
            loss = model(**batch).loss
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            monitor.step(loss)

It changes nothing of the training, but where it is asked to (`clip`). What is measured stands in
`training.attention`, which alarms there are in `training.alarms`.
"""

import warnings
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Shaped
from torch import Tensor

from headgauge.engine.attention_checks import check_attention, check_values, mask_for
from headgauge.errors import InputError
from headgauge.training.alarms import Alarm, Alarms, Line, OnAlarm
from headgauge.training.asked import check_numbers, folder_of
from headgauge.training.attention import TOP_N, Call, apart, drawn, largest_logits, measured
from headgauge.training.buffers import Layer, Tally, rank, reduce_peaks
from headgauge.training.clipping import Clipper, QKClip
from headgauge.training.cost import Clock
from headgauge.training.recording import Recorder
from headgauge.training.summary import image, scalars
from headgauge.training.watching import Watching, device_of

Loss = float | Tensor | Callable[[], float | None] | None


class Monitor:
    """Watches the attention heads of a model while it is trained.

    On the first and on every `every`-th step all rows of the first micro-batch are measured, and
    `rows` of them closer; once in `spectra_every` steps the weights alone (None: never). Should
    that take more than `budget` of the time of all steps, it logs less often and says so (None:
    never less). `out` is the folder of the log; None: none is written. `alarms` has other lines
    than `training.ALARMS`, by name; `on_alarm` is called with each that is raised or cleared, one
    function for all or one for each name. `clip` is a `QKClip`, the one thing that changes weights.
    Processes that train together (DDP) each have a monitor and share what they see; the first one
    writes the log.

    `latest` is the record of the last logged step, `steps` the number of the last step.
    """

    def __init__(
        self,
        model: Any,
        every: int = 50,
        budget: float | None = 0.02,
        out: str | Path | None = None,
        *,
        rows: int = 4,
        spectra_every: int | None = 2000,
        alarms: Mapping[str, Line | tuple[float, float] | None] | None = None,
        on_alarm: OnAlarm | Mapping[str, OnAlarm] | None = None,
        clip: QKClip | None = None,
        seed: int = 0,
    ):
        check_numbers(every, budget, rows, spectra_every, clip, seed)
        settings = {"rows": rows, "spectra_every": spectra_every, "seed": seed, "top_n": TOP_N}
        settings["clip"] = None if clip is None else clip.as_dict()
        self._alarms = Alarms(alarms, on_alarm)
        self._rows, self._seed = rows, seed
        self.latest: dict[str, Any] | None = None
        self.steps, self.closed, self._due = 0, False, 0
        self._watching = Watching(model, self._seen)
        device = device_of(self._watching.model)
        self._clock, self._tally = Clock(device), Tally(device)
        try:
            common = every, spectra_every, budget, folder_of(out), settings
            self._recorder = Recorder(self._watching, self._alarms, *common)
            self._clipper = None
            if clip is not None:
                layers = self._watching.layers
                self._clipper = Clipper(clip, self._recorder.made_by(), layers)
        except BaseException:
            self._watching.release()
            raise
        self._arm()

    @property
    def every(self) -> int:
        """Every how many steps it logs now."""
        return self._recorder.logging.every

    @property
    def notes(self) -> list[str]:
        """What it had to say so far: that it logs less often, what it could not measure."""
        return self._recorder.notes

    @property
    def alarms(self) -> list[Alarm]:
        """Those that are raised now."""
        return list(self._alarms.raised.values())

    def begin_at(self, steps: int) -> None:
        """Of a training that is taken up again: how many steps it has behind it."""
        self.steps = int(steps)

    def step(self, loss: Loss = None, step: int | None = None) -> bool:
        """After each step of the optimiser, with its loss (or a function that gives it, which is
        asked on logged steps alone), and its number where that is not the next: 1 is the first.
        Returns whether it was logged."""
        if self.closed:
            raise InputError("this monitor is closed")
        self.steps = self.steps + 1 if step is None else int(step)
        logged = self._logs and bool(self._watching.counted)
        changed: list[Alarm] = []
        if self._logs and not logged:
            self._unseen()
        elif logged:
            with self._clock.ours(), apart():
                changed = self._record(loss)
        elif self._clips:
            with apart():
                layers = self._tally.all(self._watching.heads())
                reduce_peaks(layers)
                self._clip(layers)
        own = self._clock.step()
        if logged:
            self._recorder.ended(own)
        self._arm()
        self._alarms.tell(changed)
        return logged

    def see(
        self,
        query: Float[Tensor, "batch heads queries dim"],
        key: Float[Tensor, "batch kv_heads keys dim"],
        value: Float[Tensor, "batch kv_heads keys value_dim"] | None = None,
        *,
        layer: int | str,
        scaling: float | None = None,
        mask: Shaped[Tensor, "..."] | None = None,
        causal: bool = False,
        softcap: float | None = None,
        sinks: Float[Tensor, "heads"] | None = None,
        output: Float[Tensor, "batch heads queries value_dim"] | None = None,
    ) -> None:
        """An attention call of a model that is not transformers', from inside its forward: `mask`,
        `causal` and `scaling` as torch's `scaled_dot_product_attention` has them, `output` what
        that returned; without value or output there is nothing that follows from them. Outside
        logged steps it does nothing."""
        name, watching = str(layer), self._watching
        if self.closed or not watching.model.training or not watching.asks(name):
            return
        check_attention(query, key, scaling, softcap, sinks)
        check_values(query, key, value, output)
        fields: dict[str, Any] = {"query": query, "key": key, "value": value}
        fields["mask"] = None if mask is None else mask_for(mask, query, key)
        fields |= {"causal": causal, "softcap": softcap, "sinks": sinks}
        fields["scaling"] = query.shape[-1] ** -0.5 if scaling is None else float(scaling)
        watching.take(name, Call.of(fields, None if output is None else output.transpose(1, 2)))

    def scalars(self) -> dict[str, float]:
        """A few numbers of the last logged step, by keys as loggers have them."""
        return scalars(self.latest, len(self._alarms.raised))

    def image(self, measure: str = "entropy_share") -> np.ndarray:
        """A measure as a picture, layer × head: an array of (height, width, 3) bytes."""
        return image(self.latest, measure)

    def close(self, finished: bool = True) -> None:
        """Everything is as it was; the log is ended, or left to be taken up again."""
        if not self.closed:
            self.closed = True
            self._watching.release()
            self._recorder.close(finished)

    def __enter__(self) -> "Monitor":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: object, trace: TracebackType | None
    ) -> None:
        self.close(finished=kind is None)

    def _arm(self) -> None:
        """For the next step."""
        upcoming, clipper = self.steps + 1, self._clipper
        self._logs = upcoming >= self._due
        self._clips = clipper is not None and upcoming % clipper.action.every == 0
        self._tally.clear()
        self._watching.arm(self._logs, self._clips)

    def _seen(self, layer: int, call: Call, first: bool) -> None:
        """An attention call, inside the forward pass; the first of its layer is for the log."""
        tally = self._tally.layer(layer, call.heads[0])
        if first:
            with self._clock.ours(), apart():
                found = measured(call)
                tally.add(found)
                seeds = self._seed, self.steps, layer, rank()
                self._tally.keep(tally, drawn(call, self._rows, _generator(*seeds)))
                top = found["max_logit"]
        else:
            with apart():
                top = largest_logits(call)
        if self._clips:
            tally.add_peaks(top)

    def _record(self, loss: Loss) -> list[Alarm]:
        """After a logged step; the alarms that changed."""
        layers = self._tally.all(self._watching.heads())
        self._recorder.reduce(layers, self._clock.typical)
        self._clip(layers)
        told = loss() if callable(loss) else loss
        self.latest, changed = self._recorder.record(self.steps, told, layers)
        self._due = (self.steps // self.every + 1) * self.every
        return changed

    def _clip(self, layers: list[Layer]) -> None:
        if self._clips and self._clipper is not None:
            self._recorder.clip(self._clipper.clip([each.peaks for each in layers]))

    def _unseen(self) -> None:
        """A step that was to be logged, and nothing was seen."""
        name = type(self._watching.model).__name__
        if self._watching.other_rules:
            why = "its heads follow other rules than softmax"
        elif self._watching.modules:
            why = "is it the model that is trained, in train() mode and not compiled?"
        else:
            why = "call monitor.see(query, key, value, layer=…) where it attends"
        said = f"no attention of {name} was seen in step {self.steps}: {why}"
        if self.latest is None:
            raise InputError(said)
        if said not in self.notes:
            self.notes.append(said)
            warnings.warn(said, stacklevel=3)


def _generator(*numbers: int) -> torch.Generator:
    """Of its own, so that torch's stays where it is; the same for the same numbers."""
    return torch.Generator().manual_seed(zlib.crc32(repr(numbers).encode()))
