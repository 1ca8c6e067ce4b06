"""What captions say of the rows behind a figure, whichever table they are of."""

import polars as pl


def longest(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows of the largest L."""
    return frame.filter(pl.col("length") == pl.col("length").max())


def span(numbers: pl.Series, between: str = "–") -> str:
    """`128`, or `64–128` where they differ."""
    known = numbers.drop_nulls().sort()
    if known.is_empty():
        return "–"
    ends = [f"{known[0]:.10g}", f"{known[-1]:.10g}"]
    return between.join(dict.fromkeys(ends))
