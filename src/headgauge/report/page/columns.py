"""Frames as lists for the page: by column, with as many digits as a reader can use."""

import math
from collections.abc import Sequence
from typing import Any

import polars as pl

DIGITS = 5  # significant ones


def short(value: Any) -> Any:
    """A value for the page: a number to five digits, None for what is not a finite number."""
    if not isinstance(value, float):
        return value
    if not math.isfinite(value):
        return None
    rounded = float(f"{value:.{DIGITS}g}")
    # 12346.0 and 1e-07 say no more than 12346 and 1e-7, and there are many of them.
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e15 else rounded


def column(values: pl.Series) -> list[Any]:
    return [short(value) for value in values.to_list()]


def columns(frame: pl.DataFrame) -> dict[str, list[Any]]:
    """A table, one list per column."""
    return {name: column(frame[name]) for name in frame.columns}


def groups(
    frame: pl.DataFrame, by: Sequence[str], without: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """The rows that share `by`, group after group, in the frame's order.

    A column with a single value in a group stands there once, in `fixed`; the others are `lists`.
    """
    found = []
    for part in frame.drop(without, strict=False).partition_by(by, maintain_order=True):
        held = columns(part)
        same = {name for name, values in held.items() if all(each == values[0] for each in values)}
        found.append(
            {
                "size": len(part),
                "fixed": {name: values[0] for name, values in held.items() if name in same},
                "lists": {name: values for name, values in held.items() if name not in same},
            }
        )
    return found
