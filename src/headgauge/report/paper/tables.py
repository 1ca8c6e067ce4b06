"""Which rows of a reproduction a figure shows, as series, and what its small print says of them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from headgauge.registry.entry import Entry
from headgauge.registry.names import CHOICE_TITLES, CHOICES, MODEL, text_role
from headgauge.registry.published import CHOICE
from headgauge.report.captions import longest, span
from headgauge.report.figure import Panel, Sentence, Series, Switch
from headgauge.runs.paper_schema import PAPER_TABLES
from headgauge.runs.schema import frame_schema

Tables = Mapping[str, pl.DataFrame]
AT = tuple(CHOICE_TITLES)  # text, vectors, keys, rule, scale: the switches that figures share
_APART = 1.6  # the ratio of two numbers of an axis
BOX = ("minimum", "q25", "median", "q75", "maximum")
_CURVES = ("fig2a", "fig2b", "fig2c", "fig3")


def every_table(paper: Tables) -> dict[str, pl.DataFrame]:
    """The tables, an empty one for each that is not there."""
    return {
        name: paper[name] if name in paper else pl.DataFrame(schema=frame_schema(row))
        for name, row in PAPER_TABLES.items()
    }


def of_text(paper: Tables, text: str) -> dict[str, pl.DataFrame]:
    """The tables of one text; the verdicts are of all of them."""
    return {
        name: frame.filter(pl.col("text") == text) if "text" in frame.columns else frame
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
    return kept if rule is None else kept.filter(pl.col("rule") == rule)


def switches(paper: Tables, texts: Sequence[str], chosen_on: str | None) -> dict[str, Switch]:
    """The switches that all figures share; the judged choice and the model's own rule first."""
    first = dict(zip(CHOICE, shown_choice(paper), strict=False)) | {"rule": MODEL}
    found = {"text": Switch("text", "Text", _texts(texts, chosen_on), shared=True)}
    for name in AT[1:]:
        there = [paper[each][name] for each in (*_CURVES, "vanishing") if name in paper[each]]
        values = pl.concat(there).unique(maintain_order=True).to_list()
        values.sort(key=lambda value: value != first.get(name))
        words = CHOICES[name]
        options = [(each, words[each].title if each in words else each) for each in values]
        found[name] = Switch(name, CHOICE_TITLES[name], tuple(options), shared=True)
    return found


def _texts(texts: Sequence[str], chosen_on: str | None) -> tuple[tuple[str, str], ...]:
    roles = [text_role(text, len(texts), chosen_on) for text in texts]
    named = zip(texts, roles, strict=True)
    return tuple((text, f"{text} ({role})" if role else text) for text, role in named)


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
    **more: Any,
) -> list[Series]:
    """A series for each entry at each setting: column `y` along an axis, where it was seen.

    A mean over other windows than most of its line stands apart: through both it would zigzag.
    `facts` are more columns by what they are called; `boxes` has how the heads spread.
    """
    found = []
    for value, entry in entries.items():
        rows = frame.filter(pl.col(by) == value, pl.col(y).is_not_null(), pl.col(y).is_finite())
        for setting, part in groups(rows.sort(along, maintain_order=True), at):
            apart = _apart(part)
            sure = spread and part["low"].is_not_null().any()
            ends = {side: part[side].to_list() for side in ("low", "high")} if sure else {}
            named = {"query rows": "rows"} | ({"windows": "windows"} if any(apart) else {})
            named = {k: v for k, v in (named | dict(facts or {})).items() if v in part.columns}
            found.append(
                Series(
                    entry.name,
                    entry.title,
                    entry.look,
                    part[along].to_list(),
                    part[y].to_list(),
                    **ends,
                    boxes={name: part[name].to_list() for name in BOX} if boxes else None,
                    apart=apart if any(apart) else None,
                    facts={title: part[column].to_list() for title, column in named.items()},
                    at=setting,
                    **more,
                )
            )
    return found


def _apart(rows: pl.DataFrame) -> list[bool]:
    """What is not a mean over as many windows as the most that make a line: four points, or half of
    those there are."""
    if "windows" not in rows.columns:
        return [False] * rows.height
    counts = rows["windows"].value_counts().sort("windows", descending=True)
    enough = min(4, rows.height / 2)
    most = counts.filter(pl.col("count") >= enough)["windows"]
    return (rows["windows"] != most[0]).to_list() if most.len() else [False] * rows.height


def switched(
    frame: pl.DataFrame, column: str, switch: Switch, make: Callable[[pl.DataFrame, Any], Panel]
) -> tuple[tuple[Panel, ...], tuple[Switch, ...]]:
    """A panel for each value of a column that stands still in it, and the switch between them: the
    largest first; without rows an empty one."""
    values = frame[column].unique().sort(descending=True).to_list()
    panels = [
        replace(make(frame.filter(pl.col(column) == value), value), at={switch.name: str(value)})
        for value in values
    ]
    options = tuple((str(value), str(value)) for value in values)
    made = (replace(switch, options=options),) if values else ()
    return tuple(panels) or (make(frame, "–"),), made


def sentences(
    frame: pl.DataFrame, at: Sequence[str], *told: Any, letter: str = ""
) -> tuple[Sentence, ...]:
    """What functions of a setting's rows say of them, a sentence for each setting."""
    found = []
    for setting, part in groups(frame, at):
        words = sentence(*(each(part) for each in told), letter=letter)
        if words.text:
            found.append(replace(words, at=setting))
    return tuple(found)


def sentence(*parts: str, letter: str = "") -> Sentence:
    """One of the parts that say something."""
    words = "; ".join(filter(None, parts))
    start = words[:1] if letter else words[:1].upper()
    return Sentence(f"{letter}{start}{words[1:]}." if words else "")


def nearest_n(frame: pl.DataFrame, wanted: int = 5) -> int | None:
    """The N that the paper has in Figure 2a, or the one nearest to it, the smaller of two."""
    return min(frame["top_n"].unique().sort(), key=lambda n: abs(n - wanted), default=None)


def choice_of(rows: pl.DataFrame) -> str:
    vectors, scale, keys = rows.select(CHOICE).row(0)
    rule = rows["rule"][0] if "rule" in rows.columns else MODEL
    under = "" if rule == MODEL else f", rule {rule}"
    return f"{vectors} vectors of {scale} length, {keys} keys{under}"


def sample_words(frame: pl.DataFrame) -> str:
    """Heads, windows and rows behind the numbers of a figure."""
    if frame.is_empty():
        return "nothing was measured"
    heads, windows = span(frame["heads"], " to "), frame["windows"].max()
    up_to = "up to " * (frame["windows"].n_unique() > 1)
    return (
        f"{heads} head{'s' * (heads != '1')}, {up_to}{windows} window{'s' * (windows != 1)}, "
        f"{row_words(frame)}"
    )


def row_words(frame: pl.DataFrame) -> str:
    """How many of how many, at the largest L: fewer were drawn, or fewer see enough keys."""
    if (frame["rows"] > frame["length"] - 0.5).all():
        return "every query row"
    at = longest(frame)
    where = f" at L = {at['length'][0]}" if frame["length"].n_unique() > 1 else ""
    return f"{span(at['rows'].round(0), ' to ')} of {at['length'][0]} query rows{where}"


def interval_words(frame: pl.DataFrame) -> str:
    """What the bands are, and what pale points are, where there are any."""
    if frame["low"].is_null().all():
        return "no interval: it takes two windows or more"
    apart = any(any(_apart(part)) for _, part in groups(frame, ["measure"]))
    pale = "; pale points: over another number of windows" if apart else ""
    return f"bands: 95 % bootstrap over windows{pale}"


def number_ticks(numbers: pl.Series) -> tuple[tuple[float, str], ...]:
    """A number at each that was measured, but where two would stand on one another."""
    kept: list[float] = []
    for each in numbers.unique().sort(descending=True):
        if not kept or kept[-1] / each > _APART:
            kept.append(float(each))
    return tuple((each, f"{each:g}") for each in reversed(kept))
