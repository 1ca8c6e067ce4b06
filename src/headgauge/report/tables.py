"""A scan in a terminal: rich tables that stay readable at 80 columns and without colour.

A narrow terminal loses the less important columns, whole; numbers are never wrapped.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
from rich import box
from rich.console import Console, JustifyMethod
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from headgauge.report.head_grid import module_kinds
from headgauge.report.words import MARKS, MEASURES, mark, number

# The most telling first: a narrow terminal loses them from the end.
_NUMBERS = (
    "sink_weight",
    "separability",
    "jacobian_norm",
    "output_ratio",
    "entropy_share",
    "rest_entropy_share",
    "max_logit",
    "effective_n",
    "entropy",
)

# Of the depth table: column, heading, rank.
_DEPTH = (
    ("mean_cosine", "mean\ncosine", 0),
    ("predicted_cosine", "pre-\ndicted", 0),
    ("radius", "radius", 0),
    ("predicted_radius", "pre-\ndicted", 0),
    ("attention_norm", "attention\nadds", 1),
    ("other_norm", "MLP\nadds", 2),
    ("speed", "turns,\nrad", 1),
    ("attention_speed", "by atten-\ntion", 3),
)


@dataclass(frozen=True)
class _Column:
    heading: str
    cells: Sequence[Text | str]
    justify: JustifyMethod = "right"
    rank: int = 0  # 0 always stays; of the others the highest goes first


def head_table_view(head_table: pl.DataFrame, limit: int = 20, width: int | None = None) -> Table:
    """The worst heads first, as the frame has them; a last line says how many are left out.

    `width` is the terminal's, unless given.
    """
    shown = head_table.head(limit)
    columns = _place_columns(shown, head_table)
    columns.append(_Column("head", [str(head) for head in shown["head"]]))
    told = [_verdict_words(names) for names in shown["verdicts"]]
    columns.append(_Column("verdicts", told, "left"))
    numbers = _number_columns(shown)
    if shown["flips"].is_not_null().any():
        cells = [_percent(share) for share in shown["flips"]]
        numbers.append(_Column("windows\ndiffer", cells, rank=6))
    columns += numbers
    left_out = len(head_table) - len(shown)
    note = f"… and {left_out} more" if left_out else ""
    return _fitted(columns, f"{len(head_table)} heads, the worst first", note, width)


def layer_view(layer_summary: pl.DataFrame, width: int | None = None) -> Table:
    """A line for each attention module: heads per verdict, then means over its heads."""
    columns = _place_columns(layer_summary, layer_summary)
    columns.append(_Column("heads", [str(count) for count in layer_summary["heads"]]))
    for verdict in MARKS:
        if verdict in layer_summary.columns and layer_summary[verdict].sum():
            cells = [
                Text(str(count), style=mark(verdict).style) if count else "·"
                for count in layer_summary[verdict]
            ]
            columns.append(_Column(verdict, cells, rank=int(verdict == "healthy")))
    columns += _number_columns(layer_summary.drop("output_ratio"))  # its mean is 1
    note = "Numbers are means over the layer's heads (max logit: the largest)."
    return _fitted(columns, "Layers", note, width)


def counts_view(counts: pl.DataFrame, width: int | None = None) -> Table:
    """How many heads each verdict names; a head may have several."""
    there = counts.filter(pl.col("heads") > 0)
    columns = [
        _Column("verdict", [_verdict_words(name) for name in there["verdict"]], "left"),
        _Column("heads", [str(count) for count in there["heads"]]),
        _Column("share", [_percent(share) for share in there["share"]]),
        _Column(
            "differ in\nsome window",
            [str(count) if count else "·" for count in there["flipping"]],
            rank=1,
        ),
        _Column("", ["█" * round(20 * share) or "▏" for share in there["share"]], "left", 2),
    ]
    return _fitted(columns, "Verdicts", "A head can have several.", width)


def outlook_view(outlook: pl.DataFrame, target: int, width: int | None = None) -> Table:
    """Heads per verdict now and, by their trends, at a target length."""
    spans = [
        f"{row['certainly']} to {row['possibly']}" if row["unknown"] < row["heads"] else "–"
        for row in outlook.iter_rows(named=True)
    ]
    columns = [
        _Column("verdict", [_verdict_words(name) for name in outlook["verdict"]], "left"),
        _Column("heads\nnow", [str(count) for count in outlook["now"]]),
        _Column(f"at L =\n{target}", [str(count) for count in outlook["target"]]),
        _Column("90 %\ninterval", spans),
        _Column("of", [str(count) for count in outlook["heads"]], rank=1),
    ]
    if outlook["unknown"].sum():
        columns.append(_Column("no\ninterval", [str(count) for count in outlook["unknown"]]))
    note = "Each head's trend over the scanned lengths, continued."
    return _fitted(columns, f"Outlook at {target} tokens", note, width)


def depth_view(layers: pl.DataFrame, scheme: str | None, width: int | None = None) -> Table:
    """The residual stream by layer, beside what the model's scheme predicts of it."""
    place = [str(layer) for layer in layers["layer"][:-1]]
    columns = [_Column("layer", [*place, "after"])]
    for name, heading, rank in _DEPTH:
        if layers[name].is_not_null().any():
            cells = [_three_digits(value) for value in layers[name]]
            columns.append(_Column(heading, cells, rank=rank))
    told = "no scheme was recognised" if scheme is None else f"{scheme}'s prediction beside it"
    note = "Means over tokens as they enter."
    if layers["predicted_cosine"].is_not_null().any():
        note += " Predicted from layer 0, without MLPs."
    return _fitted(columns, f"Depth: {told}", note, width)


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
    table.add_column("given where, and what to do", ratio=1)
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


def _place_columns(shown: pl.DataFrame, whole: pl.DataFrame) -> list[_Column]:
    """Layer, and what else it takes to find a head: the call and the module where they vary."""
    columns = [_Column("layer", [str(layer) for layer in shown["layer"]])]
    if whole["occurrence"].max():
        columns.append(_Column("call", [str(n + 1) for n in shown["occurrence"]]))
    kinds = module_kinds(whole["module"])
    if len(set(kinds.values())) > 1:
        columns.append(
            _Column("module", [Text(kinds[name]) for name in shown["module"]], "left", rank=4)
        )
    return columns


def _number_columns(frame: pl.DataFrame) -> list[_Column]:
    names = [name for name in _NUMBERS if name in frame.columns]
    return [
        _Column(MEASURES[name].heading, [number(value, name) for value in frame[name]], rank=rank)
        for rank, name in enumerate(names, start=2)
    ]


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


def _fitted(columns: list[_Column], title: str, note: str, width: int | None) -> Table:
    """The table without the columns that do not fit."""
    console = Console(width=width)
    unbounded = console.options.update(width=10_000)
    while True:
        table = Table(
            title=title,
            title_justify="left",
            title_style="bold",
            caption=note or None,
            caption_justify="left",
            caption_style="dim",
            box=box.SIMPLE_HEAD,
            pad_edge=False,
            show_edge=False,
            collapse_padding=True,
        )
        for column in columns:
            table.add_column(
                column.heading, justify=column.justify, no_wrap=column.justify != "left"
            )
        for line in zip(*(column.cells for column in columns), strict=True):
            table.add_row(*line)
        last = max(columns, key=lambda column: column.rank)
        fits = Measurement.get(console, unbounded, table).maximum <= console.width
        if fits or last.rank == 0:
            return table
        columns = [column for column in columns if column is not last]
