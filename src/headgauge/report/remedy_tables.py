"""Tried remedies as tables: what each did, what it was chosen from, what cannot be tried."""

from typing import Any

import polars as pl

from headgauge.registry.measures import number
from headgauge.remedies import Remedies
from headgauge.remedies.limits import SMALL
from headgauge.remedies.result import signed
from headgauge.report.table import Column, Table, markdown

_TRIED = (
    "Change of the loss in nats per token, with its standard error over the judged windows, and "
    "the interval that allows for all remedies; random: the same remedy in as many random heads of "
    f"the same layers. A change within {SMALL} is no difference that matters."
)
_HELD = (
    "Heads with the verdict on the judged windows, before and under the remedy, and the mean of "
    "what it is judged by; random: the same of the first draw of random heads, which do not have "
    "it on the scan's windows."
)


def remedy_tables(result: Remedies) -> list[Table]:
    """Losses, verdicts, candidates, what cannot be tried; without those that have no rows."""
    found = [
        _losses(result.trials),
        _verdicts(result.trials.filter(pl.col("measure").is_not_null())),
        _candidates(result.tables["choices"]),
        _untried(result.tables["untried"]),
    ]
    return [table for table in found if len(table.columns[0].cells)]


def remedy_markdown(result: Remedies) -> str:
    """The tables for a page of documentation, below what they stand on."""
    lines = [f"**Warning: {markdown(line)}**\n" for line in result.warnings()]
    lines += [f"- {markdown(line)}" for line in result.stands()]
    return "\n".join([*lines, "", *(table.markdown() for table in remedy_tables(result))])


def _losses(trials: pl.DataFrame) -> Table:
    rows = trials.to_dicts()
    columns = [
        Column("verdict", trials["verdict"], "left", key=True),
        Column("remedy", trials["rule"], "left", key=True),
        Column("", trials["word"], "left"),
        Column("heads", trials["heads"]),
        Column("change\nof the loss", [_error(row) for row in rows]),
        Column("interval", [_span(row["low"], row["high"]) for row in rows]),
        Column("random\nheads", trials["random_heads"]),
        Column("random\nmean", [_signed(row["random"]) for row in rows]),
        Column("least to most", [_span(row["random_low"], row["random_high"]) for row in rows]),
        Column("draws that\ncost less", [_share(row) for row in rows]),
    ]
    return Table("What remedies do to the loss", columns, _TRIED)


def _verdicts(trials: pl.DataFrame) -> Table:
    rows = trials.to_dicts()
    columns = [
        Column("verdict", trials["verdict"], "left", key=True),
        Column("remedy", trials["rule"], "left", key=True),
        Column("judged by", trials["measure"], "left"),
        Column("before", [_number(row, "before") for row in rows]),
        Column("after", [_number(row, "after") for row in rows]),
        Column("have it\nbefore", [_of(row["held"], row["heads"]) for row in rows]),
        Column("have it\nafter", [_of(row["left"], row["heads"]) for row in rows]),
        Column("random\nbefore", [_number(row, "random_before") for row in rows]),
        Column("random\nafter", [_number(row, "random_after") for row in rows]),
        Column("have it\nbefore", [_of(row["random_held"], row["random_heads"]) for row in rows]),
        Column("have it\nafter", [_of(row["random_left"], row["random_heads"]) for row in rows]),
    ]
    return Table("What remedies do to the verdict", columns, _HELD)


def _candidates(choices: pl.DataFrame) -> Table:
    several = choices.filter(pl.len().over("verdict", "remedy") > 1)
    columns = [
        Column("verdict", several["verdict"], "left", key=True),
        Column("candidate", several["rule"], "left", key=True),
        Column("change\nof the loss", [_signed(each) for each in several["change"]]),
        Column("", ["chosen" if each else "" for each in several["chosen"]], "left"),
    ]
    windows = several["windows"].max() or 0
    note = f"On {windows} window{'s' * (windows != 1)} behind those that judge."
    return Table("What was chosen from", columns, note)


def _untried(untried: pl.DataFrame) -> Table:
    columns = [
        Column("verdict", untried["verdict"], "left", key=True),
        Column("heads", untried["heads"]),
        Column("not tried, because", untried["why"], "left"),
        Column("remedy", untried["remedy"], "left"),
    ]
    return Table("What cannot be tried on a trained model", columns)


def _error(row: dict[str, Any]) -> str:
    error = "" if row["error"] is None else f" ± {row['error']:.2g}"
    return _signed(row["change"]) + error


def _signed(value: float | None) -> str:
    return "–" if value is None else signed(value)


def _span(low: float | None, high: float | None) -> str:
    return "–" if low is None or high is None else f"{signed(low)} to {signed(high)}"


def _share(row: dict[str, Any]) -> str:
    if row["random_better"] is None:
        return "–"
    return _of(round(row["random_better"] * row["draws"]), row["draws"])


def _of(some: int | None, all_: int) -> str:
    return "–" if some is None else f"{some} of {all_}"


def _number(row: dict[str, Any], name: str) -> str:
    return "–" if row[name] is None else number(row[name], row["measure"]) or "–"
