"""Where a number of a head becomes an alarm, and where the alarm ends.

Each alarm has two lines. It is raised when a logged number has crossed the first, and cleared only
when one is back behind the second, so that a number that trembles at a line is told once.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

from headgauge.errors import InputError
from headgauge.training.buffers import Rows


@dataclass(frozen=True)
class Line:
    """An alarm by head: raised beyond `raised`, cleared behind `cleared`; `why` these."""

    measure: str
    raised: float
    cleared: float
    why: str
    by_layer: bool = False  # the number is a share of the median of its layer

    @property
    def above(self) -> bool:
        """Whether large numbers are the alarm."""
        return self.raised >= self.cleared

    def beyond(self, value: float, line: float) -> bool:
        return value > line if self.above else value < line

    def as_dict(self) -> dict[str, Any]:
        side = "above" if self.above else "below"
        said = {"measure": self.measure, "side": side, "raised": self.raised}
        return said | {"cleared": self.cleared, "by_layer": self.by_layer}


ALARMS = {
    "entropy collapse": Line(
        "entropy_share",
        0.02,
        0.05,
        "a head with 2 % of the entropy that its rows could have looks at one key in nearly every "
        "row. No line is published; of 270 heads of a trained model (SmolLM2-135M) 2 are below it, "
        "which look at one key by trade, and all others above 0.1",
    ),
    "logit growth": Line(
        "max_logit",
        100.0,
        80.0,
        "where Kimi K2 clips. A trained model (SmolLM2-135M) has no logit above 19",
    ),
    "saturation": Line(
        "largest_weight",
        0.98,
        0.95,
        "where the largest weight is p the Jacobian's norm is at most 2p(1 − p), at 0.98 less than "
        "a tenth of its limit: hardly a gradient comes back through the softmax. The same 2 heads "
        "of 270 are above it, and no other above 0.9",
    ),
    "dead head": Line(
        "output_norm",
        0.01,
        0.03,
        "a head that puts out a hundredth of what is usual in its layer, be it that it rests on a "
        "key whose value is nothing or that its values are gone; 0.35 is the least in the same 270",
        by_layer=True,
    ),
}


@dataclass(frozen=True)
class Alarm:
    """A head's alarm that was raised or cleared; `value` is the number that did it."""

    alarm: str
    step: int
    layer: int
    head: int
    value: float
    state: str

    def __str__(self) -> str:
        where = f"layer {self.layer}, head {self.head}"
        return f"step {self.step}: {self.alarm} {self.state} in {where} ({self.value:.3g})"

    def as_dict(self) -> dict[str, Any]:
        """As a log has it: its line has the step."""
        said = ("alarm", "layer", "head", "value", "state")
        return {name: getattr(self, name) for name in said}


OnAlarm = Callable[[Alarm], object]


class Alarms:
    """Which heads have which alarm now."""

    def __init__(
        self,
        lines: Mapping[str, Line | tuple[float, float] | None] | None = None,
        on_alarm: OnAlarm | Mapping[str, OnAlarm] | None = None,
    ):
        self.lines = _lines(lines)
        self._callbacks = _callbacks(on_alarm, self.lines)
        self.raised: dict[tuple[str, int, int], Alarm] = {}

    def look(self, step: int, heads: Mapping[str, Rows]) -> list[Alarm]:
        """What changed with the numbers of a logged step."""
        changed = []
        for name, line in self.lines.items():
            for layer, row in enumerate(heads.get(line.measure, [])):
                for head, value in enumerate(_shares(row) if line.by_layer else row):
                    at = name, layer, head
                    if value is None:
                        continue
                    if at not in self.raised and line.beyond(value, line.raised):
                        self.raised[at] = Alarm(name, step, layer, head, value, "raised")
                        changed.append(self.raised[at])
                    elif at in self.raised and not line.beyond(value, line.cleared):
                        del self.raised[at]
                        changed.append(Alarm(name, step, layer, head, value, "cleared"))
        return changed

    def tell(self, changed: list[Alarm]) -> None:
        """Call whoever asked for these."""
        for each in changed:
            if (callback := self._callbacks.get(each.alarm)) is not None:
                callback(each)


def _shares(row: list[float | None]) -> list[float | None]:
    """Of the median of the row; none where that is 0, as of a layer at its start."""
    there = [each for each in row if each is not None]
    middle = median(there) if there else 0.0
    return [None if each is None or not middle > 0 else each / middle for each in row]


def _lines(given: Mapping[str, Any] | None) -> dict[str, Line]:
    """The default lines with others in their place; None for an alarm takes it away."""
    found = dict(ALARMS)
    if given is not None and not isinstance(given, Mapping):
        raise InputError(f"alarms has lines by name, {{name: (raised, cleared)}}, got {given!r}")
    for name, line in (given or {}).items():
        if line is None:
            found.pop(_known(name, ALARMS), None)
        elif isinstance(line, Line):
            found[name] = line
        else:
            raised, cleared = _two(name, line)
            own = ALARMS[_known(name, ALARMS)]
            if (raised >= cleared) != own.above:
                order = "above" if own.above else "below"
                raise InputError(f"{name} is raised {order} where it is cleared, got {line!r}")
            found[name] = replace(own, raised=raised, cleared=cleared, why="as asked")
    return found


def _two(name: str, line: Any) -> tuple[float, float]:
    try:
        raised, cleared = map(float, line)
    except (TypeError, ValueError):
        wanted = "(raised, cleared), a Line, or None for no such alarm"
        raise InputError(f"alarms: {name!r} needs {wanted}, got {line!r}") from None
    return raised, cleared


def _callbacks(given: Any, lines: Mapping[str, Line]) -> dict[str, OnAlarm]:
    if given is None:
        return {}
    found = given if isinstance(given, Mapping) else dict.fromkeys(lines, given)
    for name, each in found.items():
        _known(name, lines)
        if not callable(each):
            raise InputError(f"on_alarm: {name!r} needs a function, got {each!r}")
    return dict(found)


def _known(name: str, lines: Mapping[str, Line]) -> str:
    if name not in lines:
        raise InputError(f"no alarm named {name!r}; there are {', '.join(lines)}")
    return name
