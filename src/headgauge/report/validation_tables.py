"""A validation as tables: what verdicts, roles and measures tell of a head's effect."""

from typing import Any

import polars as pl

from headgauge.registry.measures import number
from headgauge.report.table import Column, Table, markdown
from headgauge.runs.validation_schema import DEEPER, FIRST, PARTS
from headgauge.validation import Validation

_JUDGING = PARTS[1:]
_NAMED = (
    "Share: how often a head that has it has a smaller effect than another of its layer, with its "
    "95 % interval over layers and the one that allows for all comparisons. Below random: share of "
    "random sets of as many heads of the same layers whose mean effect is smaller."
)
_MEASURED = (
    "Area under the ROC curve for an effect below the layer's median, above .5 where a higher "
    "number goes with a smaller effect, with its 95 % interval over layers and the one that allows "
    "for all comparisons. The line is the best on the choosing part; its balanced accuracy is that "
    "on the others."
)


def validation_tables(result: Validation) -> list[Table]:
    """Verdicts and roles, measures, layer 0, how far effects agree, the induction check."""
    found = [_named_table(result), _measures_table(result), _first_layer(result)]
    found += [_reliability(result.tables["reliability"])]
    induction = result.tables["induction"]
    found += [] if induction.is_empty() else [_induction(induction)]
    return [table for table in found if len(table.columns[0].cells)]


def validation_markdown(result: Validation) -> str:
    """The tables for a page of documentation, below what they stand on."""
    lines = [f"**Warning: {markdown(line)}**\n" for line in result.warnings()]
    lines += [f"- {markdown(line)}" for line in result.stands()]
    return "\n".join([*lines, "", *(table.markdown() for table in validation_tables(result))])


class _Rows:
    """The rows of the scores, found by part and by kind and name."""

    def __init__(self, result: Validation, where: str) -> None:
        rows = result.scores.filter(where=where).to_dicts()
        self.held = {(row["part"], row["kind"], row["name"]): row for row in rows}
        self.parts = [part for part in _JUDGING if part in result.parts]

    def cells(self, told: pl.DataFrame, heading: str, column: str, how: Any) -> list[Column]:
        """Of each judging part a column, with what `how` makes of the row's number, or row."""
        made = []
        for part in self.parts:
            rows = [self.held.get((part, *key)) for key in told.select("kind", "name").rows()]
            numbers = [row and (row[column] if column else row) for row in rows]
            cells = ["–" if each is None else how(each) for each in numbers]
            made.append(Column(f"{heading}\n{part}", cells))
        return made


def _named_table(result: Validation) -> Table:
    told = result.decided().filter(pl.col("kind") != "measure")
    rows = _Rows(result, DEEPER)
    columns = [
        Column("verdict or role", told["name"].to_list(), "left", key=True),
        Column("", told["kind"].to_list(), "left"),
        Column("predicts", told["word"].to_list(), "left"),
        *rows.cells(told, "heads", "named", str),
        *rows.cells(told, "share", "", lambda row: _interval(row, "smaller")),
        *rows.cells(told, "adjusted", "", lambda row: _ends(row, "smaller_adjusted")),
        *rows.cells(told, "below random", "control", _share),
        *rows.cells(told, "effect", "effect_named", _effect),
        *rows.cells(told, "others' effect", "effect_others", _effect),
        *rows.cells(told, "zero or less", "none_named", _share),
        *rows.cells(told, "others zero or less", "none_others", _share),
        *rows.cells(told, "area", "auc", _two),
        *rows.cells(told, "best line", "line_accuracy", _two),
    ]
    return Table("What verdicts and roles tell of a head's effect, layers from 1", columns, _NAMED)


def _measures_table(result: Validation) -> Table:
    told = result.decided().filter(kind="measure")
    rows = _Rows(result, DEEPER)
    lines = []
    for name in told["name"]:
        row = rows.held.get((PARTS[1], "measure", name), {})
        shown = None if row.get("line") is None else number(row["line"], name)
        lines.append("–" if shown is None else f"{row['direction']} {shown}")
    columns = [
        Column("measure", told["name"].to_list(), "left", key=True),
        Column("predicts", told["word"].to_list(), "left"),
        *rows.cells(told, "area", "", lambda row: _interval(row, "auc")),
        *rows.cells(told, "adjusted", "", lambda row: _ends(row, "auc_adjusted")),
        *rows.cells(told, "rank correlation", "correlation", _two),
        Column("line", lines, "left"),
        *rows.cells(told, "its accuracy", "line_accuracy", _two),
    ]
    return Table("What measures tell of a head's effect, layers from 1", columns, _MEASURED)


def _first_layer(result: Validation) -> Table:
    """Numbers without intervals: one layer does not say how others would differ."""
    rows = _Rows(result, FIRST)
    there = {key[1:] for key, row in rows.held.items() if row["auc"] is not None}
    keys = result.scores.select("kind", "name").unique(maintain_order=True)
    told = keys.filter([key in there for key in keys.rows()])
    columns = [
        Column("in layer 0", told["name"].to_list(), "left", key=True),
        Column("", told["kind"].to_list(), "left"),
        *rows.cells(told, "area", "auc", _two),
        *rows.cells(told, "rank correlation", "correlation", _two),
        *rows.cells(told, "heads named", "named", str),
        *rows.cells(told, "share", "smaller", _two),
    ]
    return Table("Layer 0 alone", columns, "One layer has no interval over layers.")


def _reliability(table: pl.DataFrame) -> Table:
    columns = [
        Column("part", table["part"].to_list(), "left", key=True),
        Column("", table["where"].to_list(), "left", key=True),
        Column("heads", table["heads"].to_list()),
        Column("mean\neffect", [_effect(each) for each in table["effect"]]),
        Column("zero\nor less", [_share(each) for each in table["none"]]),
        Column("beyond two\nerrors", [_share(each) for each in table["sure"]]),
        Column("by\nchance", [_share(each) for each in table["sure_by_chance"]]),
        Column(
            "agrees with\nchoosing",
            [_interval(row, "correlation") for row in table.to_dicts()],
        ),
    ]
    note = "Agreement: rank correlation inside layers of the same heads' effects, 95 % interval."
    return Table("How far effects can be trusted", columns, note)


def _induction(table: pl.DataFrame) -> Table:
    own, drawn = table.filter(draw=0).row(0, named=True), table.filter(pl.col("draw") > 0)
    columns = [
        Column("rise of the loss on", ["repeated random tokens", "natural text"], "left", key=True)
    ]
    kinds = ("repeated", "natural")
    columns.append(Column("without\nthem", [_effect(own[kind]) for kind in kinds]))
    for heading, found in (("mean", drawn.mean()), ("least", drawn.min()), ("most", drawn.max())):
        cells = [_effect(found[kind].item()) for kind in kinds]
        columns.append(Column(f"random\n{heading}", cells))
    title = f"Without the heads of highest induction score ({own['heads']})"
    return Table(title, columns, f"Random: {drawn.height} draws of as many others of their layers.")


def _interval(row: dict[str, Any], name: str) -> str:
    if row[name] is None:
        return "–"
    return _two(row[name]) + (f" ({_ends(row, name)})" if row[f"{name}_low"] is not None else "")


def _ends(row: dict[str, Any], name: str) -> str:
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    return "–" if low is None else f"{_two(low)} to {_two(high)}"


def _two(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}".replace("-", "−")


def _effect(value: float | None) -> str:
    return "–" if value is None else f"{value:.2g}".replace("-", "−")


def _share(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.0f} %"
