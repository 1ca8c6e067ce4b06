"""What a log says, in sentences."""

import numpy as np

from headgauge.registry import names
from headgauge.registry.training import ALARMS
from headgauge.training.log.thinning import Raised, Thinned

_NAMED = 3  # heads, notes


def head(layer: int | None, number: int | None) -> str:
    """L3H5; an alarm may be a layer's or the whole model's."""
    if layer is None:
        return "the model"
    return f"layer {layer}" if number is None else names.head_name(layer, 0, number)


def caption(log: Thinned) -> str:
    """What was trained and how far it was followed, in a line."""
    layers = log.header["layers"]
    told = f"{log.header['model'] or 'a model'}: {len(layers)} layers, {log.heads} heads"
    if not log.lines:
        return f"{told}; no step was logged"
    first, last = log.steps[0, 0], log.steps[-1, 1]
    return f"{told}; steps {first} to {last}, {log.lines} of them logged"


def stands(log: Thinned) -> list[str]:
    """What the numbers stand on, and what is left out: said before any of them."""
    told = [
        "numbers of a head are over the rows of one micro-batch; separability and the exact "
        "Jacobian norm over rows sampled from it"
    ]
    if log.width > 1:
        told.append(
            f"{log.lines} lines in {log.parts} parts of {log.width}: lines show the smallest and "
            "the largest of each part, the map its last"
        )
    if log.cut:
        told.append(
            "what follows the last whole line (cut off, or still being written) is left out"
        )
    if not log.closed:
        told.append("the log is not closed: its training goes on, or was broken off")
    return told


def finding(log: Thinned) -> str:
    """How the loss went, which alarms there were, which are left."""
    if not log.lines:
        return "No step was logged yet."
    return " ".join(filter(None, (_loss(log), _alarms(log), _clipped(log))))


def spoken_of(log: Thinned) -> str | None:
    """The measure of the alarm that is raised, or was raised last; None without an alarm."""
    raised = [*log.present.values()] or [each for each in log.alarms if each.state == "raised"]
    there = log.measures()
    for each in reversed(raised):
        line = log.header["alarms"].get(each.alarm)
        name = line.get("measure") if isinstance(line, dict) else None
        if name in there:
            return name
    return None


def _loss(log: Thinned) -> str:
    low, _, last = (each[:, 0] for each in log.of_step("loss"))
    seen = np.flatnonzero(~np.isnan(last))
    if not len(seen):
        return "The training told no loss."
    if broken := log.broken():
        first, until = log.steps[broken[0]]
        when = f"at step {first}" if first == until else f"between steps {first} and {until}"
        return f"The loss is not finite, for the first time {when}."
    least = int(np.nanargmin(low))
    return (
        f"The loss went from {last[seen[0]]:.4g} to {last[seen[-1]]:.4g}; its least was "
        f"{low[least]:.4g}, near step {log.steps[least, 1]}."
    )


def _alarms(log: Thinned) -> str:
    if not log.counts:
        return "No alarm was raised."
    told = []
    for name, count in log.counts.most_common():
        first = next(each for each in log.alarms if each.alarm == name and each.state == "raised")
        times = "once" if count == 1 else f"{count} times"
        told.append(
            f"{name} {times}, first at step {first.step} in {head(first.layer, first.head)}"
        )
    left = _listed(list(log.present.values()))
    known = [name for name in log.counts if name in ALARMS]
    done = "; ".join(f"{name}: {ALARMS[name].explanation}" for name in known)
    helps = f" What helps: {done}." if done else ""
    return f"Alarms: {'; '.join(told)}. {left or 'All were cleared.'}{helps}"


def _listed(present: list[Raised]) -> str:
    if not present:
        return ""
    named = [f"{head(each.layer, each.head)} ({each.alarm})" for each in present[:_NAMED]]
    if len(present) > _NAMED:
        named.append(f"{len(present) - _NAMED} more")
    return f"Still raised: {names.listed(named)}."


def _clipped(log: Thinned) -> str:
    factors = log.of_heads("clip_factor").low
    heads = int((~np.isnan(factors)).any(0).sum())
    if not heads:
        return ""
    return f"QK-clip shrank {heads} of {log.heads} heads, at most to {np.nanmin(factors):.3g}."


def spread(log: Thinned, measure: str) -> dict[str, float | None]:
    """The smallest, the median and the largest of the heads now; null where none is finite."""
    now = log.now(measure)
    seen = now[np.isfinite(now)]
    if not len(seen):
        return dict.fromkeys(("minimum", "median", "maximum"))
    return {
        "minimum": float(seen.min()),
        "median": float(np.median(seen)),
        "maximum": float(seen.max()),
    }


def by_layer(log: Thinned, measure: str) -> list[list[float | None]]:
    """A measure now, a list for each layer; null where it was not taken."""
    now = iter(log.now(measure).tolist())
    told = [[next(now) for _ in range(layer["heads"])] for layer in log.header["layers"]]
    return [[None if each != each else each for each in row] for row in told]
