"""A figure as plain data: panels, axes, series, bands, marks, notes.

It is described once. `report.drawing` draws it with matplotlib for files, the page's chart kit
draws the same description, as JSON, in a browser. Neither knows any figure by name.

A figure with switches holds what is shown at every setting of them: each element says in `at` where
it is shown ({"text": "War and Peace", "rule": "model"}; nothing: everywhere). A file shows the
switches' first settings. A switch of the same name in several figures is one switch on the page.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from headgauge.registry.entry import Look

At = Mapping[str, str]
Values = Sequence[float | int | None] | str  # of a template: the name of a column
PLAIN = Look("#777777", "dashed")


@dataclass(frozen=True)
class Switch:
    """A choice the reader has; `options` are (value, words), the first is shown first.

    `shared`: it stands above all figures and not in each that has it.
    """

    name: str
    title: str
    options: tuple[tuple[str, str], ...]
    shared: bool = False
    side_by_side: bool = False  # a file shows all its settings, beside one another


@dataclass(frozen=True)
class Axis:
    """`label` beside the axis, `short` in front of a number that is read off.

    With `low` above `high` it runs the other way: the first row of a list is on top.
    """

    label: str
    short: str = ""
    log: bool = False
    can_log: bool = False  # the reader may switch
    linear: float | None = None  # up to about here from zero; logarithmic beyond, on both sides
    low: float | None = None
    high: float | None = None
    floor: float | None = None  # what is smaller stands here, on a logarithmic axis
    ticks: tuple[tuple[float | int, str], ...] | None = None  # None: as the renderer thinks fit


@dataclass(frozen=True)
class Series:
    """A line, its points, or both. Lists are as long as `x`; what is None is not there.

    Series of one name are switched on and off together; the first with a label is the legend's.
    """

    name: str  # one name in several panels is one entry of the legend
    label: str  # "" has no entry in the legend
    look: Look
    x: Values
    y: Values
    low: Values | None = None  # a band; where there are markers and no line, a bar at each
    high: Values | None = None
    boxes: Mapping[str, Values] | None = None  # minimum, q25, median, q75, maximum
    hollow: Sequence[bool] | None = None  # markers that are only an outline
    apart: Sequence[bool] | None = None  # pale points off the line
    names: Sequence[str | None] | None = None  # written beside points (tokens)
    facts: Mapping[str, Sequence[Any]] = field(default_factory=dict)  # more that a reader may ask
    filled_to: str | None = None  # the area up to the series of this name is shaded
    shown: bool = True  # hidden until the reader asks, and not in a file
    in_file: bool = True  # False: for the page only
    at: At = field(default_factory=dict)


@dataclass(frozen=True)
class Mark:
    """Something that is no measurement: a level, a band between two levels, a circle, words."""

    kind: Literal["x", "y", "x band", "y band", "circle", "words"]
    values: tuple[float, ...]  # level; low, high; x, y, radius; x, y
    label: str = ""
    look: Look = PLAIN
    in_legend: bool = False
    at: At = field(default_factory=dict)


@dataclass(frozen=True)
class Panel:
    """A chart of series and marks. `empty` is said where it has none."""

    title: str
    x: Axis
    y: Axis
    series: tuple[Series, ...] = ()
    marks: tuple[Mark, ...] = ()
    equal: bool = False  # one scale for both axes
    empty: str = "nothing was measured"
    at: At = field(default_factory=dict)


@dataclass(frozen=True)
class HeatMap:
    """Cells by row and column. `values` has a list per row, None where there is no number;
    `absent` names the cells that cannot have one. `verdicts` (or roles) stand in place of values:
    a stripe each, with its colour and letter from the registry. `blocks` are rows that belong
    together: (name, first, after the last)."""

    title: str
    x: Axis
    y: Axis
    columns: tuple[str, ...]
    rows: tuple[str, ...]
    values: Sequence[Values]
    measure: str  # its name in the registry, for limits and colours
    absent: Sequence[tuple[int, int]] = ()
    verdicts: Sequence[Sequence[Sequence[str]]] | None = None
    blocks: tuple[tuple[str, int, int], ...] = ()
    unit: str = ""  # under the title: what the number is
    contour: float | None = None  # a line between what is above and below
    difference: bool = False  # of the measure: colours part at zero
    at: At = field(default_factory=dict)

    def stripes(self) -> Iterator[tuple[str, int, float, float]]:
        """Each verdict of each head: its row, and between which columns it stands."""
        for row, line in enumerate(self.verdicts or ()):
            for column, names in enumerate(line):
                for turn, name in enumerate(names):
                    yield name, row, column + turn / len(names), column + (turn + 1) / len(names)


@dataclass(frozen=True)
class Sentence:
    """A part of the caption."""

    text: str
    at: At = field(default_factory=dict)


@dataclass(frozen=True)
class Figure:
    """`columns` panels side by side; `caption` below them, the run's own line after it."""

    name: str  # of the file, and its anchor on the page
    title: str
    panels: tuple[Panel | HeatMap, ...]
    columns: int = 1
    switches: tuple[Switch, ...] = ()
    caption: tuple[Sentence, ...] = ()
    run: str = ""  # model, text, rows: what it stands on
    width: float = 7.0  # inches
    panel_height: float = 1.75
    one_scale: bool = False  # the heat maps share their colours, and one bar tells them


def setting(figure: Figure) -> dict[str, str]:
    """What a file shows: the first option of every switch; where nothing was measured for all of
    them, the closest that was. A switch counts more than all after it."""
    switches = [each for each in figure.switches if each.options and not each.side_by_side]
    now = {switch.name: switch.options[0][0] for switch in switches}
    held = [
        {**panel.at, **element.at}
        for panel in figure.panels
        for element in (panel.series if isinstance(panel, Panel) else (panel,))
    ]
    most = max(map(len, held), default=0)
    full = [at for at in held if len(at) == most]
    if not full or any(shown(at, now) for at in full):
        return now
    return now | max(full, key=lambda at: [at.get(name, now[name]) == now[name] for name in now])


def words(figure: Figure) -> list[str]:
    """What a file says of itself: the sentences of its setting, and the run's own line."""
    now = setting(figure)
    said = [each.text for each in figure.caption if shown(each.at, now)]
    return [*filter(None, said), figure.run]


def shown(at: At, now: At) -> bool:
    return all(now.get(name, value) == value for name, value in at.items())
