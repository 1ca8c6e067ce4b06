"""From what a caller gives (a model, a text or tokens, choices) to the units of a run."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from torch import nn

from headgauge import models
from headgauge.errors import InputError
from headgauge.measure.bos_check import other_reading
from headgauge.measure.fitting import fit
from headgauge.measure.reading import Reading, Seen, TextFacts, Tokens, look_at, read
from headgauge.measure.settings import UnitSettings
from headgauge.measure.unit import Source, Unit
from headgauge.runs import UnitKey
from headgauge.threads import begin

Model = str | Path | nn.Module | models.LoadedModel | models.ModelSource


@dataclass(frozen=True, eq=False)
class Plan:
    """A run before it runs."""

    source: Source
    loaded: models.LoadedModel
    text: TextFacts
    settings: UnitSettings
    units: tuple[Unit, ...]
    edges: models.Edges
    notes: tuple[str, ...] = ()  # what became of defaults and documents

    @property
    def identity(self) -> dict[str, Any]:
        """What two runs must share to be the same run."""
        known: dict[str, Any] = {"model": model_identity(self.loaded), "text": self.text.identity}
        known |= self.settings.as_dict()
        if self.edges.notes:
            # File and tokenizer disagree. Before the file was asked, such a run read other tokens:
            # its units are not this one's.
            known["bos_token"] = self.edges.bos.id if self.edges.bos.put else None
        return known


def make_plan(source: Source, tokens: Tokens | Seen, settings: UnitSettings) -> Plan:
    """Read what can be read without a model, load it, and make plan and defaults fit both."""
    seen = look_at(tokens)
    loaded = source.open()
    check_layers(loaded, settings)
    reading = read(loaded, seen, settings.bos)
    fitting, notes = fit(settings, loaded, [reading])
    return plan_of(source, reading, fitting, notes)


def plan_of(
    source: Source, reading: Reading, settings: UnitSettings, notes: Sequence[str] = ()
) -> Plan:
    """The units of what was read, with settings that fit it."""
    loaded = source.open()
    windows, said = reading.windows(settings)
    for window, (_, ids) in enumerate(windows):
        models.check_ids(loaded, ids, window)
    units = tuple(
        Unit(UnitKey(window, length), start, tuple(ids[:length].tolist()))
        for length in sorted(settings.lengths)
        for window, (start, ids) in enumerate(windows)
    )
    if reading.compared:
        first = len(units) - settings.windows  # the first window, at the main length
        other = other_reading(loaded, reading.edges.bos, units[first].ids)
        units = (*units[:first], replace(units[first], other=other), *units[first + 1 :])
    notes = (*notes, *reading.notes, *said)
    return Plan(source, loaded, reading.text, settings, units, reading.edges, notes)


def source_of(
    model: Model,
    tokenizer: Any,
    dtype: str | None,
    device: str | None,
    revision: str | None = None,
) -> Source:
    """A source for whatever names or is a model."""
    begin()
    if isinstance(model, models.ModelSource):
        return model
    if isinstance(model, (str, Path)):
        return models.ModelSource(str(model), dtype, device or "cpu", revision)
    if dtype is not None or device is not None:
        raise InputError("a model in memory has its dtype and device: set them on the model itself")
    if revision is not None:
        raise InputError("a revision is for models of the hub, and this one is in memory")
    if isinstance(model, models.LoadedModel):
        return models.MemorySource(model)
    return models.MemorySource(models.wrap(model, tokenizer))


def model_identity(loaded: models.LoadedModel) -> dict[str, Any]:
    """Which model, by its weights, not by where they lay."""
    loose: Any = loaded.model
    weight = next(loose.parameters())
    return {
        "name": Path(loaded.name).name if Path(loaded.name).is_absolute() else loaded.name,
        "fingerprint": models.fingerprint(loose),
        "quantisation": loaded.quantisation,
        "dtype": str(weight.dtype).removeprefix("torch."),
        "device": weight.device.type,
        "attention": str(loose.config._attn_implementation),
    } | ({} if loaded.revision is None else {"revision": loaded.revision})


def check_layers(loaded: models.LoadedModel, settings: UnitSettings) -> None:
    """Refuse layers and heads that the model does not have."""
    layers, heads = len(models.attention_modules(loaded.model)), loaded.facts.heads
    for what, asked, there in (("layer", settings.layers, layers), ("head", settings.heads, heads)):
        for each in asked or ():
            if not 0 <= each < there:
                raise InputError(f"{loaded.name} has {what}s 0 to {there - 1}, not {each}")
    if not layers:
        raise InputError(f"{loaded.name} has no attention module that could be measured")
