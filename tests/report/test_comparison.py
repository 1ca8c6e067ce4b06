"""What differs, as figures: from plain tables, whatever was compared."""

import polars as pl
import pytest

from headgauge.report.comparison import Compared, beyond_figure, comparison_figures, head_template
from headgauge.report.drawing import draw
from headgauge.report.figure import HeatMap, Panel
from report.conftest import panels

SIDES = ("softmax", "a rule with a long name", "ssmax")
PLACES = [(layer, 0, f"layers.{layer}", head) for layer in range(2) for head in range(3)]
HEAD = ["layer", "occurrence", "module", "head"]


def compared(sides: tuple[str, ...] = SIDES) -> Compared:
    """A head's sink weight is its number and ten times its side; the last pair has errors."""
    values = [
        (*place, measure, side, None if measure == "radius" and turn else number + 10.0 * turn)
        for turn, side in enumerate(sides)
        for number, place in enumerate(PLACES)
        for measure in ("sink_weight", "separability", "radius")
    ]
    frame = pl.DataFrame(values, schema=[*HEAD, "measure", "side", "value"], orient="row")
    differences = frame.filter(side=sides[-1]).select(
        *HEAD, "measure", "side", against=pl.lit(sides[0]), difference="value", error=pl.lit(0.5)
    )
    marks = [
        (*place, side, "verdict", "diffuse" if turn and place[3] == 1 else "healthy")
        for turn, side in enumerate(sides)
        for place in PLACES
    ]
    marks += [(*place, side, "role", "mixed") for side in sides for place in PLACES]
    told = pl.DataFrame(marks, schema=[*HEAD, "side", "kind", "name"], orient="row")
    return Compared("rule", sides, frame, differences, told, "made by hand")


def moves() -> pl.DataFrame:
    rows = [("loss", side, 0.1 * turn, 0.01) for turn, side in enumerate(SIDES)][1:]
    rows += [("sink_weight", side, 10.0 * turn, None) for turn, side in enumerate(SIDES)][1:]
    return pl.DataFrame(rows, schema=["measure", "side", "difference", "error"], orient="row")


def test_a_difference_is_the_tables_own_or_that_of_the_values() -> None:
    own = compared().apart("sink_weight", "ssmax", "softmax")
    assert own["difference"].to_list() == [20.0, 21.0, 22.0, 23.0, 24.0, 25.0]  # as it is told
    assert own["error"].to_list() == [0.5] * 6
    plain = compared().apart("sink_weight", "ssmax", SIDES[1])
    assert plain["difference"].to_list() == [10.0] * 6
    assert plain["error"].is_null().all()
    # Of a measure that one side alone has there is no difference.
    assert compared().measures() == ["sink_weight", "separability"]


def test_maps_of_differences_part_at_zero() -> None:
    figures = comparison_figures(compared(), moves())
    assert list(figures) == ["differences", "heads", "series", "sink_weight", "separability"]
    drawn = panels(figures["differences"]())
    assert [each.title for each in drawn[:1]] == ["Sink weight"]
    assert drawn[0].difference
    assert drawn[0].values == [[20.0, 21.0, 22.0], [23.0, 24.0, 25.0]]
    gained, lost = drawn[-2:]
    assert gained.verdicts[0] == [["unchanged"], ["diffuse"], ["unchanged"]]
    assert {name for row in lost.verdicts for cell in row for name in cell} == {"unchanged"}
    before, after, apart = panels(figures["sink_weight"]())
    assert (before.values[0][0], after.values[0][0], apart.values[0][0]) == (0.0, 20.0, 20.0)
    assert not before.difference
    assert isinstance(apart, HeatMap)


def test_they_are_drawn() -> None:
    figures = comparison_figures(compared(), moves())
    assert len(draw(figures["differences"]()).axes) >= 4  # two maps, gained and lost
    assert len(draw(figures["series"]()).axes) >= 4


def test_head_against_head() -> None:
    (first, *_) = panels(comparison_figures(compared(), moves())["heads"]())
    assert isinstance(first, Panel)
    same, dots = first.series
    assert (dots.x[3], dots.y[3], dots.facts["head"][3]) == (3.0, 23.0, "L1H0")
    assert same.x == same.y == [0.0, 25.0]


def test_lines_over_the_sides() -> None:
    figure = comparison_figures(compared(), moves())["series"]()
    loss, verdicts, roles, sink = panels(figure)
    assert loss.series[0].y == [0.0, 0.1, 0.2]
    assert loss.series[0].high == pytest.approx([0.0, 0.12, 0.22])
    assert {line.name: line.y for line in verdicts.series} == {
        "healthy": [6, 4, 4],
        "diffuse": [0, 2, 2],
    }
    assert roles.series[0].y == [6, 6, 6]
    assert sink.series[0].high == [0.0, None, None]
    # A name too long for an axis stands in the caption.
    assert [name for _, name in loss.x.ticks] == ["1", "2", "3"]
    assert "2 = a rule with a long name" in " ".join(each.text for each in figure.caption)
    assert head_template(compared()).panels[0].series[0].y == "value"  # type: ignore[union-attr]
    two = comparison_figures(compared(SIDES[::2]), moves())
    assert "series" not in two


def test_more_than_chance() -> None:
    rows = [("entropy", 10, 6, 1.5), ("qk_largest", 10, 10, 0.0), ("max_logit", 10, None, None)]
    table = pl.DataFrame(rows, schema=["measure", "heads", "beyond", "by_chance"], orient="row")
    (panel,) = panels(beyond_figure(table, ""))
    beyond, chance = panel.series
    assert (beyond.x, chance.x) == ([0.6], [0.15])
    assert panel.y.ticks == ((0, "Entropy"),)
    (empty,) = panels(beyond_figure(table.filter(measure="max_logit"), ""))
    assert not empty.series[0].x
