"""Which rows of a reproduction a figure shows, as series, axes and switches."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from headgauge.registry.entry import Entry
from headgauge.registry.names import CHOICE_TITLES, CHOICES, MODEL, text_titles
from headgauge.registry.published import CHOICE, DISTANCE_N
from headgauge.report.figure import Axis, Panel, Series, Switch

Tables = Mapping[str, pl.DataFrame]
AT = tuple(CHOICE_TITLES)  # text, vectors, keys, rule, scale: the switches that figures share
_BOX = ("minimum", "q25", "median", "q75", "maximum")
_CURVES = ("fig2a", "fig2b", "fig2c", "fig3")
_APART = 1.6  # the ratio of two numbers of an axis


def of_text(paper: Tables, text: str) -> dict[str, pl.DataFrame]:
    """The tables of one text; the verdicts are of all of them."""
    return {
        name: frame.filter(text=text) if "text" in frame.columns else frame
        for name, frame in paper.items()
    }


def shown_choice(paper: Tables) -> tuple[str, ...]:
    """The choice that the verdicts are about; else the closest, else the first there is, or ()."""
    choices = paper["choices"]
    frames = [choices.filter("measured"), choices.filter("closest"), choices]
    frames += [paper[name] for name in _CURVES]
    return next((frame.select(CHOICE).row(0) for frame in frames if frame.height), ())


def of_choice(frame: pl.DataFrame, choice: Sequence[str], rule: str | None = MODEL) -> pl.DataFrame:
    """The rows of a choice under a rule, or under every rule."""
    if not choice:
        return frame.clear()
    kept = frame.filter(**dict(zip(CHOICE, choice, strict=True)))
    return kept if rule is None else kept.filter(rule=rule)


def switches(paper: Tables, texts: Sequence[str], chosen_on: str | None) -> tuple[Switch, ...]:
    """The switches that all figures share; the judged choice and the model's own rule first."""
    first = dict(zip(CHOICE, shown_choice(paper), strict=False)) | {"rule": MODEL}
    options = {"text": text_titles(texts, chosen_on)}
    for name in AT[1:]:
        columns = [paper[table][name] for table in (*_CURVES, "vanishing") if name in paper[table]]
        values = pl.concat(columns).unique(maintain_order=True).to_list()
        values.sort(key=lambda value: value != first.get(name))
        words = CHOICES[name]
        options[name] = {value: words[value].title if value in words else value for value in values}
    return tuple(
        Switch(name, CHOICE_TITLES[name], tuple(words.items()), shared=True)
        for name, words in options.items()
    )


def switched(
    frame: pl.DataFrame,
    column: str,
    switch: Switch,
    make: Callable[[pl.DataFrame, Any], Panel],
    first: int | None = None,
) -> tuple[tuple[Panel, ...], tuple[Switch, ...]]:
    """A panel for each value of a column that stands still in it, and the switch between them:
    `first`, then from the largest on; without rows an empty one."""
    values = sorted(frame[column].unique(), key=lambda value: (value != first, -value))
    if not values:
        return (make(frame, "–"),), ()
    panels = (
        replace(make(frame.filter(pl.col(column) == value), value), at={switch.name: str(value)})
        for value in values
    )
    return tuple(panels), (replace(switch, options=tuple((str(v), str(v)) for v in values)),)


def groups(frame: pl.DataFrame, at: Sequence[str]) -> Iterator[tuple[dict[str, str], pl.DataFrame]]:
    """The rows of each setting, in the frame's order."""
    for part in frame.partition_by(at, maintain_order=True) if at and len(frame) else [frame]:
        if part.height:
            yield {name: str(part[name][0]) for name in at}, part


def lines(
    frame: pl.DataFrame,
    entries: Mapping[Any, Entry],
    along: str,
    *,
    by: str = "measure",
    y: str = "mean",
    at: Sequence[str] = (),
    facts: Mapping[str, str] | None = None,
    spread: bool = True,
    boxes: bool = False,
) -> list[Series]:
    """A series for each entry at each setting: column `y` along an axis, where it was seen.

    A mean over other windows than most of its line stands apart: through both it would zigzag.
    `facts` are more columns by what they are called; `boxes` has how the heads spread.
    """
    made = []
    for value, entry in entries.items():
        seen = frame.filter(pl.col(by) == value, pl.col(y).is_finite())
        for setting, rows in groups(seen.sort(along, maintain_order=True), at):
            pale = apart(rows)
            columns = {"query rows": "rows"} | ({"windows": "windows"} if pale else {})
            columns |= facts or {}
            sure = spread and rows["low"].is_not_null().any()
            made.append(
                Series(
                    entry.name,
                    entry.title,
                    entry.look,
                    rows[along].to_list(),
                    rows[y].to_list(),
                    low=rows["low"].to_list() if sure else None,
                    high=rows["high"].to_list() if sure else None,
                    boxes={name: rows[name].to_list() for name in _BOX} if boxes else None,
                    apart=pale,
                    facts={k: rows[v].to_list() for k, v in columns.items() if v in rows.columns},
                    at=setting,
                )
            )
    return made


def apart(rows: pl.DataFrame) -> list[bool] | None:
    """What is not a mean over as many windows as the most that make a line: four points, or half of
    those there are."""
    if "windows" not in rows.columns:
        return None
    counts = rows["windows"].value_counts().sort("windows", descending=True)
    usual = counts.filter(pl.col("count") >= min(4, rows.height / 2))["windows"]
    pale = (rows["windows"] != usual[0]).to_list() if len(usual) else []
    return pale if any(pale) else None


def nearest_n(frame: pl.DataFrame, wanted: int = DISTANCE_N) -> int | None:
    """The N that the paper has in Figure 2a, or the one nearest to it, the smaller of two."""
    return min(frame["top_n"].unique().sort(), key=lambda n: abs(n - wanted), default=None)


def over_l(lengths: pl.Series) -> Axis:
    return Axis("L, tokens in the window", "L", log=True, can_log=True, ticks=_ticks(lengths))


def over_n(ns: pl.Series | None = None) -> Axis:
    ticks = None if ns is None else _ticks(ns)
    return Axis("N, tokens selected", "N", log=True, can_log=True, ticks=ticks)


def _ticks(numbers: pl.Series) -> tuple[tuple[float, str], ...]:
    """A number at each that was measured, but where two would stand on one another."""
    kept: list[float] = []
    for number in numbers.unique().sort(descending=True):
        if not kept or kept[-1] / number > _APART:
            kept.append(float(number))
    return tuple((number, f"{number:g}") for number in reversed(kept))
