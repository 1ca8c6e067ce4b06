"""A scan in a terminal: tables that stay readable at 60 columns and without colour."""

from typing import Any

import polars as pl
from rich import box
from rich.table import Table
from rich.text import Text

from headgauge.report.head_grid import module_kinds
from headgauge.report.stacked import Column, Stacked
from headgauge.report.words import MARKS, MEASURES, mark, number

# The most telling first: a narrow terminal has the last below the others.
_NUMBERS = (
    "sink_weight",
    "separability",
    "jacobian_norm",
    "output_ratio",
    "flips",
    "entropy_share",
    "rest_entropy_share",
    "max_logit",
    "effective_n",
    "entropy",
)

# Of the depth table: column, heading.
_DEPTH = (
    ("mean_cosine", "mean\ncosine"),
    ("predicted_cosine", "pre-\ndicted"),
    ("radius", "radius"),
    ("predicted_radius", "pre-\ndicted"),
    ("attention_norm", "attention\nadds"),
    ("other_norm", "MLP\nadds"),
    ("speed", "turns,\nrad"),
    ("attention_speed", "by atten-\ntion"),
)


def head_table_view(head_table: pl.DataFrame, limit: int = 20) -> Stacked:
    """The worst heads first, as the frame has them; a last line says how many are left out."""
    shown = head_table.head(limit)
    columns = _place_columns(shown, head_table)
    columns.append(Column("head", [str(head) for head in shown["head"]], key=True))
    told = [_verdict_words(names) for names in shown["verdicts"]]
    columns.append(Column("verdicts", told, "left"))
    columns += _number_columns(shown)
    left_out = len(head_table) - len(shown)
    note = f"… and {left_out} more" if left_out else ""
    return Stacked(f"{len(head_table)} heads, the worst first", columns, note)


def layer_view(layer_summary: pl.DataFrame) -> Stacked:
    """A line for each attention module: heads per verdict, then means over its heads."""
    columns = _place_columns(layer_summary, layer_summary)
    columns.append(Column("heads", [str(count) for count in layer_summary["heads"]]))
    for verdict in MARKS:
        if verdict in layer_summary.columns and layer_summary[verdict].sum():
            cells = [
                Text(str(count), style=mark(verdict).style) if count else "·"
                for count in layer_summary[verdict]
            ]
            columns.append(Column(verdict, cells))
    columns += _number_columns(layer_summary.drop("output_ratio"))  # its mean is 1
    note = "Numbers are means over the layer's heads (max logit: the largest)."
    return Stacked("Layers", columns, note)


def counts_view(counts: pl.DataFrame) -> Stacked:
    """How many heads each verdict names; a head may have several."""
    there = counts.filter(pl.col("heads") > 0)
    differ = [str(count) if count else "·" for count in there["flipping"]]
    bars = ["█" * round(20 * share) or "▏" for share in there["share"]]
    columns = [
        Column("verdict", [_verdict_words(name) for name in there["verdict"]], "left", key=True),
        Column("heads", [str(count) for count in there["heads"]]),
        Column("share", [_percent(share) for share in there["share"]]),
        Column("differ in\nsome window", differ),
        Column("", bars, "left", spare=True),
    ]
    return Stacked("Verdicts", columns, "A head can have several.")


def outlook_view(outlook: pl.DataFrame, target: int) -> Stacked:
    """Heads per verdict now and, by their trends, at a target length."""
    columns = [
        Column("verdict", [_verdict_words(name) for name in outlook["verdict"]], "left", key=True),
        Column("heads\nnow", [str(count) for count in outlook["now"]]),
        Column(f"at L =\n{target}", [str(count) for count in outlook["target"]]),
        Column("90 %\ninterval", [span_words(row) for row in outlook.iter_rows(named=True)]),
        Column("of", [str(count) for count in outlook["heads"]]),
    ]
    if outlook["unknown"].sum():
        columns.append(Column("no\ninterval", [str(count) for count in outlook["unknown"]]))
    note = "Each head's trend over the scanned lengths, continued."
    return Stacked(f"Outlook at {target} tokens", columns, note)


def span_words(row: dict[str, Any]) -> str:
    """The interval of an outlook's row; a dash where no head has one."""
    return f"{row['certainly']} to {row['possibly']}" if row["unknown"] < row["heads"] else "–"


def depth_view(layers: pl.DataFrame, scheme: str | None) -> Stacked:
    """The residual stream by layer, beside what the model's scheme predicts of it."""
    place = [str(layer) for layer in layers["layer"][:-1]]
    columns = [Column("layer", [*place, "after"], key=True)]
    for name, heading in _DEPTH:
        if layers[name].is_not_null().any():
            columns.append(Column(heading, [_three_digits(value) for value in layers[name]]))
    told = "no scheme was recognised" if scheme is None else f"{scheme}'s prediction beside it"
    note = "Means over tokens as they enter."
    if layers["predicted_cosine"].is_not_null().any():
        note += " Predicted from layer 0, without MLPs."
    return Stacked(f"Depth: {told}", columns, note)


def legend_view(verdicts: pl.DataFrame) -> Table:
    """What each verdict that occurs means: its threshold, where that is from, what to do."""
    table = Table(
        title="What the verdicts mean",
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        show_edge=False,
    )
    table.add_column("verdict", no_wrap=True)
    table.add_column("given where, and what to do", ratio=1, overflow="fold")
    for name in dict.fromkeys([*MARKS, *verdicts["verdict"]]):
        rows = verdicts.filter(pl.col("verdict") == name).unique("measure", maintain_order=True)
        if name != "healthy" and len(rows):
            meanings = [_meaning(row) for row in rows.sort("measure").iter_rows(named=True)]
            table.add_row(_verdict_words(name), Text("\n").join(meanings))
    return table


def _meaning(row: dict[str, Any]) -> Text:
    """A verdict's row in words: "Sink weight above 0.3 (arXiv 2410.10781)", and the remedy."""
    if row["threshold"] is None:
        return Text(f"not seen: {row['measure']}\n{row['remedy']}")
    measure = MEASURES.get(row["measure"])
    title = row["measure"] if measure is None else measure.title
    choice = row["what"].removeprefix(row["measure"])
    limit = f"{row['direction']} {row['threshold']:g}"
    text = Text(f"{title}{choice} {limit} ({row['source']})\n")
    return text.append(row["remedy"], style="italic")


def _place_columns(shown: pl.DataFrame, whole: pl.DataFrame) -> list[Column]:
    """Layer, and what else it takes to find a head: the call and the module where they vary."""
    columns = [Column("layer", [str(layer) for layer in shown["layer"]], key=True)]
    if whole["occurrence"].max():
        columns.append(Column("call", [str(n + 1) for n in shown["occurrence"]], key=True))
    kinds = module_kinds(whole["module"])
    if len(set(kinds.values())) > 1:
        named = [kinds[name] for name in shown["module"]]
        columns.append(Column("module", named, "left", key=True))
    return columns


def _number_columns(frame: pl.DataFrame) -> list[Column]:
    columns = []
    for name in _NUMBERS:
        if name == "flips" and name in frame.columns and frame[name].is_not_null().any():
            columns.append(Column("windows\ndiffer", [_percent(share) for share in frame[name]]))
        elif name != "flips" and name in frame.columns:
            cells = [number(value, name) for value in frame[name]]
            columns.append(Column(MEASURES[name].heading, cells))
    return columns


def _verdict_words(names: str) -> Text:
    """Each verdict in its colour; the words are enough without."""
    parts = [Text(name, style=mark(name).style) for name in names.split(", ")]
    return Text(", ").join(parts)


def _three_digits(value: float | None) -> str:
    """At least three digits that count, from thousandths on: 0.086, 2.81, 44.1, 970."""
    if value is None:
        return "–"
    return f"{value:.{3 if abs(value) < 1 else 2 if abs(value) < 10 else int(abs(value) < 100)}f}"


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.0f} %"
