"""Things held against each other head by head, drawn: maps of differences, head against head, lines
over a series.

What is compared, runs or rules, is a `Compared`: the sides by name, and plain tables. Nothing here
asks where they come from.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import polars as pl

from headgauge.registry.entry import BLUE, GREY, ORANGE, Look
from headgauge.registry.measures import MEASURES
from headgauge.registry.names import UNCHANGED, head_name, mark, rules
from headgauge.report.figure import Axis, Figure, HeatMap, Mark, Panel, Sentence, Series
from headgauge.report.head_grid import HeadGrid, cells, head_grid
from headgauge.report.head_maps import OVERVIEW, heat_map, map_figure, mark_map
from headgauge.runs.schema import HEAD

SERIES = ("entropy_share", "sink_weight", "separability")
_ROW = 0.15  # inches, of a list
_LONGEST = 12  # letters of a side's name beside an axis
_ARROWS = (Sentence("Arrows at a colour bar: differences past the 2nd or 98th percentile."),)


@dataclass(frozen=True, eq=False)
class Compared:
    """The sides in their order, and what is known of their heads.

    `values` has a row per head, `measure` and `side` with its `value`; `differences` the
    `difference` of a `side` from the one it is held `against` with its `error`, of the pairs that
    have one; `marks` the `name` of each verdict and role (`kind`) of a head on each side.
    """

    what: str  # a side is called: run, rule
    sides: tuple[str, ...]
    values: pl.DataFrame
    differences: pl.DataFrame
    marks: pl.DataFrame
    run: str  # the line at a figure's foot

    def measures(self) -> list[str]:
        """Those that at least two sides have a number of, in the registry's order."""
        seen = self.values.drop_nulls("value").group_by("measure").agg(pl.col("side").n_unique())
        there = set(seen.filter(pl.col("side") > 1)["measure"])
        return [*(name for name in MEASURES if name in there), *sorted(there - MEASURES.keys())]

    def apart(self, measure: str, side: str, against: str) -> pl.DataFrame:
        """One row per head: its `value` on each of two sides, the `difference` and its `error`,
        where the pair has one."""
        both = [
            self.values.filter(measure=measure, side=name).select(*HEAD, "value")
            for name in (side, against)
        ]
        known = self.differences.filter(measure=measure, side=side, against=against)
        joined = both[0].join(both[1], on=HEAD, how="left", suffix="_before", maintain_order="left")
        found = joined.join(
            known.select(*HEAD, "difference", "error"), on=HEAD, how="left", maintain_order="left"
        )
        plain = pl.col("value") - pl.col("value_before")
        return found.with_columns(pl.coalesce("difference", plain).alias("difference"))

    def marked(self, kind: str, side: str) -> dict[tuple[int, int, str, int], list[str]]:
        """By head its verdicts, or its role, on a side."""
        found: dict[tuple[int, int, str, int], list[str]] = {}
        for *head, name in self.marks.filter(kind=kind, side=side).select(*HEAD, "name").rows():
            layer, occurrence, module, number = head
            found.setdefault((layer, occurrence, module, number), []).append(name)
        return found


def comparison_figures(compared: Compared, moves: pl.DataFrame) -> dict[str, Callable[[], Figure]]:
    """By name what describes each figure, the last side against the first; `moves` as in
    `series_figure`."""
    pair = compared.sides[-1], compared.sides[0]
    made: dict[str, Callable[[], Figure]] = {
        "differences": partial(differences_figure, compared, *pair),
        "heads": partial(heads_figure, compared, *pair),
    }
    if len(compared.sides) > 2:
        made["series"] = partial(series_figure, compared, moves)
    for name in compared.measures():
        made[name] = partial(measure_figure, compared, name, *pair)
    return made


def differences_figure(compared: Compared, side: str, against: str) -> Figure:
    """The most telling measures side by side, then verdicts gained and lost, and other roles."""
    grid = head_grid(compared.values)
    panels = [
        _map(compared, grid, name, side, against, MEASURES[name].title)
        for name in OVERVIEW
        if name in compared.measures()
    ]
    for title, one, other in (
        ("Verdicts gained", side, against),
        ("Verdicts lost", against, side),
    ):
        panels.append(mark_map(grid, _only_in(compared, grid, one, other), title))
    title = f"What differs in {len(grid.places)} heads: {side} − {against}"
    made = map_figure("differences", title, grid, panels, compared.run, box=(10.0, 5.6))
    return replace(made, caption=_ARROWS)


def measure_figure(compared: Compared, measure: str, side: str, against: str) -> Figure:
    """One measure: what it is on each side, and the difference."""
    grid, title = head_grid(compared.values), _title(measure)
    unit = MEASURES[measure].unit if measure in MEASURES else ""
    known = compared.apart(measure, side, against)
    panels = [
        heat_map(grid, name, values=cells(grid, known, column), measure=measure, unit=unit)
        for name, column in ((against, "value_before"), (side, "value"))
    ]
    panels.append(_map(compared, grid, measure, side, against, f"{side} − {against}"))
    made = map_figure(measure, title, grid, panels, compared.run, box=(9.0, 5.0))
    return replace(made, caption=_ARROWS)


def _map(
    compared: Compared, grid: HeadGrid, measure: str, side: str, against: str, title: str
) -> HeatMap:
    values = cells(grid, compared.apart(measure, side, against), "difference")
    return heat_map(grid, title, values=values, measure=measure, difference=True)


def _only_in(compared: Compared, grid: HeadGrid, one: str, other: str) -> pl.DataFrame:
    """The verdicts that heads have on one side and not on the other; healthy is none."""
    here, there = compared.marked("verdict", one), compared.marked("verdict", other)
    rows = []
    for head in grid.places:
        known = [*there.get(head, []), "healthy"]
        new = [name for name in here.get(head, []) if name not in known]
        rows += [(*head, name) for name in new or [UNCHANGED]]
    return pl.DataFrame(rows, schema=[*HEAD, "verdict"], orient="row")


def heads_figure(compared: Compared, side: str, against: str) -> Figure:
    """A point for each head: its number on one side against that on the other."""
    panels = []
    for name in (each for each in OVERVIEW if each in compared.measures()):
        known = compared.apart(name, side, against).drop_nulls(("value", "value_before"))
        x, y = known["value_before"].to_list(), known["value"].to_list()
        names = [head_name(*row) for row in known.select("layer", "occurrence", "head").rows()]
        ends = [min([*x, *y], default=0.0), max([*x, *y], default=1.0)]
        same = Series("same", "no difference", Look(GREY, "dashed"), ends, ends)
        dots = Series("heads", "a head", Look(BLUE, "none", "dot"), x, y, facts={"head": names})
        axes = Axis(f"in {against}", against), Axis(f"in {side}", side)
        panels.append(Panel(_title(name), *axes, (same, dots), equal=True))
    title = f"Every head in {side} against {against}"
    caption = (Sentence("Off the dashed line the two differ."),)
    return Figure(
        "heads", title, tuple(panels), 3, caption=caption, run=compared.run, panel_height=1.9
    )


def beyond_figure(measures: pl.DataFrame, run: str) -> Figure:
    """How many heads differ by more than two errors, measure by measure, beside what chance gives.

    `measures` has `measure`, `heads`, `beyond` and `by_chance`; those without a spread are left
    out."""
    rows = measures.filter(pl.col("by_chance") > 0).to_dicts()
    places = list(range(len(rows)))
    share = [row["beyond"] / row["heads"] for row in rows]
    chance = [row["by_chance"] / row["heads"] for row in rows]
    series = (
        Series(
            "beyond", "differ by more than 2 errors", Look(BLUE, "none", "circle"), share, places
        ),
        Series("chance", "would by chance", Look(ORANGE, "none", "diamond"), chance, places),
    )
    ticks = tuple((place, _title(row["measure"])) for place, row in enumerate(rows))
    y = Axis("", low=len(rows) - 0.5, high=-0.5, ticks=ticks)
    x = Axis("share of heads", low=-0.02, high=1.02)
    panel = Panel("", x, y, series, empty="one window has no spread")
    title = "Heads that differ by more than two standard errors"
    high = _ROW * max(len(rows), 6)
    return Figure("beyond", title, (panel,), run=run, width=5.0, panel_height=high)


def series_figure(compared: Compared, moves: pl.DataFrame) -> Figure:
    """Lines over the sides in their order: heads per verdict and role, and how far the loss and the
    most telling measures are from the first side.

    `moves` has the `difference` of each `measure` of a `side` from the first, with its `error`."""
    panels = [_move_panel(compared, moves, "loss")] * ("loss" in moves["measure"])
    panels += [_count_panel(compared, "verdict", "Heads per verdict")]
    panels += [_count_panel(compared, "role", "Heads per role")]
    told = [name for name in SERIES if name in moves["measure"]]
    panels += [_move_panel(compared, moves, name) for name in told]
    said = (
        f"Of loss and measures the difference from {compared.sides[0]}, of measures its mean over "
        "heads; bands are two standard errors over windows on either side."
    )
    return Figure(
        "series",
        f"From {compared.what} to {compared.what}",
        tuple(panels),
        min(3, len(panels)),
        caption=(Sentence(said), *_numbered(compared)),
        run=compared.run,
        width=8.4,
    )


def _move_panel(compared: Compared, moves: pl.DataFrame, measure: str) -> Panel:
    own = moves.filter(measure=measure)
    known = {
        side: (apart, error)
        for side, apart, error in own.select("side", "difference", "error").rows()
    }
    known[compared.sides[0]] = 0.0, 0.0
    found = [known.get(side, (None, None)) for side in compared.sides]
    y = [apart for apart, _ in found]
    low, high = (
        [None if None in both else both[0] + sign * both[1] for both in found] for sign in (-2, 2)
    )
    line = Series(measure, "", Look(BLUE, "solid", "circle"), _x(compared), y, low, high)
    unit = "nats per token" if measure == "loss" else "difference of the mean"
    zero = Mark("y", (0.0,))
    title = "Loss" if measure == "loss" else _title(measure)
    return Panel(title, _side_axis(compared), Axis(unit, "difference"), (line,), (zero,))


def head_template(compared: Compared) -> Figure:
    """A measure of one head over the sides; names stand for the columns that a page has."""
    look = Look(BLUE, "solid", "circle")
    line = Series("value", "", look, "sides", "value", low="low", high="high")
    panel = Panel("", _side_axis(compared), Axis("", "value"), (line,))
    said = (Sentence("Band: one standard error over windows."), *_numbered(compared))
    return Figure("head-series", f"Over the {compared.what}s", (panel,), caption=said)


def _count_panel(compared: Compared, kind: str, title: str) -> Panel:
    """A line for each verdict or role that some head has on some side."""
    counts = compared.marks.filter(kind=kind).group_by("side", "name").len()
    known = {(side, name): count for side, name, count in counts.rows()}
    names = sorted({name for _, name in known}, key=lambda name: -max(
        known.get((side, name), 0) for side in compared.sides
    ))  # fmt: skip
    looks = rules(names)  # lines and markers that tell them apart beside their colours
    series = tuple(
        Series(name, name, _look(name, looks[name].look), _x(compared),
               [known.get((side, name), 0) for side in compared.sides])
        for name in names
    )  # fmt: skip
    return Panel(title, _side_axis(compared), Axis("heads", "heads", low=0.0), series)


def _look(name: str, look: Look) -> Look:
    own = mark(name).look.colour
    pale = {"#F4F4F4", "#BDBDBD"}  # drawn as lines they would be lost
    return Look(GREY if own in pale else own, look.line, look.marker)


def _x(compared: Compared) -> list[int]:
    return list(range(len(compared.sides)))


def _side_axis(compared: Compared) -> Axis:
    short = max(map(len, compared.sides)) <= _LONGEST and len(compared.sides) <= 4
    names = compared.sides if short else tuple(str(each + 1) for each in _x(compared))
    return Axis(compared.what, compared.what, ticks=tuple(zip(_x(compared), names, strict=True)))


def _numbered(compared: Compared) -> tuple[Sentence, ...]:
    """Which number is which, where an axis has no room for names."""
    ticks = _side_axis(compared).ticks or ()
    if [name for _, name in ticks] == list(compared.sides):
        return ()
    told = ", ".join(f"{place + 1} = {name}" for place, name in enumerate(compared.sides))
    return (Sentence(f"{compared.what.capitalize()}s: {told}."),)


def _title(measure: str) -> str:
    return MEASURES[measure].title if measure in MEASURES else measure
