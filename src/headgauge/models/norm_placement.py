"""Where a model's layers have their norms, told from what runs and not from names of classes.

A short pass is traced. In each layer it is asked whether a norm reads the stream before the
attention, and what the next norm after it gets:

    norm before?  the next norm gets                       the layer is
    yes           stream + attention, or the stream alone  "pre_ln"
    yes           what the attention adds                  "peri_ln"
    no            stream + attention; the result is        "post_ln"
                  a norm's as well
    no            what the attention adds                  "other": OLMo 2's; Peri-LN is nearest

"The stream alone", or no further norm, is a layer with attention and MLP side by side. A model
whose first layers are Post-LN and whose others are Pre-LN is "mix_ln". nGPT and LN-Scaling cannot
be recognised so: the one has no norm modules, the other is a Pre-LN whose outputs are scaled.

Then the stream of a whole pass can be read, with what each layer's attention adds:

    layers = layer_norms(model, a_few_tokens)
    read_stream(model, inputs, layers, observer)
    # observer(step): step.entering, step.attention, step.leaving
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import torch
from jaxtyping import Float
from torch import Tensor, nn

from headgauge.errors import InputError
from headgauge.models.layers import LayerRun, ModuleRun, watch_layers
from headgauge.models.structure import stream_layers

_WORDS = {
    "pre_ln": "a norm before the attention and none on what it adds",
    "peri_ln": "a norm before the attention and one on what it adds",
    "post_ln": "no norm before the attention, one on the sum of the stream and what it adds",
    "other": "no norm before the attention, one on what it adds (as in OLMo 2; the nearest scheme "
    "is Peri-LN)",
    None: "norms in an order that is none of the schemes'",
}


@dataclass(frozen=True)
class LayerNorms:
    """A layer, where it has its norms, and where to read what its attention adds.

    `added` names a module inside the layer whose output, times `factor`, is added to the stream;
    None where no such module was found. `centres`: the norm subtracts the mean (LayerNorm).
    """

    layer: str
    attention: str
    scheme: str | None
    added: str | None
    factor: float
    centres: bool


@dataclass(frozen=True)
class Recognised:
    """The scheme of a whole model, None where it is none, and a sentence that says why."""

    scheme: str | None
    evidence: str


@dataclass(frozen=True, eq=False)
class StreamStep:
    """One run of a layer; `place` counts them, and a shared layer's runs as layers of their own.

    What the attention adds is read after its output projection, after a norm on it and with a
    residual multiplier, so that the rest of the layer is `leaving − entering − attention`: the MLP;
    in a decoder that reads an encoder the cross attention too; in Post-LN what the norms take away.
    `leaving` is what the next layer gets and, of the last, what the model's final norm gets.
    """

    place: int
    occurrence: int  # of the same layer, from 0
    norms: LayerNorms
    entering: Float[Tensor, "batch tokens dim"]
    attention: Float[Tensor, "batch tokens dim"] | None  # None where it could not be told
    leaving: Float[Tensor, "batch tokens dim"]


def layer_norms(model: nn.Module, inputs: Mapping[str, Tensor]) -> list[LayerNorms]:
    """One for each run of a layer, in order; a dozen tokens are enough, a shared layer has many."""
    names = [name for name, _ in model.named_modules()]
    inside = {
        layer: [name for name in names if name.startswith(f"{layer}.")]
        for layer in stream_layers(model)
    }
    found: list[LayerNorms] = []
    watch_layers(model, inputs, inside, lambda run: found.append(_norms(run)), attention=True)
    return found


def read_stream(
    model: nn.Module,
    inputs: Mapping[str, Tensor],
    layers: Sequence[LayerNorms],
    observer: Callable[[StreamStep], object],
) -> None:
    """Run the model and call `observer` with each run of a layer, in order."""
    inside: dict[str, set[str]] = {each.layer: set() for each in layers}
    for each in layers:
        inside[each.layer] |= set() if each.added is None else {each.added}
    ran: Counter[str] = Counter()

    def step(run: LayerRun) -> None:
        place = ran.total()
        if place == len(layers):
            raise InputError(
                f"more layers ran than the {place} that were traced: trace the same model"
            )
        norms, attention = layers[place], None
        for part in run.inside:
            if part.name == norms.added and part.made is not None:
                attention = part.made * norms.factor
        occurrence = ran[norms.layer]
        observer(StreamStep(place, occurrence, norms, run.entering, attention, run.leaving))
        ran[norms.layer] += 1

    watch_layers(model, inputs, inside, step)


def recognise(layers: Sequence[str | None]) -> Recognised:
    """The model's scheme from those of its layers."""
    if not layers:
        return Recognised(None, "no layers were seen")
    blocks = [(name, len(list(block))) for name, block in groupby(layers)]
    if len(blocks) == 1:
        name = blocks[0][0]
        scheme = None if name == "other" else name
        return Recognised(scheme, f"All {len(layers)} layers have {_WORDS[name]}.")
    told, start = [], 0
    for name, count in blocks:
        where = f"{start} to {start + count - 1} have" if count > 1 else f"{start} has"
        told.append(f"{where} {_WORDS[name]}")
        start += count
    mixed = [name for name, _ in blocks] == ["post_ln", "pre_ln"]
    return Recognised("mix_ln" if mixed else None, f"Layers {'; '.join(told)}.")


def is_norm(module: nn.Module) -> bool:
    """Whether a module normalises: by its kind, or by the name of its class."""
    return isinstance(module, (nn.LayerNorm, nn.RMSNorm)) or "Norm" in type(module).__name__


def _norms(run: LayerRun) -> LayerNorms:
    before = [
        each
        for each in run.inside
        if is_norm(each.module)
        and not each.after
        and each.given is not None
        and torch.equal(each.given, run.entering)
    ]
    scheme, added, reader = _after_attention(run, bool(before))
    reader = before[0] if before else reader
    part, factor = added or (None, 1.0)
    centres = False
    if reader is not None and reader.given is not None:
        centres = _centres(reader.module, reader.given)
    return LayerNorms(run.layer, run.attention or "", scheme, part, factor, centres)


Added = tuple[str, float]


def _after_attention(
    layer: LayerRun, normed: bool
) -> tuple[str | None, Added | None, ModuleRun | None]:
    """Scheme, what is added, and the norm that told, from what runs after the attention."""

    def within(run: ModuleRun) -> bool:
        return run.name.startswith(f"{layer.attention}.")

    # A softmax outside the interface is seen when its module ends, so its parts count as well.
    runs = [run for run in layer.inside if run.after or within(run)]
    for place, run in enumerate(runs):
        if not run.after or run.given is None or not is_norm(run.module):
            continue
        if normed and torch.equal(run.given, layer.entering):
            return *_side_by_side(layer, runs), run
        added = _summand(run.given, layer.entering, runs[:place])
        if added is not None:
            ends = _made_by(layer.leaving, [each for each in layer.inside if is_norm(each.module)])
            return "pre_ln" if normed else "post_ln" if ends else None, added, run
        if _made_by(run.given, runs[:place]):
            # Its output is added, under a factor that the next reader of the sum tells.
            later = (each.given for each in runs[place + 1 :] if each.given is not None)
            sums = (_summand(given, layer.entering, [run]) for given in later)
            return "peri_ln" if normed else "other", next(filter(None, sums), None), run
        if not within(run):  # a norm inside the attention may see anything
            return None, None, run
    return (*_side_by_side(layer, runs), None) if normed else (None, None, None)


def _side_by_side(layer: LayerRun, runs: Sequence[ModuleRun]) -> tuple[str | None, Added | None]:
    """Attention and MLP both read the stream: the result is the stream and what both made."""
    for place, run in enumerate(runs):
        if run.made is not None:
            both = layer.entering + run.made
            if _summand(layer.leaving, both, runs[place + 1 :]) is not None:
                return "pre_ln", (run.name, 1.0)
    return None, None


def _made_by(found: Tensor, runs: Sequence[ModuleRun]) -> bool:
    return any(run.made is not None and torch.equal(run.made, found) for run in runs)


def _summand(total: Tensor, stream: Tensor, runs: Sequence[ModuleRun]) -> Added | None:
    """The first run whose output, times a number, is what `total` has more than the stream."""
    for run in runs:
        factor = None if run.made is None else _factor(total, stream, run.made)
        if factor is not None:
            return run.name, factor
    return None


def _factor(total: Tensor, stream: Tensor, part: Tensor) -> float | None:
    """c if total = stream + c·part as far as the rounding of the sum lets it be told."""
    if torch.equal(stream + part, total) and not torch.equal(stream, total):
        return 1.0
    rounding = torch.finfo(total.dtype).eps
    # On the CPU, because not every device has float64.
    total, stream, part64 = (each.cpu().double() for each in (total, stream, part))
    more = total - stream
    # A token whose stream is huge has lost the digits of what was added to it.
    lost = rounding * (stream.norm(dim=-1) + total.norm(dim=-1))
    clear = more.norm(dim=-1) > 4 * lost
    if not clear.any() or not part64[clear].any():
        return None
    c = float((more[clear] * part64[clear]).sum() / part64[clear].square().sum())
    error = (more - c * part64).norm(dim=-1)
    if bool((error > lost + 4 * rounding * more.norm(dim=-1)).any()):
        return None
    return 1.0 if abs(c - 1) < 4 * rounding else c


def _centres(norm: nn.Module, given: Tensor) -> bool:
    """Whether adding the same number to all components changes nothing."""
    wide = given.cpu().double()  # on the CPU, because not every device has float64
    moved = (wide + wide.std(dim=-1, keepdim=True)).to(given)
    with torch.no_grad():
        plain, shifted = (norm(each).cpu().double() for each in (given, moved))
    return bool((shifted - plain).norm() < 0.01 * plain.norm())
