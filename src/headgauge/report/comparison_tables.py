"""A comparison of runs as tables: the runs, the measures, verdicts and roles, the heads."""

from typing import Any

import polars as pl
from rich.text import Text

from headgauge.comparison.runs_result import RunComparison
from headgauge.comparison.words import signed
from headgauge.registry.measures import number
from headgauge.registry.names import ROLES, VERDICTS, head_name, mark
from headgauge.report.table import Column, Table
from headgauge.scanning.thresholds import HEALTHY

MOST = 15  # rows of a table in a terminal


def comparison_tables(result: RunComparison, most: int | None = MOST) -> list[Table]:
    """All of them; of the long ones the first so many rows."""
    found = [sides_table(result), measures_table(result, most), marks_table(result)]
    found += [changes_table(result, most), heads_table(result, most)]
    return [table for table in found if len(table.columns[0].cells)]


def sides_table(result: RunComparison) -> Table:
    """The runs in their order, with their losses."""
    rows = result.tables["sides"].to_dicts()
    losses = result.tables["measures"].filter(measure="loss")
    first = rows[0]["side"]
    against = {
        side: signed(difference, error)
        for side, difference, error in losses.filter(against=first)
        .select("side", "difference", "error")
        .rows()
    }
    columns = [
        Column("run", [row["side"] for row in rows], "left", key=True),
        Column("model", [row["model"] for row in rows], "left"),
        Column("weights", [row["quantisation"] or "–" for row in rows], "left"),
        Column("text", [row["text"] for row in rows], "left"),
        Column("windows", [f"{row['windows']} × {row['length']}" for row in rows]),
        Column("loss", [_loss(row["loss"]) for row in rows]),
        Column("difference", [against.get(row["side"], "–") for row in rows]),
    ]
    if all(row["quantisation"] is None for row in rows):
        columns = [each for each in columns if each.heading != "weights"]
    note = f"Loss: nats per token; the difference from {first}, ± its standard error over windows."
    return Table("The runs", columns, note)


def measures_table(result: RunComparison, most: int | None) -> Table:
    """Of two runs each measure before and after; of a series its mean in every run."""
    rows = result.measures()
    rows = rows.filter(pl.col("measure") != "loss")
    shown = rows.head(most or rows.height)
    told = shown.to_dicts()
    columns = [Column("measure", shown["measure"].to_list(), "left", key=True)]
    columns += [
        Column(name, [number(each.get(row["measure"]), row["measure"]) for row in told])
        for name, each in side_means(result).items()
    ]
    columns += [
        Column("difference\n± error", [signed(row["difference"], row["error"]) for row in told]),
        Column("heads past\n2 errors", [_of(row["beyond"], row["heads"]) for row in told]),
        Column("by\nchance", [_chance(row["by_chance"]) for row in told]),
        Column("median |d|\nof heads", [signed(row["median"]).removeprefix("+") for row in told]),
    ]
    pair = f"{result.sides()[-1]} against {result.sides()[0]}"
    note = "Means over heads; their error is over windows. Most heads beyond chance first."
    return Table(f"Measures, {pair}", columns, note + _more(rows.height - shown.height))


def side_means(result: RunComparison) -> dict[str, dict[str, float]]:
    """By run and measure the mean over heads."""
    means = (
        result.tables["values"]
        .group_by("side", "measure", maintain_order=True)
        .agg(pl.col("value").mean())
    )
    found: dict[str, dict[str, float]] = {name: {} for name in result.sides()}
    for side, measure, value in means.drop_nulls("value").rows():
        found[side][measure] = value
    return found


def marks_table(result: RunComparison) -> Table:
    """Heads per verdict and role in every run, and what the last gained and lost."""
    counts = result.tables["counts"]
    names = result.sides()
    held = {
        (side, name): heads for side, name, heads in counts.select("side", "name", "heads").rows()
    }
    moved = {row["name"]: row for row in result.of("counts").to_dicts()}
    order = [name for name in (*VERDICTS, *ROLES) if any((side, name) in held for side in names)]
    order += sorted({name for _, name in held} - set(order))
    columns = [
        Column("verdict or role", [_word(name) for name in order], "left", key=True),
        *(Column(side, [held.get((side, name), 0) for name in order]) for side in names),
        Column("gained", [moved.get(name, {}).get("gained") or "·" for name in order]),
        Column("lost", [moved.get(name, {}).get("lost") or "·" for name in order]),
    ]
    return Table("Heads per verdict and role", columns, "A head can have several verdicts.")


def changes_table(result: RunComparison, most: int | None) -> Table:
    """Verdicts gained and lost and roles changed: of a series step by step."""
    rows = told_changes(result)
    shown = rows[: most or len(rows)]
    columns = [Column("head", [_head(row) for row in shown], "left", key=True)]
    if len(result.sides()) > 2:
        columns.append(Column("from", [row["against"] for row in shown], "left", key=True))
        columns.append(Column("to", [row["side"] for row in shown], "left", key=True))
    columns += [
        Column("change", [change_words(row) for row in shown], "left"),
        Column("by", [row["measure"] or "–" for row in shown], "left"),
        Column("before", [_number(row, "number_before") for row in shown]),
        Column("after", [_number(row, "number_after") for row in shown]),
        Column("line", [_number(row, "line") for row in shown]),
        Column(
            "past 2\nerrors", [{True: "yes", False: "no"}.get(row["beyond"], "–") for row in shown]
        ),
    ]
    note = "A number that differs by less than two errors may cross its line by chance."
    return Table("Verdicts and roles that changed", columns, note + _more(len(rows) - len(shown)))


def told_changes(result: RunComparison) -> list[dict[str, Any]]:
    """Step by step, the sure ones first; that a head is healthy, or no longer, its other verdicts
    say."""
    rows = result.steps().to_dicts()
    told = [row for row in rows if HEALTHY not in (row["before"], row["after"])]
    place = {side: number for number, side in enumerate(result.sides())}
    return sorted(told, key=lambda row: (place[row["side"]], not row["beyond"]))


def heads_table(result: RunComparison, most: int | None) -> Table:
    """The heads that moved farthest, the last run against the first."""
    rows = result.heads().filter(pl.col("distance") > 0).to_dicts()
    shown = rows[: most or len(rows)]
    columns = [
        Column("head", [_head(row) for row in shown], "left", key=True),
        Column("moved", [f"{row['distance']:.2f}" for row in shown]),
        Column("most in", [row["measure"] for row in shown], "left"),
        Column("by", [signed(row["difference"], row["error"]) for row in shown]),
        Column("measures past\n2 errors", [_dash(row["beyond"]) for row in shown]),
        Column("verdicts", [row["verdicts"] for row in shown], "left"),
        Column("role", [row["role"] or "–" for row in shown], "left"),
    ]
    note = "Moved: root mean square over measures, in standard deviations over the heads."
    return Table("Heads that moved farthest", columns, note + _more(len(rows) - len(shown)))


def change_words(row: dict[str, Any]) -> str:
    """One change: gained saturated, lost diffuse, role local → mixed."""
    if row["kind"] == "role":
        return f"role {row['before'] or 'unknown'} → {row['after'] or 'unknown'}"
    return f"gained {row['after']}" if row["after"] is not None else f"lost {row['before']}"


def _head(row: dict[str, Any]) -> str:
    return head_name(row["layer"], row["occurrence"], row["head"])


def _number(row: dict[str, Any], name: str) -> str:
    return number(row[name], row["measure"] or "")


def _loss(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"


def _of(part: int | None, whole: int) -> str:
    return "–" if part is None else f"{part} of {whole}"


def _chance(heads: float | None) -> str:
    """What no accident can touch has no chance."""
    return "–" if not heads else f"{heads:.1f}" if heads < 10 else f"{heads:.0f}"


def _dash(count: int | None) -> str:
    return "–" if count is None else str(count)


def _word(name: str) -> Text:
    return Text(name, mark(name).style)


def _more(count: int) -> str:
    return f" … and {count} more" if count > 0 else ""
