"""Which rows of a reproduction a figure shows, and what its small print says of them."""

from functools import cache

import polars as pl
from matplotlib.font_manager import FontProperties, findfont
from matplotlib.ft2font import FT2Font

from headgauge.runs.paper_schema import PAPER_TABLES
from headgauge.runs.schema import frame_schema

CHOICE = ("vectors", "scale", "keys")
MODEL = "model"  # the rule that is the model's own


def every_table(paper: dict[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """The tables, an empty one for each that is not there."""
    return {
        name: paper[name] if name in paper else pl.DataFrame(schema=frame_schema(row))
        for name, row in PAPER_TABLES.items()
    }


def of_text(paper: dict[str, pl.DataFrame], text: str) -> dict[str, pl.DataFrame]:
    """The tables of one text; the verdicts are of all of them."""
    return {
        name: frame.filter(pl.col("text") == text) if "text" in frame.columns else frame
        for name, frame in paper.items()
    }


def shown_choice(paper: dict[str, pl.DataFrame]) -> tuple[str, ...]:
    """The choice that the verdicts are about; else the closest, else the first there is, or ()."""
    choices = paper["choices"]
    frames = [choices.filter("measured"), choices.filter("closest"), choices]
    frames += [paper[name] for name in ("fig2a", "fig2b", "fig2c", "fig3")]
    return next((frame.select(CHOICE).row(0) for frame in frames if frame.height), ())


def of_choice(
    frame: pl.DataFrame, choice: tuple[str, ...], rule: str | None = MODEL
) -> pl.DataFrame:
    """The rows of a choice under a rule, or under every rule."""
    if not choice:
        return frame.clear()
    kept = frame.filter(**dict(zip(CHOICE, choice, strict=True)))
    return kept if rule is None else kept.filter(pl.col("rule") == rule)


def longest(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows of the largest L."""
    return frame.filter(pl.col("length") == pl.col("length").max())


def at_one_n(frame: pl.DataFrame, wanted: int = 5) -> pl.DataFrame:
    """The rows of the N that the paper has in Figure 2a, or of the one nearest to it."""
    nearest = (pl.col("top_n") - wanted).abs()
    kept = frame.filter(nearest == nearest.min())
    return kept.filter(pl.col("top_n") == pl.col("top_n").min())


def line(frame: pl.DataFrame, measure: str, along: str) -> pl.DataFrame:
    """A measure in the order of an axis, where it was seen."""
    seen = pl.col("mean").is_not_null() & pl.col("mean").is_finite()
    return frame.filter(pl.col("measure") == measure).filter(seen).sort(along)


def choice_words(choice: tuple[str, ...]) -> str:
    if not choice:
        return "no choice of vectors was measured"
    vectors, scale, keys = choice
    return f"{vectors} vectors of {scale} length, {keys} keys"


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
    if frame.is_empty():
        return ""
    if frame["low"].is_not_null().any():
        return "bands: 95 % bootstrap over windows"
    return "no interval: it takes two windows or more"


def span(numbers: pl.Series, between: str = "–") -> str:
    """`128`, or `64–128` where they differ."""
    known = numbers.drop_nulls().sort()
    if known.is_empty():
        return "–"
    ends = [f"{known[0]:.10g}", f"{known[-1]:.10g}"]
    return between.join(dict.fromkeys(ends))


def printable(text: str) -> str:
    """Text from outside on one line, a box for every sign that the font does not have."""
    flat = "".join("⏎" if sign in "\r\n" else " " if sign.isspace() else sign for sign in text)
    return "".join(sign if ord(sign) in _signs() else "□" for sign in flat)


@cache
def _signs() -> frozenset[int]:
    # The family by name: figures are set in it whatever the user's own settings are.
    return frozenset(FT2Font(findfont(FontProperties(family="DejaVu Sans"))).get_charmap())
