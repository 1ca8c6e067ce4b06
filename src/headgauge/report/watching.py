"""The present state of a training in a terminal: alarms, trends, and a map of every head.

It takes the width there is. Colours are a help: without them cells are shaded, and an alarm has its
letter either way.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from rich.console import Console, ConsoleOptions, RenderableType
from rich.style import Style
from rich.text import Text

from headgauge.registry.measures import MEASURES, number
from headgauge.registry.training import alarm
from headgauge.training.log.thinning import Raised, Thinned
from headgauge.training.log.words import head

# As the page has them (colours.js).
VIRIDIS = (
    *("440154", "482475", "414487", "355f8d", "2a788e", "21918c"),
    *("22a884", "44bf70", "7ad151", "bddf26", "fde725"),
)
_SHADES, _BARS = "·░▒▓█", "▁▂▃▄▅▆▇█"
_NOTHING, _BROKEN = " ", "!"  # no number; one that is not finite
_NOTES = 3  # that are shown
_CELL = 3  # columns at most
_NARROWEST, _WIDEST = 8, 60  # columns of a line
# What is drawn as a line: title, measure, and which of all heads.
_TRENDS = (
    ("entropy share, smallest", "entropy_share", 0),
    ("entropy share, median", "entropy_share", 1),
    ("largest logit", "max_logit", 2),
    ("separability, median", "separability", 1),
)


@dataclass(frozen=True, eq=False)
class Watched:
    """What a terminal shows of a log; `ago` is in seconds since it last grew."""

    log: Thinned
    measure: str
    ago: float

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        width, colours = options.max_width, console.color_system is not None
        yield from _opening(self.log, self.ago)
        if self.log.lines:
            yield from _alarms(list(self.log.present.values()), sum(self.log.counts.values()))
            yield from _trends(self.log, self.measure, width)
            yield from _map(self.log, self.measure, width, colours)
        for step, note in list(self.log.notes)[-_NOTES:]:
            yield Text(f"step {step}: {note}", style="dim")


def _opening(log: Thinned, ago: float) -> Iterator[Text]:
    if not log.lines:
        yield Text(f"{log.header['model']}: no step was logged yet", style="bold")
        return
    loss = "" if log.loss is None else f", loss {log.loss:.4g}"
    yield Text(f"{log.header['model']}: step {log.steps[-1, 1]}{loss}", style="bold")
    told = [f"{len(log.header['layers'])} layers, {log.heads} heads"]
    told.append(f"logged every {log.every} steps" if log.every > 1 else "every step is logged")
    cost = log.latest("cost")
    if np.isfinite(cost):
        told.append(f"watching takes {100 * cost:.2g} % of the time")
    if log.closed:
        told.append("the log is closed")
    else:
        told.append(f"last written {ago:.0f} s ago")
    if log.cut:
        told.append("its last line is not whole and is left out")
    yield Text("; ".join(told), style="dim")


def _alarms(present: Sequence[Raised], raised: int) -> Iterator[Text]:
    """A line for each kind, the latest first; which heads they are the map shows."""
    if not present:
        yield Text(f"no alarm now ({raised} so far)" if raised else "no alarm", style="green")
    kinds: dict[str, list[Raised]] = {}
    for each in sorted(present, key=lambda each: each.step, reverse=True):
        kinds.setdefault(each.alarm, []).append(each)
    for kind, (last, *others) in kinds.items():
        where, value = (
            head(last.layer, last.head),
            "" if last.value is None else f"{last.value:.3g} ",
        )
        many = f"{len(others) + 1} heads, the last " if others else ""
        told = f"{alarm(kind).letter} {kind} in {many}{where}: {value}at step {last.step}"
        yield Text(told, style="bold red")


def _trends(log: Thinned, measure: str, width: int) -> Iterator[Text]:
    """What it is, how it went, where it is: a line each, or two where there is little room."""
    there = log.measures()
    lines = [("loss", log.of_step("loss").last[:, 0], 2, "")]
    title = MEASURES[measure].title
    asked = (f"{title[0].lower()}{title[1:]}, median", measure, 1)
    known = {name for _, name, _ in _TRENDS}
    for said, name, which in (*_TRENDS, *([] if measure in known else [asked])):
        if name in there:
            lines.append((said, log.over_heads(name)[which], which, name))
    wide = max(len(said) for said, *_ in lines)
    for said, values, which, name in lines:
        seen = values[np.isfinite(values)]
        if not len(seen):
            continue
        latest = seen[-1] if name or log.loss is None else log.loss
        now, low, high = (_told(each, name) for each in (latest, seen.min(), seen.max()))
        ends = f"{now} ({low} to {high})"
        room = width - wide - len(ends) - 2
        if room >= _NARROWEST:
            drawn = sparkline(values, min(room, _WIDEST), which)
            yield Text(f"{said:<{wide}} {drawn} {ends}", no_wrap=True)
        else:
            yield Text(f"{said} {ends}")
            yield Text(sparkline(values, min(width, _WIDEST), which), no_wrap=True)


def _told(value: float, name: str) -> str:
    return number(value, name) if name else f"{value:.4g}"


def sparkline(values: np.ndarray, width: int, which: int = 1) -> str:
    """A line of so many letters. Where several numbers share one, their smallest (0), last (1) or
    largest (2) stands; one that is not finite is never lost."""
    seen = values[np.isfinite(values)]
    low, high = (seen.min(), seen.max()) if len(seen) else (0.0, 1.0)
    letters = []
    for part in np.array_split(values, max(min(width, len(values)), 1)):
        known = part[np.isfinite(part)]
        if np.isinf(part).any():
            letters.append(_BROKEN)
        elif not len(known):
            letters.append(_NOTHING)
        else:
            value = (known.min(), known[-1], known.max())[which]
            share = (value - low) / (high - low) if high > low else 0.5
            letters.append(_BARS[min(int(share * len(_BARS)), len(_BARS) - 1)])
    return "".join(letters)


def _map(log: Thinned, measure: str, width: int, colours: bool) -> Iterator[Text]:
    """Layers down, heads across; heads that have no room stand in a block below."""
    entry, now = MEASURES[measure], log.now(measure)
    yield Text()
    yield Text(f"{entry.title} ({entry.unit}), layer ↓ head →", style="bold")
    if np.isnan(now).all():
        yield Text("not logged", style="dim")
        return
    low, high = _ends(log, measure)
    letters: dict[tuple[int | None, int | None], str] = {}
    for each in sorted(log.present.values(), key=lambda each: each.alarm):
        at = each.layer, each.head
        letters[at] = letters.get(at, "") + alarm(each.alarm).letter
    most = max(layer["heads"] for layer in log.header["layers"])
    label = len(str(len(log.header["layers"]) - 1)) + 1
    cell = max(1, min(_CELL, (width - label) // most))
    across = max(1, (width - label) // cell)
    value_of = dict(zip(log.places(), now.tolist(), strict=True))
    for first in range(0, most, across):
        heads = range(first, min(most, first + across))
        yield _numbers(heads, label, cell)
        for layer in range(len(log.header["layers"])):
            line = Text(f"{layer:>{label - 1}} ")
            for each in heads:
                at = layer, each
                if at in value_of:
                    share = _share(value_of[at], low, high)
                    line.append_text(_cell(share, letters.get(at, ""), cell, colours))
            yield line
    yield _legend(low, high, measure, label, colours)


def _ends(log: Thinned, measure: str) -> tuple[float, float]:
    """The measure's own, else those of nearly all that was seen so far."""
    entry, seen = MEASURES[measure], log.of_heads(measure).last
    low, high = (
        np.percentile(seen[np.isfinite(seen)], [2, 98]) if np.isfinite(seen).any() else (0, 1)
    )
    low = entry.low if entry.low is not None else float(low)
    high = entry.high if entry.high is not None else float(high)
    return low, high if high > low else low + 1


def _share(value: float, low: float, high: float) -> float | None:
    return min(max((value - low) / (high - low), 0.0), 1.0) if np.isfinite(value) else None


def _numbers(heads: range, label: int, cell: int) -> Text:
    """The heads' numbers, as many as there is room for."""
    every = -(-(len(str(heads[-1])) + 1) // cell)
    line = ""
    for place in range(0, len(heads), every):
        told = f"{line:<{place * cell}}{heads[place]}"
        line = told if len(told) <= len(heads) * cell else line
    return Text(" " * label + line, style="dim", no_wrap=True)


def _cell(share: float | None, letter: str, cell: int, colours: bool) -> Text:
    if share is None:
        return Text(f"{letter or '×':<{cell}}"[:cell], style="bold red" if letter else "dim")
    if not colours:
        shade = _SHADES[min(int(share * len(_SHADES)), len(_SHADES) - 1)]
        return Text((letter + shade * cell)[:cell])
    colour = VIRIDIS[round(share * (len(VIRIDIS) - 1))]
    ink = "black" if share > 0.55 else "white"
    return Text(f"{letter:<{cell}}"[:cell], style=Style(bgcolor=f"#{colour}", color=ink, bold=True))


def _legend(low: float, high: float, measure: str, label: int, colours: bool) -> Text:
    line = Text(" " * label)
    line.append(f"{number(low, measure)} ", style="dim")
    for share in np.linspace(0, 1, len(_SHADES)):
        line.append_text(_cell(float(share), "", 2, colours))
    line.append(f" {number(high, measure)}, × no finite number", style="dim")
    return line
