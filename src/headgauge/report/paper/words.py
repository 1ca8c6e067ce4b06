"""What captions say of the rows behind a figure."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import polars as pl

from headgauge.registry.names import MODEL, choice_words
from headgauge.registry.published import CHOICE
from headgauge.report.captions import longest, span
from headgauge.report.figure import Sentence
from headgauge.report.paper.tables import apart, groups


def sentence(*parts: str, letter: str = "") -> Sentence:
    """One of the parts that say something."""
    words = "; ".join(filter(None, parts))
    start = words[:1] if letter else words[:1].upper()
    return Sentence(f"{letter}{start}{words[1:]}." if words else "")


def sentences(
    frame: pl.DataFrame, at: Sequence[str], *say: Callable[[pl.DataFrame], str], letter: str = ""
) -> tuple[Sentence, ...]:
    """What functions of a setting's rows say of them, a sentence for each setting."""
    said = (
        replace(sentence(*(words(rows) for words in say), letter=letter), at=setting)
        for setting, rows in groups(frame, at)
    )
    return tuple(each for each in said if each.text)


def choice(rows: pl.DataFrame) -> str:
    rule = rows["rule"][0]
    under = "" if rule == MODEL else f", rule {rule}"
    return f"{choice_words(rows.select(CHOICE).row(0))}{under}"


def sample(frame: pl.DataFrame) -> str:
    """Heads, windows and rows behind the numbers of a figure."""
    if frame.is_empty():
        return "nothing was measured"
    heads, windows = span(frame["heads"], " to "), frame["windows"].max()
    up_to = "up to " * (frame["windows"].n_unique() > 1)
    return (
        f"{heads} head{'s' * (heads != '1')}, {up_to}{windows} window{'s' * (windows != 1)}, "
        f"{query_rows(frame)}"
    )


def query_rows(frame: pl.DataFrame) -> str:
    """How many of how many, at the largest L: fewer were drawn, or fewer see enough keys."""
    if (frame["rows"] > frame["length"] - 0.5).all():
        return "every query row"
    at = longest(frame)
    where = f" at L = {at['length'][0]}" if frame["length"].n_unique() > 1 else ""
    return f"{span(at['rows'].round(0), ' to ')} of {at['length'][0]} query rows{where}"


def intervals(frame: pl.DataFrame) -> str:
    """What the bands are, and what pale points are, where there are any."""
    if frame.is_empty():
        return ""
    if frame["low"].is_null().all():
        return "no error bands: they take two windows or more"
    pale = any(apart(rows) for _, rows in groups(frame, ["measure"]))
    told = "; pale points: from another number of windows than the line" if pale else ""
    return f"bands: 95 % bootstrap over windows{told}"
