"""A comparison of rules as tables: the rules beside each other, and what was fitted."""

from collections.abc import Callable
from typing import Any

from headgauge.comparison.rules_result import RuleComparison
from headgauge.report.table import Column, Table

_SCOPES = {(True, True): "model", (False, True): "layer", (False, False): "head"}


def rule_tables(result: RuleComparison) -> list[Table]:
    fits = [fits_table(result)] if result.tables["fits"].height else []
    return [rules_table(result), *fits]


def rules_table(result: RuleComparison) -> Table:
    """A line a rule, the original first."""
    rows = result.rules().rows(named=True)

    def column(heading: str, cell: Callable[[dict[str, Any]], str], **more: Any) -> Column:
        return Column(heading, [cell(row) for row in rows], **more)

    columns = [
        column("rule", lambda row: row["rule"], justify="left", key=True),
        column("parameters", lambda row: row["parameters"] or "–", justify="left", key=True),
        column("loss", lambda row: _number(row["loss"], ".4f")),
        column("difference\n± error", lambda row: differs(row, "difference", "error")),
        column("", lambda row: "" if row["text"] == "model" else result.decided(row)),
        column("to fitted\nsoftmax", lambda row: differs(row, "beyond", "beyond_error")),
        column("KL", lambda row: _number(row["kl"], ".4f")),
        column("top-1\nagrees", lambda row: _number(row["agreement"], ".3f")),
        column("time ÷\nsdpa", lambda row: _number(row["to_sdpa"], ".2f")),
        column("time ÷\neager", lambda row: _number(row["to_eager"], ".2f")),
    ]
    note = (
        "Loss and KL(original ‖ swapped): nats per token. Differences are paired by window, and "
        "decided where their 95 % interval leaves out 0. Times: a pass over the first window."
    )
    return Table(f"{len(rows) - 1} rules beside the model's own", columns, note)


def fits_table(result: RuleComparison) -> Table:
    """A line a fitted parameter; several numbers by their range."""
    fits = result.tables["fits"]
    found = []
    for (text, name), own in fits.group_by("rule", "parameter", maintain_order=True):
        scope = _SCOPES[own["layer"][0] is None, own["head"][0] is None]
        values = [f"{own['value'].min():.4g}", f"{own['value'].max():.4g}"]
        said = " to ".join(dict.fromkeys(values))
        found.append((text, name, scope, said, own.row(0, named=True)))
    columns = [
        Column("rule", [text for text, *_ in found], "left", key=True),
        Column("parameter", [name for _, name, *_ in found], "left"),
        Column("one for each", [scope for _, _, scope, *_ in found], "left"),
        Column("value", [said for *_, said, _ in found]),
        Column("loss\nbefore", [_number(row["before"], ".4f") for *_, row in found]),
        Column("loss\nafter", [_number(row["after"], ".4f") for *_, row in found]),
        Column("original", [_number(row["model"], ".4f") for *_, row in found]),
        Column("passes", [row["passes"] for *_, row in found], spare=True),
    ]
    windows = fits["windows"].max()
    note = f"On {windows} calibration window{'s' * (windows != 1)}, which are not judged."
    return Table("Fitted parameters", columns, note)


def differs(row: dict[str, Any], name: str, error: str) -> str:
    """+0.0123 ± 0.0010, with a true minus."""
    if row[name] is None:
        return "–"
    more = "" if row[error] is None else f" ± {row[error]:.4f}"
    return f"{row[name]:+.4f}{more}".replace("-", "−")


def _number(value: float | None, form: str) -> str:
    return "–" if value is None else f"{value:{form}}"
