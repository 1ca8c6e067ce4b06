"""From what a caller says to settings that fit: a default gives way, what was asked for does not.

`scan_settings` is where the command line and Python meet: a size that is None is a default, and
free. `fit` makes what is free fit the model's context and the text, and says so; what was asked for
and does not fit is refused.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from headgauge.errors import InputError, whole
from headgauge.measure.reading import Reading
from headgauge.measure.settings import LENGTH, TOP_NS, ScanSettings, UnitSettings
from headgauge.models import LoadedModel
from headgauge.models.windows import check_context

_NUMBERS = ("offset", "seed", "threads")

Settings = TypeVar("Settings", bound=UnitSettings)


def scan_settings(
    *,
    length: Any = None,
    shorter: Any = None,
    target: int | None = None,
    windows: Any = None,
    top_n: Any = None,
    layers: Any = None,
    heads: Any = None,
    **choices: Any,
) -> ScanSettings:
    """From what a caller says, which is checked here; a size that is None is a default, and free.

    `length` may be several; `shorter` are lengths beside the longest, `target` a context that their
    trend is to be continued to: without `shorter` it wants L/8, L/4 and L/2.
    """
    sizes = {"length": length, "shorter": shorter, "windows": windows, "top_ns": top_n}
    known: dict[str, Any] = {
        "lengths": _all_lengths(length, shorter, target),
        "windows": None if windows is None else whole("windows", windows),
        "top_ns": None if top_n is None else tuple(sorted(set(wholes("top-N", top_n)))),
        "layers": None if layers is None else wholes("layers", layers),
        "heads": None if heads is None else wholes("heads", heads),
    }
    free = frozenset(name for name, value in sizes.items() if value is None)
    if shorter is not None and max(known["lengths"]) in shorter:
        free -= {"length"}
    choices |= {name: whole(name, choices[name]) for name in _NUMBERS if name in choices}
    known = {name: value for name, value in known.items() if value is not None}
    return ScanSettings(free=free, **known, **choices)


def wholes(what: str, given: Any) -> tuple[int, ...]:
    """Whole numbers, one or several, in the order given."""
    several = list(given) if isinstance(given, Iterable) else [given]
    if not several:
        raise InputError(f"{what} needs at least one number, got none")
    return tuple(whole(what, each) for each in several)


def _all_lengths(length: Any, shorter: Any, target: int | None) -> tuple[int, ...]:
    """The main length and the shorter ones that a trend needs."""
    asked = () if length is None else wholes("length", length)
    below = () if shorter is None else wholes("lengths", shorter)
    longest = max(asked, default=max(LENGTH, *below, 0))
    if asked and max(below, default=0) > longest:
        raise InputError(f"--lengths must not exceed --length {longest}, got {max(below)}")
    if target is not None and target <= longest:
        if asked or target // 2 < max(below, default=2):
            raise InputError(f"--target-length {target} must exceed --length {longest}")
        longest = target // 2
    if target is None or below:
        return tuple(sorted({*below, *asked, longest}))
    return tuple(sorted({*(max(2, longest // part) for part in (8, 4, 2)), *asked, longest}))


def fit(
    settings: Settings, loaded: LoadedModel, readings: Sequence[Reading]
) -> tuple[Settings, list[str]]:
    """The settings as they fit the model and all that is read, and a line for each change."""
    notes: list[str] = []
    if "length" in settings.free:
        settings = _fit_length(settings, loaded, readings, notes)
    check_context(loaded, settings.length)
    if "windows" in settings.free:
        usual = [each.usual_windows or settings.windows for each in readings]
        settings = replace(settings, windows=min(usual))
        for each in readings:
            room = max(1, each.room(settings))
            if room < settings.windows:
                notes.append(f"windows: {room} instead of {settings.windows}, {each.has}")
                settings = replace(settings, windows=room)
    if "top_ns" in settings.free and isinstance(settings, ScanSettings):
        largest = max(settings.top_ns)
        if largest < max(TOP_NS):
            instead = f"up to {largest} instead of {max(TOP_NS)}"
            notes.append(f"N: {instead}, a window has {settings.length} tokens")
    return settings, notes


def _fit_length(
    settings: Settings, loaded: LoadedModel, readings: Sequence[Reading], notes: list[str]
) -> Settings:
    """The longest L that model and texts have room for, up to the usual one."""
    usual = min(each.usual_length or settings.length for each in readings)
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
