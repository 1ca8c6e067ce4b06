"""The picture of a validation: what each measure, verdict and role tells, with its interval."""

import polars as pl

from headgauge.registry.entry import BLUE, ORANGE, Look
from headgauge.registry.measures import MEASURES
from headgauge.report.figure import Axis, Figure, Mark, Panel, Sentence, Series
from headgauge.runs.validation_schema import PARTS
from headgauge.validation import Validation
from headgauge.validation.limits import USEFUL

_LOOKS = {"judging": Look(BLUE, "none", "circle"), "second text": Look(ORANGE, "none", "square")}
_ROW = 0.15  # inches
_APART = 0.18  # rows between the two parts


def validation_figure(result: Validation, run: str) -> Figure:
    """Measures on the left, verdicts and roles on the right; the parts that judge beside each
    other."""
    told = result.decided()
    measures = told.filter(kind="measure")
    named = told.filter(pl.col("kind") != "measure")
    panels = (
        _panel(measures, "Measures", "area under the ROC curve: effect below the layer's median"),
        _panel(named, "Verdicts and roles", "how often a smaller effect than another"),
    )
    caption = (
        Sentence("Right of .5: a higher number, or having it, goes with a smaller effect."),
        Sentence(f"Bars: intervals over layers that allow for {result.comparisons()} comparisons."),
        Sentence("Layers from 1 on."),
    )
    high = _ROW * max(len(measures), len(named), 8)
    title = "What measures, verdicts and roles tell of a head's effect"
    return Figure("validation", title, panels, 2, caption=caption, run=run, panel_height=high)


def _panel(told: pl.DataFrame, title: str, label: str) -> Panel:
    rows = told.to_dicts()
    series = []
    for sign, part in zip((-1, 1), PARTS[1:], strict=True):
        look, places = _LOOKS[part], [at + sign * _APART for at in range(len(rows))]
        numbers = [row[part] for row in rows]
        if any(each is not None for each in numbers):
            series.append(Series(part, part, look, numbers, places))
        for row, place in zip(rows, places, strict=True):
            ends = [row[f"{part} low"], row[f"{part} high"]]
            if None not in ends:
                series.append(Series(part, "", Look(look.colour), ends, [place, place]))
    names = [
        MEASURES[row["name"]].title if row["kind"] == "measure" else row["name"] for row in rows
    ]
    ticks = tuple(enumerate(names))
    y = Axis("", low=len(rows) - 0.5, high=-0.5, ticks=ticks)
    x = Axis(label, low=0.0, high=1.0)
    marks = (Mark("x band", (1 - USEFUL, USEFUL)), Mark("x", (0.5,)))
    return Panel(title, x, y, tuple(series), marks, empty="none of them was seen")
