"""From what a caller gives (a model, a text or tokens, choices) to the units of a run."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor, nn

from headgauge import models
from headgauge.diagnostics.bos_check import other_reading
from headgauge.diagnostics.settings import UnitSettings
from headgauge.diagnostics.unit import Source, Unit
from headgauge.errors import InputError
from headgauge.models.windows import cut
from headgauge.results import UnitKey
from headgauge.threads import begin

Model = str | Path | nn.Module | models.LoadedModel | models.ModelSource
Tokens = str | Path | models.SourceText | Tensor | Sequence[int] | None


@dataclass(frozen=True, eq=False)
class TextFacts:
    """What a run read: enough to find it again, without the place it lay at on this machine."""

    name: str
    sha256: str
    origin: str
    why: str
    tokens: int


@dataclass(frozen=True, eq=False)
class Plan:
    """A run before it runs."""

    source: Source
    loaded: models.LoadedModel
    text: TextFacts
    settings: UnitSettings
    units: tuple[Unit, ...]
    edges: models.Edges

    @property
    def identity(self) -> dict[str, Any]:
        """What two runs must share to be the same run."""
        text = {"name": self.text.name, "sha256": self.text.sha256}
        known = {"model": model_identity(self.loaded), "text": text} | self.settings.as_dict()
        if self.edges.notes:
            # File and tokenizer disagree. Before the file was asked, such a run read other tokens:
            # its units are not this one's.
            known["bos_token"] = self.edges.bos.id if self.edges.bos.put else None
        return known


def make_plan(source: Source, tokens: Tokens, settings: UnitSettings) -> Plan:
    """Load the model, read and cut the text, and check the choices against both."""
    loaded = source.open()
    _check_layers(loaded, settings)
    named = tokens is None or isinstance(tokens, (str, Path, models.SourceText))
    edges = models.edges(loaded, cast(models.Bos, settings.bos) if named else None)
    text, windows = _windows(loaded, tokens, settings)
    models.check_ids(loaded, windows.ids)
    units = tuple(
        Unit(UnitKey(window, length), start, tuple(ids[:length].tolist()))
        for length in sorted(settings.lengths)
        for window, (start, ids) in enumerate(zip(windows.starts, windows.ids, strict=True))
    )
    if named:
        first = len(units) - settings.windows  # the first window, at the main length
        other = other_reading(loaded, edges.bos, units[first].ids)
        units = (*units[:first], replace(units[first], other=other), *units[first + 1 :])
    return Plan(source, loaded, text, settings, units, edges)


def source_of(model: Model, tokenizer: Any, dtype: str | None, device: str | None) -> Source:
    """A source for whatever names or is a model."""
    begin()
    if isinstance(model, models.ModelSource):
        return model
    if isinstance(model, (str, Path)):
        return models.ModelSource(str(model), dtype, device or "cpu")
    if dtype is not None or device is not None:
        raise InputError("a model in memory has its dtype and device: set them on the model itself")
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
    }


def _windows(
    loaded: models.LoadedModel, tokens: Tokens, settings: UnitSettings
) -> tuple[TextFacts, models.Windows]:
    if tokens is None or isinstance(tokens, (str, Path, models.SourceText)):
        text = tokens if isinstance(tokens, models.SourceText) else models.read_text(tokens)
        windows = models.cut_windows(
            loaded,
            text,
            settings.length,
            settings.windows,
            settings.offset,
            cast(models.Bos, settings.bos),
        )
        origin = text.origin if not Path(text.origin).is_absolute() else "a file on this machine"
        return TextFacts(text.name, text.sha256, origin, text.why, windows.text_tokens), windows
    ids = _token_rows(tokens)
    digest = hashlib.sha256(ids.numpy().tobytes()).hexdigest()
    context = loaded.facts.context_length
    if context is not None and settings.length > context:
        raise InputError(
            f"a window of {settings.length} tokens is longer than the context of {loaded.name}: "
            f"at most {context}"
        )
    if ids.ndim == 2 and ids.shape[1] == settings.length:
        count = min(settings.windows, len(ids))
        starts = tuple(range(0, count * settings.length, settings.length))
        windows = models.Windows(ids[:count], starts, ids.numel(), False)
    else:
        flat = ids.reshape(-1)
        windows = cut(flat, settings.length, settings.windows, settings.offset, name="the sequence")
    return TextFacts("tokens", digest, "given as token ids", "asked for", ids.numel()), windows


def _token_rows(tokens: Tensor | Sequence[int]) -> Tensor:
    ids = torch.as_tensor(tokens).detach().cpu()
    if ids.is_floating_point() or ids.ndim not in (1, 2) or ids.numel() == 0:
        raise InputError(
            "tokens must be whole numbers of shape (length,) or (windows, length), got "
            f"{ids.dtype} of shape {tuple(ids.shape)}"
        )
    return ids.long().contiguous()


def _check_layers(loaded: models.LoadedModel, settings: UnitSettings) -> None:
    layers, heads = len(models.attention_modules(loaded.model)), loaded.facts.heads
    for what, asked, there in (("layer", settings.layers, layers), ("head", settings.heads, heads)):
        for each in asked or ():
            if not 0 <= each < there:
                raise InputError(f"{loaded.name} has {what}s 0 to {there - 1}, not {each}")
    if not layers:
        raise InputError(f"{loaded.name} has no attention module that could be measured")
