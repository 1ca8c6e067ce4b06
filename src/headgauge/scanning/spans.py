"""Named parts of the text and classes of tokens: how much of a head's weight goes to each.

    {"system": [0, 120], "document": {"tokens": [30, 400]}, "names": [[5, 9], [40, 44]]}

A range [start, end) counts characters of the text, or tokens where there is no text but ids; of
documents it counts in each. A token belongs to a span if one of its characters does, white space
in front of it left aside.
"""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Int

from headgauge.errors import InputError
from headgauge.measure.head import Head
from headgauge.measure.plan import Plan
from headgauge.measure.requests import Probe, Vectors
from headgauge.measure.settings import UnitSettings
from headgauge.models.token_places import token_classes, tokens_at

CLASSES = "classes"
UNITS = ("characters", "tokens")
Range = tuple[str, int, int]  # one of `UNITS`, or "" for what the input has; start, end
Spans = tuple[tuple[str, tuple[Range, ...]], ...]
# Weights are rounded to multiples of this: their sums, up to 1, are then exact in float64, so that
# the order in which a product adds cannot be seen.
_GRAIN = 2.0**-44


def named_spans(given: str | Path | Mapping[str, Any] | None) -> Spans | None:
    """From a JSON file or a mapping; "classes" names none, and None asks for nothing."""
    if given is None:
        return None
    if given == CLASSES:
        return ()
    where = "spans" if isinstance(given, Mapping) else str(given)
    found = given if isinstance(given, Mapping) else _read(Path(given))
    if not isinstance(found, Mapping) or not found:
        raise InputError(f'{where} must name spans: {{"name": [start, end], …}}')
    return tuple((_name(name), tuple(_ranges(name, value))) for name, value in found.items())


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(
            f"cannot read spans from {path}: {error.strerror}; give a JSON file, or {CLASSES!r}"
        ) from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is no JSON ({error})") from None


def _name(name: Any) -> str:
    if not isinstance(name, str) or not name.strip():
        raise InputError(f"a span needs a name, got {name!r}")
    return name


def _ranges(name: str, value: Any, unit: str = "") -> Iterator[Range]:
    """A pair, several, or {"characters": …} or {"tokens": …} of them."""
    if isinstance(value, Mapping):
        if unit or len(value) != 1 or next(iter(value)) not in UNITS:
            has = ", ".join(map(repr, value)) or "nothing"
            raise InputError(f"span {name!r} needs one of {', '.join(UNITS)}, and has {has}")
        ((unit, value),) = value.items()
        yield from _ranges(name, value, unit)
        return
    listed = isinstance(value, (list, tuple)) and len(value) > 0
    if listed and all(isinstance(each, (list, tuple)) for each in value):
        for each in value:
            yield _range(name, each, unit)
        return
    yield _range(name, value, unit)


def _range(name: str, pair: Any, unit: str) -> Range:
    if (
        not isinstance(pair, (list, tuple))
        or len(pair) != 2
        or any(type(each) is not int for each in pair)
    ):
        raise InputError(f"span {name!r} must be [start, end] in whole numbers, got {pair!r}")
    start, end = pair
    if not 0 <= start < end:
        raise InputError(
            f"span {name!r} from {start} to {end}: it must start at 0 or later and end behind that"
        )
    return unit, start, end


@dataclass(frozen=True, eq=False)
class Marked:
    """A window's tokens, which of them are in each span, and the ids of each class."""

    ids: Int[np.ndarray, "tokens"]
    spans: dict[str, Bool[np.ndarray, "tokens"]]
    classes: dict[str, tuple[int, ...]]

    def named(self, keys: Int[np.ndarray, "keys"]) -> dict[tuple[str, str], np.ndarray]:
        """By kind and name which keys belong, of the spans and classes that occur.

        A decoder that reads the window behind its start token has every token later.
        """
        count = len(keys)
        moved = (each for each in range(count) if (keys[each:] == self.ids[: count - each]).all())
        later = np.zeros(next(moved, count), dtype=bool)
        found = {
            ("span", name): np.concatenate([later, mask])[:count]
            for name, mask in self.spans.items()
        }
        found |= {("class", name): np.isin(keys, ids) for name, ids in self.classes.items()}
        return {name: mask for name, mask in found.items() if mask.any()}


def marked_windows(plan: Plan, spans: Spans) -> tuple[dict[int, Marked], list[str]]:
    """The windows with what is in them, by number, and what to say of spans that none reaches."""
    reading, classes = plan.reading, token_classes(plan.loaded)
    masks = {name: _masks(plan, name, ranges) for name, ranges in spans}
    before = np.zeros(reading.before, dtype=bool)
    found = {}
    for unit in plan.units:
        if unit.key.length == plan.settings.length:
            row, first = (0, unit.start) if reading.running else (unit.key.window, 0)
            stop = first + len(unit.ids) - reading.before
            own = {
                name: np.concatenate([before, rows[row][first:stop]])
                for name, rows in masks.items()
            }
            found[unit.key.window] = Marked(np.array(unit.ids), own, classes)
    there = {name for each in found.values() for name, mask in each.spans.items() if mask.any()}
    lines = [f"span {name!r} has no token in any window" for name in masks if name not in there]
    if not spans and not any(each.named(each.ids) for each in found.values()):
        lines.append("token classes: the windows have no special tokens and no placeholders")
    return found, lines


def _masks(plan: Plan, name: str, ranges: tuple[Range, ...]) -> list[Bool[np.ndarray, "tokens"]]:
    """Of every row of what was read, which of its own tokens are in a span."""
    reading = plan.reading
    counts = [len(row) - (0 if reading.running else reading.before) for row in reading.rows]
    masks = [np.zeros(count, dtype=bool) for count in counts]
    usual = "characters" if reading.texts else "tokens"
    by_unit: dict[str, list[tuple[int, int]]] = {}
    for unit, start, end in ranges:
        unit = unit or usual
        if unit not in (usual, "tokens"):
            raise InputError(
                f"span {name!r} counts characters, and what is read are token ids: give "
                '{"tokens": [start, end]}'
            )
        size = max(counts if unit == "tokens" else map(len, reading.texts))
        if end > size:
            several = "" if len(counts) == 1 else f"the longest of {len(counts)} documents in "
            raise InputError(
                f"span {name!r} from {start} to {end} is outside the text: {several}"
                f"{reading.text.name} has {size} {unit}"
            )
        by_unit.setdefault(unit, []).append((start, end))
    for start, end in by_unit.get("tokens", ()):
        for mask in masks:
            mask[start:end] = True
    if "characters" in by_unit:
        for mask, text in zip(masks, reading.texts, strict=True):
            mask |= tokens_at(plan.loaded, text, by_unit["characters"])
    return masks


def probe(marked: Marked, settings: UnitSettings) -> Probe:
    """The weight on every span and class of a window."""
    return Probe("spans", "spans", (), partial(_masses, marked, settings))


def _masses(
    marked: Marked, settings: UnitSettings, head: Head, vectors: Vectors
) -> list[dict[str, Any]]:
    """Σ α over the keys of each span, over the rows that see one of them; `uniform` is what it
    would be if every visible key had the same weight."""
    named = marked.named(head.sampler.key_ids.numpy())
    if not named:
        return []
    inside = torch.from_numpy(np.stack(list(named.values()), axis=1)).double()
    masses, shares = [], []
    for block in head.call.blocks(settings.rows_at_once(head.call.keys), heads=[head.head]):
        visible, own = block.visible.cpu().double(), inside[: block.reach]
        weights = (block.weights.cpu().double() / _GRAIN).round_()
        masses.append((weights @ own) * _GRAIN)
        shares.append((visible @ own) / visible.sum(-1, keepdim=True).clamp_(min=1))
    mass, share = torch.cat(masses).numpy(), torch.cat(shares).numpy()
    found = []
    for place, (kind, name) in enumerate(named):
        seen = share[:, place] > 0
        rows = int(seen.sum())
        means = (math.fsum(each[seen, place]) / rows if rows else None for each in (mass, share))
        sizes = {"span": name, "kind": kind, "tokens": int(inside[:, place].sum()), "rows": rows}
        found.append(head.where | sizes | dict(zip(("mass", "uniform"), means, strict=True)))
    return found
