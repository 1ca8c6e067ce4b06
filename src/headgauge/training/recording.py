"""From what was measured on a logged step to its record: the log's line, alarms, cost and notes."""

from pathlib import Path
from time import perf_counter
from typing import Any

from torch import Tensor

from headgauge.errors import InputError, number
from headgauge.models.circuits import InputRows
from headgauge.training.alarms import Alarm, Alarms
from headgauge.training.buffers import Layer, Rows, rank, reduce, rows_of
from headgauge.training.cost import Interval
from headgauge.training.log.writing import LogWriter
from headgauge.training.spectra import found_rows, spectra
from headgauge.training.watching import Watching

_OF_SPECTRA = 0.25  # of the budget


class Recorder:
    """Makes records, and writes them where a folder was named."""

    def __init__(
        self,
        watching: Watching,
        alarms: Alarms,
        every: int,
        spectra_every: int | None,
        budget: float | None,
        out: Path | None,
        settings: dict[str, Any],
    ):
        self._watching, self._alarms, self._out = watching, alarms, out
        parts = (None, None) if budget is None else (1 - _OF_SPECTRA, _OF_SPECTRA)
        most = [None if part is None or budget is None else part * budget for part in parts]
        self.logging = Interval(every, most[0])
        self._spectra = None if spectra_every is None else Interval(spectra_every, most[1])
        self.notes: list[str] = []
        self._said = 0
        self._about = {"every": every, "budget": budget, "settings": settings}
        self._made: dict[str, InputRows] | None = None
        self._next_spectra = 0
        self._clipped: dict[tuple[int, int], float] = {}
        self._log: LogWriter | None = None
        self._cost, self._cost_of_spectra = 0.0, 0.0  # seconds of the last logged step
        self._times = [0.0, 0.0]

    def made_by(self) -> dict[str, InputRows]:
        """Where the model makes its queries and keys; found when it is first asked for."""
        if self._made is None:
            self._made = found_rows(self._watching.model)
        return self._made

    def clip(self, heads: list[dict[str, Any]]) -> None:
        """Heads that were shrunk; until the next record their factors multiply."""
        for each in heads:
            at = each["layer"], each["head"]
            self._clipped[at] = self._clipped.get(at, 1.0) * each["factor"]

    def reduce(self, layers: list[Layer], typical: float) -> None:
        """Put the processes together, so that all of them decide alike; `typical` is a step's
        time."""
        self._times = reduce(layers, [typical, self._cost])

    def record(
        self, step: int, loss: float | Tensor | None, layers: list[Layer]
    ) -> tuple[dict[str, Any], list[Alarm]]:
        """What is known after a logged step, and the alarms that changed; writes its line."""
        share = self._fitted(*self._times)
        heads = rows_of(layers)
        found = self._spectra_of(step)
        changed = self._alarms.look(step, heads)
        shrunk = [
            {"layer": layer, "head": head, "factor": factor}
            for (layer, head), factor in self._clipped.items()
        ]
        made = {"step": step, "loss": None if loss is None else number("loss", loss)}
        made |= {"every": self.logging.every, "cost": share, "heads": heads, "spectra": found}
        made |= {"alarms": [each.as_dict() for each in changed], "clipped": shrunk}
        made |= {"notes": self.notes[self._said :]}
        self._clipped, self._said = {}, len(self.notes)
        if self._out is not None and rank() == 0:
            self._log = self._log or LogWriter(self._out, self._header())
            self._log.write(made)
        return made, changed

    def ended(self, seconds: float) -> None:
        """What the logged step cost in all."""
        self._cost = max(0.0, seconds - self._cost_of_spectra)

    def close(self, finished: bool) -> None:
        if self._log is not None:
            self._log.close(finished)

    def _fitted(self, typical: float, cost: float) -> float | None:
        """Fit the intervals to the budget; the share of all steps' time."""
        shares = []
        for what, interval, paid in (
            ("logging", self.logging, cost),
            ("spectra", self._spectra, self._cost_of_spectra),
        ):
            if interval is None:
                continue
            if paid > 0:
                interval.paid(paid)
            if (said := interval.adapt(typical)) is not None:
                self.notes.append(f"{what} {said}")
            shares.append(interval.share(typical))
        known = [each for each in shares if each is not None]
        return sum(known) if known else None

    def _spectra_of(self, step: int) -> dict[str, Rows] | None:
        """Of the weights, when it is time; the weights are the same in all processes."""
        self._cost_of_spectra = 0.0
        if self._spectra is None or step < self._next_spectra or rank() > 0:
            return None
        begun = perf_counter()
        try:
            heads = self._watching.heads()
            found = spectra(self.made_by(), self._watching.layers, heads)
        except InputError as error:
            self.notes.append(f"no spectra of the weights: {error}")
            self._spectra = None
            return None
        self._cost_of_spectra = perf_counter() - begun
        self._next_spectra = step + self._spectra.every
        return found

    def _header(self) -> dict[str, Any]:
        watching = self._watching
        layers = [
            {"module": name, "heads": watching.shapes[at][0], "kv_heads": watching.shapes[at][1]}
            for at, name in enumerate(watching.layers)
        ]
        lines = {name: line.as_dict() for name, line in self._alarms.lines.items()}
        about = {"model": type(watching.model).__name__, "layers": layers, "alarms": lines}
        return about | self._about
