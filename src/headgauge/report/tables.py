"""A scan as tables: its heads, layers, verdicts, outlook and depth."""

from collections.abc import Sequence
from typing import Any

import polars as pl
from rich.text import Text

from headgauge.registry.measures import MEASURES, number
from headgauge.registry.names import VERDICTS, mark, scheme
from headgauge.report.head_grid import module_kinds
from headgauge.report.table import Column, Table
from headgauge.runs.columns import error_of

# The most telling first: a narrow terminal has the last below the others.
NUMBERS = (
    *(
        "sink_weight",
        "separability",
        "holds_up_to",
        "jacobian_norm",
        "output_ratio",
        "flips",
        "entropy_share",
    ),
    *("rest_entropy_share", "max_logit", "effective_n", "entropy"),
)
_WITHIN = (
    "± is the sampling error of the measured rows; within error: a number is within two of them of "
    "its threshold, so that all rows may give another verdict."
)
_DEPTH = {  # by column: its heading
    "mean_cosine": "mean\ncosine",
    "predicted_cosine": "pre-\ndicted",
    "radius": "radius",
    "predicted_radius": "pre-\ndicted",
    "attention_norm": "attention\nadds",
    "other_norm": "MLP\nadds",
    "speed": "turns,\nrad",
    "attention_speed": "by atten-\ntion",
}


def heads_table(
    heads: pl.DataFrame, limit: int, numbers: Sequence[str] = NUMBERS, by: str | None = None
) -> Table:
    """The worst heads first, as the frame has them, ordered `by` a column that says what they are
    worth; a last line says how many are left out."""
    shown = heads.head(limit)
    columns = [
        *_place_columns(shown, heads),
        Column("head", shown["head"], key=True),
        Column("verdicts", [_mark_words(names) for names in shown["verdicts"]], "left"),
    ]
    if heads["role"].is_not_null().any():
        columns.append(Column("role", [_mark_words(role or "–") for role in shown["role"]], "left"))
    if "unsure" in heads.columns:
        cells = ["yes" if unsure else "·" for unsure in shown["unsure"]]
        columns.append(Column("within\nerror", cells))
    if heads["effect"].is_not_null().any():
        both = shown.select("effect", "effect_error").rows()
        columns.append(Column("effect\n± error", [effect_words(*each) for each in both]))
    first = [by] if by and by not in ("effect", *numbers) else []
    columns += _number_columns(shown, [*first, *numbers])
    left_out = len(heads) - len(shown)
    note = f"… and {left_out} more" if left_out else ""
    if "unsure" in heads.columns:
        note = f"{_WITHIN} {note}".strip()
    order = "the worst first"
    if by is not None:
        order = f"those with a fault first, by {MEASURES[by].title.lower()}"
    return Table(f"{len(heads)} heads, {order}", columns, note)


def effects_table(effects: pl.DataFrame, limit: int) -> Table:
    """The largest effects first, as the frame has them."""
    shown = effects.head(limit)
    named = shown["group"].is_not_null().any()
    columns = (
        [Column("group", shown["group"], "left", key=True)]
        if named
        else [Column(name, shown[name], key=True) for name in ("layer", "head")]
    )
    for name, heading in (("effect", "effect"), ("error", "standard\nerror"), ("loss", "loss")):
        columns.append(Column(heading, [number(value, "effect") for value in shown[name]]))
    left_out = len(effects) - len(shown)
    note = "Rise of the loss without it, nats per token; over windows."
    note += f" … and {left_out} more" if left_out else ""
    what = "groups of heads" if named else "heads"
    return Table(f"{len(effects)} {what}, the largest effect first", columns, note)


def layers_table(layers: pl.DataFrame) -> Table:
    """A line for each attention module: heads per verdict, then means over its heads."""
    columns = [*_place_columns(layers, layers), Column("heads", layers["heads"])]
    for name, entry in VERDICTS.items():
        if name in layers.columns and layers[name].sum():
            cells = [Text(str(count), entry.style) if count else "·" for count in layers[name]]
            columns.append(Column(name, cells))
    # The mean of the output ratio is 1.
    columns += _number_columns(layers, [name for name in NUMBERS if name != "output_ratio"])
    note = "Numbers are means over the layer's heads (max logit: the largest)."
    return Table("Layers", columns, note)


def counts_table(counts: pl.DataFrame) -> Table:
    """How many heads each verdict names; a head may have several."""
    return Table("Verdicts", _counted(counts, "verdict"), "A head can have several.")


def roles_table(counts: pl.DataFrame) -> Table:
    """How many heads have each role."""
    return Table("Roles", _counted(counts, "role"), "What a head does; it has one at most.")


def _counted(counts: pl.DataFrame, name: str) -> list[Column]:
    there = counts.filter(pl.col("heads") > 0)
    bars = ["█" * round(20 * share) or "▏" for share in there["share"]]
    return [
        _mark_column(there, name),
        Column("heads", there["heads"]),
        Column("share", [_percent(share) for share in there["share"]]),
        Column("differ in\nsome window", [count or "·" for count in there["flipping"]]),
        Column("", bars, "left", spare=True),
    ]


def outlook_table(outlook: pl.DataFrame, target: int) -> Table:
    """Heads per verdict now and, by their trends, at a target length."""
    columns = [
        _mark_column(outlook, "verdict"),
        Column("heads\nnow", outlook["now"]),
        Column(f"at L =\n{target}", outlook["target"]),
        Column("90 %\ninterval", [span_words(row) for row in outlook.iter_rows(named=True)]),
        Column("of", outlook["heads"]),
    ]
    if outlook["unknown"].sum():
        columns.append(Column("no\ninterval", outlook["unknown"]))
    note = "Each head's trend over the scanned lengths, continued."
    return Table(f"Outlook at {target} tokens", columns, note)


def span_words(row: dict[str, Any]) -> str:
    """The interval of an outlook's row; a dash where no head has one."""
    return f"{row['certainly']} to {row['possibly']}" if row["unknown"] < row["heads"] else "–"


def depth_table(layers: pl.DataFrame, recognised: str | None) -> Table:
    """The residual stream by layer, beside what the model's scheme predicts of it."""
    columns = [Column("layer", [*layers["layer"][:-1], "after"], key=True)]
    for name, heading in _DEPTH.items():
        if layers[name].is_not_null().any():
            columns.append(Column(heading, [_three_digits(value) for value in layers[name]]))
    told = "no scheme was recognised"
    if recognised is not None:
        told = f"{scheme(recognised).title}'s prediction beside it"
    note = "Means over tokens as they enter."
    if layers["predicted_cosine"].is_not_null().any():
        note += " Predicted from layer 0, without MLPs."
    return Table(f"Depth: {told}", columns, note)


def meaning_table(verdicts: pl.DataFrame, remedies: pl.DataFrame) -> Table:
    """What each verdict that occurs means: its threshold, where that is from, what to do, and what
    its heads were measured to be worth."""
    worth = {row["verdict"]: worth_words(row) for row in remedies.iter_rows(named=True)}
    meanings = {}
    for name in dict.fromkeys([*VERDICTS, *verdicts["verdict"]]):
        rows = verdicts.filter(verdict=name).unique("measure", maintain_order=True).sort("measure")
        if name != "healthy" and len(rows):
            lines = [*map(_meaning, rows.iter_rows(named=True)), Text(worth[name])]
            meanings[name] = Text("\n").join(line for line in lines if line)
    columns = [
        Column("verdict", [_mark_words(name) for name in meanings], "left", key=True),
        Column("when it is given, and what to do", [*meanings.values()], "left"),
    ]
    return Table("What the verdicts mean", columns)


def _meaning(row: dict[str, Any]) -> Text:
    """A verdict's row in words: "Sink weight above 0.3 (arXiv 2410.10781)", and the remedy."""
    if row["threshold"] is None:
        return Text(f"not measured: {row['measure']}\n{row['remedy']}")
    text = Text(f"{threshold_words(row)} ({row['source']})\n")
    return text.append(row["remedy"], style="italic")


def worth_words(row: dict[str, Any]) -> str:
    """What was measured of a verdict's heads, where effects are known."""
    own, others = (number(row[name], "effect") for name in ("effect", "others_effect"))
    beside = f"; of the other heads of these layers {others}"
    return f"Median effect {own}{beside * (others != '–')}." if own != "–" else ""


def effect_words(effect: float | None, error: float | None) -> str:
    """0.0123 ± 0.0004; one window has no error."""
    return number(effect, "effect") + ("" if error is None else f" ± {number(error, 'effect')}")


def threshold_words(row: dict[str, Any]) -> str:
    """Where a verdict is given: "Sink weight above 0.3"."""
    measure = MEASURES.get(row["measure"])
    title = row["measure"] if measure is None else measure.title
    choice = row["what"].removeprefix(row["measure"])
    return f"{title}{choice} {row['direction']} {row['threshold']:g}"


def _place_columns(shown: pl.DataFrame, whole: pl.DataFrame) -> list[Column]:
    """Layer, and what else it takes to find a head: the call and the module where they vary."""
    columns = [Column("layer", shown["layer"], key=True, hints=shown["module"].to_list())]
    if whole["occurrence"].max():
        columns.append(Column("call", shown["occurrence"] + 1, key=True))
    kinds = module_kinds(whole["module"])
    if len(set(kinds.values())) > 1:
        cells = [kinds[name] for name in shown["module"]]
        columns.append(Column("module", cells, "left", key=True))
    return columns


def _number_columns(frame: pl.DataFrame, names: Sequence[str]) -> list[Column]:
    columns = []
    for name in names:
        if name == "flips" and name in frame.columns and frame[name].is_not_null().any():
            columns.append(Column("windows\ndiffer", [_percent(share) for share in frame[name]]))
        elif name == "holds_up_to" and name in frame.columns and frame[name].is_not_null().any():
            columns.append(Column("most\nN", ["–" if n is None else n for n in frame[name]]))
        elif name in MEASURES and name in frame.columns:
            columns.append(Column(MEASURES[name].heading, _cells(frame, name)))
    return columns


def _cells(frame: pl.DataFrame, name: str) -> list[str]:
    """Numbers, with their sampling errors where they have them."""
    cells = [number(value, name) for value in frame[name]]
    if (error := error_of(name)) not in frame.columns:
        return cells
    both = zip(cells, frame[error], strict=True)
    return [cell if e is None else f"{cell} ± {number(e, name)}" for cell, e in both]


def _mark_column(frame: pl.DataFrame, name: str) -> Column:
    return Column(name, [_mark_words(each) for each in frame[name]], "left", key=True)


def _mark_words(names: str) -> Text:
    """Each verdict, or the role, in its colour; the words are enough without."""
    return Text(", ").join(Text(name, style=mark(name).style) for name in names.split(", "))


def _three_digits(value: float | None) -> str:
    """At least three digits that count, from thousandths on: 0.086, 2.81, 44.1, 970."""
    if value is None:
        return "–"
    return f"{value:.{3 if abs(value) < 1 else 2 if abs(value) < 10 else int(abs(value) < 100)}f}"


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.0f} %"
