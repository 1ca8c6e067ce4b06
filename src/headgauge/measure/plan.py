"""From what a caller gives (a model, a text or tokens, choices) to the units of a run."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import nn

from headgauge import first_use, models, runs
from headgauge.devices import most_exact
from headgauge.errors import InputError
from headgauge.measure.bos_check import other_reading
from headgauge.measure.reading import Reading, Seen, TextFacts, Tokens, look_at, read
from headgauge.measure.requests import Experiment, Task
from headgauge.measure.settings import UnitSettings
from headgauge.measure.unit import Source, Unit
from headgauge.models.windows import check_context
from headgauge.threads import begin

RESEARCH_TYPE = "measurement of a trained model's attention on prose"
Model = str | Path | nn.Module | models.LoadedModel | models.ModelSource
Settings = TypeVar("Settings", bound=UnitSettings)


@dataclass(frozen=True, eq=False)
class Plan:
    """A run before it runs."""

    source: Source
    loaded: models.LoadedModel
    text: TextFacts
    settings: UnitSettings
    experiment: Experiment
    units: tuple[Unit, ...]
    edges: models.Edges
    reading: Reading
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

    def task(self, unit: Unit) -> Task:
        """What is measured in a unit."""
        return self.experiment.task(self.settings, unit.key)


def make_plan(
    source: Source, tokens: Tokens | Seen, settings: UnitSettings, experiment: Experiment
) -> Plan:
    """Read what can be read without a model, load it, and make plan and defaults fit both."""
    seen = look_at(tokens)
    loaded = source.open()
    check_layers(loaded, settings)
    _check_precision(loaded, settings)
    reading = read(loaded, seen, settings.bos)
    fitting, notes = fit(settings, loaded, [reading])
    return plan_of(source, reading, fitting, experiment, [*notes, *experiment.notes(fitting)])


def plan_of(
    source: Source,
    reading: Reading,
    settings: UnitSettings,
    experiment: Experiment,
    notes: Sequence[str] = (),
) -> Plan:
    """The units of what was read, with settings that fit it."""
    loaded = source.open()
    windows, said = reading.windows(settings)
    for window, (_, ids) in enumerate(windows):
        models.check_ids(loaded, ids, window)
    units = tuple(
        Unit(runs.UnitKey(window, length), start, tuple(ids[:length].tolist()))
        for length in sorted(settings.lengths)
        for window, (start, ids) in enumerate(windows)
    )
    if reading.compared:
        first = len(units) - settings.windows  # the first window, at the main length
        other = other_reading(loaded, reading.edges.bos, units[first].ids)
        units = (*units[:first], replace(units[first], other=other), *units[first + 1 :])
    notes = (*notes, *reading.notes, *said)
    read = reading.text, settings, experiment, units, reading.edges, reading
    return Plan(source, loaded, *read, notes)


def fit(
    settings: Settings, loaded: models.LoadedModel, readings: Sequence[Reading]
) -> tuple[Settings, list[str]]:
    """The settings as they fit the model and all that is read, and a line for each change: what is
    free gives way, what was asked for and does not fit is refused."""
    notes: list[str] = []
    if "length" in settings.free:
        settings = _fit_length(settings, loaded, readings, notes)
    check_context(loaded, settings.length)
    if "windows" in settings.free:
        usual = [each.usual[1] or settings.windows for each in readings]
        settings = replace(settings, windows=min(usual))
        for each in readings:
            room = max(1, each.room(settings) // settings.parts)
            if room < settings.windows:
                notes.append(f"windows: {room} instead of {settings.windows}, {each.has}")
                settings = replace(settings, windows=room)
    return settings, notes


def _fit_length(
    settings: Settings, loaded: models.LoadedModel, readings: Sequence[Reading], notes: list[str]
) -> Settings:
    """The longest L that model and texts have room for, up to the usual one."""
    usual = min(each.usual[0] or settings.length for each in readings)
    fewest = min(readings, key=lambda each: each.longest(settings))
    limits = [(fewest.longest(settings), fewest.has)]
    if loaded.facts.context_length is not None:
        limits.append((loaded.facts.context_length, "the model's context"))
    longest, why = min(limits, key=lambda limit: limit[0])
    if longest < 2:
        asked = 1 if "windows" in settings.free else settings.windows
        count = "a window" if asked == 1 else f"{asked} windows"
        raise InputError(f"{why}: too few for {count} of at least 2 tokens")
    if longest < usual:
        notes.append(f"L: {longest} instead of {usual}, {why}")
    return replace(settings, lengths=settings.lengths_up_to(min(longest, usual)))


def describe_plan(plan: Plan) -> runs.Manifest:
    """Everything the manifest can say before the run."""
    settings, loaded, identity = plan.settings, plan.loaded, plan.identity
    known = identity["model"]
    return runs.manifest(
        identity,
        known["device"],
        torch.cuda.get_device_name() if known["device"] == "cuda" else None,
        research_type=RESEARCH_TYPE,
        pseudocode=plan.experiment.pseudocode,
        data=runs.Data(
            name=plan.text.name,
            sha256=plan.text.sha256,
            origin=f"{plan.text.origin} ({plan.text.why})",
            tokens=plan.text.tokens,
        ),
        splits=runs.Splits(
            offset=settings.offset,
            windows=settings.windows,
            lengths=sorted(settings.lengths),
            bos=runs.EdgeToken(**asdict(plan.edges.bos)),
            eos=runs.EdgeToken(**asdict(plan.edges.eos)),
        ),
        model=runs.Model(
            name=known["name"],
            source=loaded.source,
            quantisation=loaded.quantisation,
            sha256=loaded.sha256,
            fingerprint=known["fingerprint"],
            facts=asdict(loaded.facts),
            **({} if loaded.revision is None else {"revision": loaded.revision}),
        ),
        seeds={"samples": settings.seed},
        notes=[note for note in (loaded.note, *plan.edges.notes, *plan.notes) if note],
    )


def source_of(
    model: Model,
    tokenizer: Any,
    dtype: str | None,
    device: str | None,
    revision: str | None = None,
    what: str = "scan",
) -> Source:
    """A source for whatever names or is a model. On the CPU what is then needed of it (`what` of
    `first_use`) begins to be compiled."""
    begin()
    double = what == "scan-float64"
    source = _source_of(model, tokenizer, dtype, device or "auto", revision, double)
    named = isinstance(source, models.ModelSource)
    place = source.device if named else next(source.model.parameters()).device
    if str(place).partition(":")[0] == "cpu":
        first_use.start(what)
    return source


def _source_of(
    model: Model, tokenizer: Any, dtype: str | None, device: str, revision: str | None, double: bool
) -> Source:
    if isinstance(model, models.ModelSource):
        return model
    if isinstance(model, (str, Path)):
        return models.ModelSource(str(model), dtype, device, revision, double)
    if dtype is not None or device != "auto":
        raise InputError("a model in memory has its dtype and device: set them on the model itself")
    if revision is not None:
        raise InputError("a revision is for models of the hub, and this one is in memory")
    return model if isinstance(model, models.LoadedModel) else models.wrap(model, tokenizer)


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


def _check_precision(loaded: models.LoadedModel, settings: UnitSettings) -> None:
    device = next(loaded.model.parameters()).device
    if settings.precision == "float64" and most_exact(device) != torch.float64:
        raise InputError(f"no float64 on {device.type}: measure in float32, or on the CPU")


def check_layers(loaded: models.LoadedModel, settings: UnitSettings) -> None:
    """Refuse layers and heads that the model does not have."""
    layers, heads = len(models.attention_modules(loaded.model)), loaded.facts.heads
    for what, asked, there in (("layer", settings.layers, layers), ("head", settings.heads, heads)):
        for each in asked or ():
            if not 0 <= each < there:
                raise InputError(f"{loaded.name} has {what}s 0 to {there - 1}, not {each}")
