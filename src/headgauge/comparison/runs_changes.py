"""Which heads moved: how far each, which verdicts they gained and lost, whose role is another.

How far a head moved is the root mean square of its differences in the measures that heads are
compared by (`scanning.overview.COMPARED`), each in standard deviations over the heads of the one
run or the other, whichever is larger (before training all heads are alike): one of 1 is as far as
from a head to the average one.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from headgauge.comparison.runs_differences import Side, measures_of, pairs
from headgauge.runs.schema import HEAD
from headgauge.scanning import ScanResult
from headgauge.scanning.overview import COMPARED
from headgauge.scanning.thresholds import MIXED

Head = tuple[int, int, str, int]
Numbers = Mapping[tuple[str, Head, str], float | None]  # by side, head and measure


def change_tables(
    sides: Sequence[Side], values: pl.DataFrame, differences: pl.DataFrame
) -> dict[str, Any]:
    """The tables heads, changes and counts."""
    judged = {side.name: _Judged(side.scan) for side in sides}
    known = {
        (row[0], row[1:5], row[5]): row[6] for row in _rows(values, "side", "measure", "value")
    }
    heads, changes, counts = [], [], list(_counts(judged[sides[0].name], sides[0].name, None, ()))
    for side, against in pairs(sides):
        own = differences.filter(side=side.name, against=against.name)
        now, then = judged[side.name], judged[against.name]
        pair = {"side": side.name, "against": against.name}
        sure = {(row[:4], row[4]): row[5] for row in _rows(own, None, "measure", "beyond")}
        changed = [
            pair | row | {"beyond": sure.get((_head(row), row["measure"]))}
            for row in (*_verdict_changes(now, then), *_role_changes(now, then))
        ]
        for row in changed:
            for end, name in (("number_before", against.name), ("number_after", side.name)):
                row[end] = known.get((name, _head(row), row["measure"]))
        changes += changed
        counts += _counts(now, side.name, against.name, changed)
        both = values.filter(pl.col("side").is_in([*pair.values()]))
        heads += _changed_heads(own, both, now, then, pair)
    return {"heads": heads, "changes": changes, "counts": counts}


class _Judged:
    """By head the verdicts and the role of a run, each with the row that gave it, in whose
    `measure` stands the name that is compared."""

    def __init__(self, scan: ScanResult) -> None:
        compared = {(name, str(choice)): key for key, (name, choice) in measures_of(scan).items()}
        lines = (*scan.thresholds, *scan.role_lines)
        told = {line.what: compared[line.measure, str(line.choice)] for line in lines}
        self.verdicts: dict[Head, dict[str, Any]] = {}
        self.roles: dict[Head, dict[str, Any]] = {}
        for row in scan.verdicts().to_dicts():
            row["measure"] = told.get(row["what"])  # none of a healthy head
            self.verdicts.setdefault(_head(row), {})[row["verdict"]] = row
        for row in scan.roles().to_dicts():
            self.roles[_head(row)] = row | {"measure": told.get(row["what"])}


def _verdict_changes(now: _Judged, then: _Judged) -> Iterator[dict[str, Any]]:
    for head, own in now.verdicts.items():
        before = then.verdicts.get(head, {})
        for verdict, row in before.items():
            if verdict not in own:
                yield _change(head, "verdict", verdict, None, row)
        for verdict, row in own.items():
            if verdict not in before:
                yield _change(head, "verdict", None, verdict, row)


def _role_changes(now: _Judged, then: _Judged) -> Iterator[dict[str, Any]]:
    """By the number of the more special of the two roles: a mixed head has no line of its own."""
    for head, row in now.roles.items():
        before = then.roles.get(head, {"role": None})
        if row["role"] != before["role"]:
            plain = row["role"] in (MIXED, None) and before["role"] is not None
            yield _change(head, "role", before["role"], row["role"], before if plain else row)


def _change(
    head: Head, kind: str, before: str | None, after: str | None, row: Mapping[str, Any]
) -> dict[str, Any]:
    named = dict(zip(HEAD, head, strict=True))
    return named | {
        "kind": kind,
        "before": before,
        "after": after,
        "measure": row.get("measure"),
        "line": row.get("threshold"),
    }


def _counts(
    judged: _Judged, side: str, against: str | None, changed: Sequence[Mapping[str, Any]]
) -> Iterator[dict[str, Any]]:
    """Heads per verdict and role that names one, or has just lost its last."""
    held = {
        "verdict": [name for own in judged.verdicts.values() for name in own],
        "role": [row["role"] for row in judged.roles.values() if row["role"] is not None],
    }
    for kind, there in held.items():
        own = [row for row in changed if row["kind"] == kind]
        gained, lost = ([row[end] for row in own] for end in ("after", "before"))
        for name in sorted({*there, *filter(None, lost)}):
            yield {
                "side": side,
                "against": against,
                "kind": kind,
                "name": name,
                "heads": there.count(name),
                "gained": None if against is None else gained.count(name),
                "lost": None if against is None else lost.count(name),
            }


def _changed_heads(
    differences: pl.DataFrame, both: pl.DataFrame, now: _Judged, then: _Judged, pair: Any
) -> list[dict[str, Any]]:
    each = both.group_by("side", "measure", maintain_order=True).agg(std=pl.col("value").std())
    spread = each.group_by("measure", maintain_order=True).agg(pl.max("std"))
    scaled = (
        differences.join(spread, on="measure", how="left", maintain_order="left")
        .with_columns(
            far=pl.when(pl.col("measure").is_in(COMPARED) & (pl.col("std") > 0)).then(
                (pl.col("difference") / pl.col("std")).abs()
            )
        )
        .sort("far", descending=True, nulls_last=True, maintain_order=True)
    )
    found = scaled.group_by(HEAD, maintain_order=True).agg(
        distance=(pl.col("far") ** 2).mean().sqrt(),
        of=pl.first("far"),
        measure=pl.first("measure"),
        difference=pl.first("difference"),
        error=pl.first("error"),
        beyond=pl.when(pl.col("beyond").count() > 0).then(pl.col("beyond").sum()).first(),
    )
    rows = []
    for row in found.sort(
        "distance", *HEAD, descending=[True, *[False] * 4], nulls_last=True
    ).to_dicts():
        head = _head(row)
        if row.pop("of") is None:  # nothing to compare it by
            row |= dict.fromkeys(("measure", "difference", "error"))
        role, role_before = (each.roles.get(head, {}).get("role") for each in (now, then))
        rows.append(
            pair
            | row
            | {"verdicts": ", ".join(now.verdicts[head]), "role": role}
            | {"verdicts_before": ", ".join(then.verdicts[head]), "role_before": role_before}
        )
    return rows


def _rows(frame: pl.DataFrame, first: str | None, *last: str) -> list[Any]:
    return frame.select(*([first] if first else []), *HEAD, *last).rows()


def _head(row: Mapping[str, Any]) -> Head:
    layer, occurrence, module, head = (row[name] for name in HEAD)
    return layer, occurrence, module, head
