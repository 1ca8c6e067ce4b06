"""Frames and descriptions as JSON for the page, with as many digits as a reader can use."""

import math
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

import polars as pl

from headgauge.registry.entry import Look

DIGITS = 5  # significant ones
# What a description says for files only.
_FILES = {"width", "panel_height", "in_file", "run"}


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


def plain(value: Any) -> Any:
    """A description as dicts and lists; what has its default is left out."""
    if is_dataclass(value) and not isinstance(value, type):
        unsaid = () if isinstance(value, Look) else _FILES
        told = [each for each in fields(value) if each.name not in unsaid]
        held = [(each, getattr(value, each.name)) for each in told]
        return {each.name: plain(part) for each, part in held if not _is_default(part, each)}
    if isinstance(value, Mapping):
        return {name: plain(part) for name, part in value.items()}
    if isinstance(value, pl.Series):
        return column(value)
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    return short(value)


def _is_default(part: Any, each: Any) -> bool:
    usual = each.default if each.default_factory is MISSING else each.default_factory()
    return part is usual or (isinstance(part, type(usual)) and part == usual)
