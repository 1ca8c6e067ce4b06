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
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import torch
from torch import Tensor, nn

from headgauge.models.layer_trace import LayerTrace, ModuleRun, trace_layers

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


def layer_norms(model: nn.Module, inputs: Mapping[str, Tensor]) -> list[LayerNorms]:
    """One for each run of a layer, in order; a dozen tokens are enough, a shared layer has many."""
    found: list[LayerNorms] = []
    trace_layers(model, inputs, lambda trace: found.append(_layer(trace)))
    return found


def recognise(layers: Sequence[str | None]) -> Recognised:
    """The model's scheme from those of its layers."""
    if not layers:
        return Recognised(None, "no layers were seen")
    blocks = [(name, len(list(block))) for name, block in groupby(layers)]
    if len(blocks) == 1:
        name = blocks[0][0]
        scheme = None if name == "other" else name
        return Recognised(scheme, f"All {len(layers)} layers have {_WORDS[name]}.")
    told = "; ".join(f"{where} {_WORDS[name]}" for name, where in _places(blocks))
    mixed = [name for name, _ in blocks] == ["post_ln", "pre_ln"]
    return Recognised("mix_ln" if mixed else None, f"Layers {told}.")


def is_norm(module: nn.Module) -> bool:
    """Whether a module normalises: by its kind, or by the name of its class."""
    return isinstance(module, (nn.LayerNorm, nn.RMSNorm)) or "Norm" in type(module).__name__


def _places(blocks: Sequence[tuple[str | None, int]]) -> Iterator[tuple[str | None, str]]:
    start = 0
    for name, count in blocks:
        yield name, f"{start} to {start + count - 1} have" if count > 1 else f"{start} has"
        start += count


def _layer(trace: LayerTrace) -> LayerNorms:
    stream = trace.entering
    norms = [run for run in trace.runs if is_norm(run.module) and run.given is not None]
    before = [run for run in norms if not run.after and torch.equal(_given(run), stream)]
    scheme, added, reader = _between(trace, bool(before))
    if reader is None and before:
        reader = before[0]
    part, factor = added or (None, 1.0)
    centres = reader is not None and _centres(before[0] if before else reader)
    return LayerNorms(trace.layer, trace.attention or "", scheme, part, factor, centres)


Added = tuple[str, float]


def _between(trace: LayerTrace, normed: bool) -> tuple[str | None, Added | None, ModuleRun | None]:
    """Scheme, what is added, and the norm that told, from what runs after the attention."""
    # A softmax outside the interface is seen when its module ends, so its parts count as well.
    runs = [run for run in trace.runs if run.after or trace.inside(run)]
    for place, run in enumerate(runs):
        if not run.after or run.given is None or not is_norm(run.module):
            continue
        if normed and torch.equal(run.given, trace.entering):
            return *_side_by_side(trace, runs), run
        added = _summand(run.given, trace.entering, runs[:place])
        if added is not None:
            ends = "post_ln" if _ends_with_norm(trace) else None
            return "pre_ln" if normed else ends, added, run
        if _made_by(run.given, runs[:place]):
            return "peri_ln" if normed else "other", _normed_summand(trace, runs, place), run
        if not trace.inside(run):  # a norm inside the attention may see anything
            return None, None, run
    return (*_side_by_side(trace, runs), None) if normed else (None, None, None)


def _side_by_side(trace: LayerTrace, runs: Sequence[ModuleRun]) -> tuple[str | None, Added | None]:
    """Attention and MLP both read the stream: the result is the stream and what both made."""
    for place, run in enumerate(runs):
        if run.made is not None:
            both = trace.entering + run.made
            if _summand(trace.left, both, runs[place + 1 :]) is not None:
                return "pre_ln", (run.name, 1.0)
    return None, None


def _normed_summand(trace: LayerTrace, runs: Sequence[ModuleRun], place: int) -> Added | None:
    """The norm on what attention makes, with the factor under which its output is added."""
    for run in runs[place + 1 :]:
        if run.given is not None:
            added = _summand(run.given, trace.entering, [runs[place]])
            if added is not None:
                return added
    return None


def _ends_with_norm(trace: LayerTrace) -> bool:
    return _made_by(trace.left, [run for run in trace.runs if is_norm(run.module)])


def _made_by(found: Tensor, runs: Sequence[ModuleRun]) -> bool:
    return any(run.made is not None and torch.equal(run.made, found) for run in runs)


def _summand(total: Tensor, stream: Tensor, runs: Sequence[ModuleRun]) -> Added | None:
    """The first run whose output, times a number, is what `total` has more than the stream."""
    for run in runs:
        if run.made is not None:
            factor = _factor(total, stream, run.made)
            if factor is not None:
                return run.name, factor
    return None


def _factor(total: Tensor, stream: Tensor, part: Tensor) -> float | None:
    """c if total = stream + c·part as far as the rounding of the sum lets it be told."""
    if torch.equal(stream + part, total) and not torch.equal(stream, total):
        return 1.0
    rounding = torch.finfo(total.dtype).eps
    more, part64 = total.double() - stream.double(), part.double()
    # A token whose stream is huge has lost the digits of what was added to it.
    lost = rounding * (stream.double().norm(dim=-1) + total.double().norm(dim=-1))
    clear = more.norm(dim=-1) > 4 * lost
    if not clear.any() or not part64[clear].any():
        return None
    c = float((more[clear] * part64[clear]).sum() / part64[clear].square().sum())
    error = (more - c * part64).norm(dim=-1)
    if bool((error > lost + 4 * rounding * more.norm(dim=-1)).any()):
        return None
    return 1.0 if abs(c - 1) < 4 * rounding else c


def _centres(norm: ModuleRun) -> bool:
    """Whether adding the same number to all components changes nothing."""
    given = _given(norm).double()
    shift = given.std(dim=-1, keepdim=True)
    with torch.no_grad():
        plain, moved = (
            norm.module(each.to(_given(norm).dtype)).double() for each in (given, given + shift)
        )
    return bool((moved - plain).norm() < 0.01 * plain.norm())


def _given(run: ModuleRun) -> Tensor:
    assert run.given is not None
    return run.given
