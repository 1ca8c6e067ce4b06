"""What `headgauge compare RUN RUN …` asks: finished scans beside each other, head by head.

    found = compare_runs(["runs/before", "runs/after"], CompareOptions())
    found.tables["differences"]        # runs.comparison_schema

Runs have the same shape (layers × heads, lengths, N); models, checkpoints, quantisations or texts
may differ. Two are one pair, a series of more is held against its first run and each against the
one before it.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from headgauge.comparison.conditions import read_conditions
from headgauge.comparison.runs_changes import change_tables
from headgauge.comparison.runs_differences import (
    NO_MEANS,
    Side,
    difference_tables,
    side_of,
    side_row,
)
from headgauge.comparison.runs_result import RunComparison
from headgauge.errors import InputError, wholes
from headgauge.options.commands import CompareOptions
from headgauge.runs import (
    ABLATION,
    COMPARISON,
    REMEDY,
    REPRODUCTION,
    RULES,
    SIMULATION,
    VALIDATION,
    RunFolder,
    frame_schema,
    manifest,
)
from headgauge.runs.manifest_file import find_manifest
from headgauge.scanning import ScanResult

RESEARCH_TYPE = "comparison of finished measurements of attention heads"
PSEUDOCODE = (
    "For every head and measure: its mean over windows in each run, the difference, and the "
    "standard error of that, from paired windows where both runs read the same."
)
_OTHERS = (
    (SIMULATION, "a simulation, which has no heads"),
    (REPRODUCTION, "a reproduction: give the scans of its texts, in texts/"),
    (VALIDATION, "a validation: give the scans of its parts, in parts/"),
    (RULES, "a comparison of rules in one model"),
    (ABLATION, "an ablation: scan with --effects to compare what heads are worth"),
    (COMPARISON, "a comparison: give the runs that it compares"),
    (REMEDY, "a trial of remedies: give the scan that it began with"),
)


def single_run(given: Any) -> None:
    """Refuse one run where a model is wanted."""
    named = isinstance(given, (str, Path)) and Path(given).is_dir()
    if isinstance(given, ScanResult) or (named and find_manifest(Path(given))):
        what = f"the run {given}" if named else "one scan"
        raise InputError(f"{what} was given alone: give two runs or more, or one model")


def compare_runs(given: Sequence[Any], asked: CompareOptions) -> RunComparison:
    """Hold finished scans, or their folders, against each other, in the order given."""
    conditions = read_conditions(asked.fail_on)
    scans = [_chosen(_opened(each), asked) for each in given]
    first = scans[0]
    # One line for all: verdicts are to differ because heads do.
    lines = (*first.thresholds, *first.role_lines)
    names = _names(scans)
    _check_shapes(names, scans)
    modules = first.heads.select("layer", "occurrence", "module").unique()
    sides = [
        side_of(name, _as_first(scan.with_thresholds(lines), modules))
        for name, scan in zip(names, scans, strict=True)
    ]
    if len({_rows(side) for side in sides}) > 1:
        unbiased = ~pl.col("measure").is_in(NO_MEANS)
        sides = [replace(side, windows=side.windows.filter(unbiased)) for side in sides]
    found: dict[str, Any] = {"sides": [side_row(side) for side in sides]}
    found |= difference_tables(sides)
    found |= change_tables(sides, found["values"], found["differences"])
    tables = {name: _table(name, rows) for name, rows in found.items()}
    settings = _identity(sides, asked)
    made = manifest(settings, "cpu", research_type=RESEARCH_TYPE, pseudocode=PSEUDOCODE)
    made["notes"] = _notes(sides)
    result = RunComparison(made, tables, None, conditions)
    result.failing()  # a condition that cannot be asked is refused before anything is written
    if asked.out is None:
        return result
    folder = RunFolder.open(asked.out, settings, COMPARISON)
    folder.describe(made)
    for name, table in tables.items():
        folder.write(name, table)
    folder.finish(made["notes"])
    return replace(RunComparison.load(asked.out), conditions=conditions)


def _opened(given: Any) -> ScanResult:
    """A scan; of anything else a line that says what it is."""
    if isinstance(given, ScanResult):
        return given
    if not isinstance(given, (str, Path)):
        raise InputError(f"two things or more are finished scans or their folders, got {given!r}")
    folder = Path(given)
    if not folder.is_dir() or find_manifest(folder) is None:
        what = "there is no such folder" if not folder.exists() else "it holds no run"
        raise InputError(
            f"{given} is no run of headgauge: {what}; two names or more are folders of finished "
            "scans, and one is a model"
        )
    for layout, what in _OTHERS:
        if layout.is_in(folder):
            raise InputError(f"{given} is {what}; runs that are compared are scans")
    return ScanResult.load(folder)


def _chosen(scan: ScanResult, asked: CompareOptions) -> ScanResult:
    """The layers and heads that were asked for, at the longest length."""
    wanted = {"layer": wholes("layers", asked.layers), "head": wholes("heads", asked.heads)}
    heads, curves = scan.heads, scan.curves
    for name, numbers in wanted.items():
        if numbers is None:
            continue
        there = heads[name].unique()
        for each in numbers:
            if each not in there:
                raise InputError(f"{scan.caption()}: there is no {name} {each} in this run")
        heads, curves = (table.filter(pl.col(name).is_in(numbers)) for table in (heads, curves))
    return replace(scan, tables={"heads": heads, "curves": curves})


def _names(scans: Sequence[ScanResult]) -> list[str]:
    """Each run's own: its folder's, with what is above it where two have the same, else its
    model's; a number tells the rest apart."""
    folders = [None if scan.folder is None else scan.folder.absolute() for scan in scans]
    models = [(scan.manifest["model"] or {"name": "run"})["name"] for scan in scans]
    short = [
        model if folder is None else folder.name
        for folder, model in zip(folders, models, strict=True)
    ]
    counted = Counter(short)
    names: list[str] = []
    for name, folder in zip(short, folders, strict=True):
        if counted[name] > 1 and folder is not None:
            name = f"{folder.parent.name}/{name}"
        turns = sum(each == name or each.startswith(f"{name} (") for each in names)
        names.append(f"{name} ({turns + 1})" if turns else name)
    return names


def _check_shapes(names: Sequence[str], scans: Sequence[ScanResult]) -> None:
    """Refuse runs whose heads, lengths or N are not the same."""
    place = ("layer", "occurrence", "head")
    heads = [set(scan.heads.select(place).unique().rows()) for scan in scans]
    for name, other in zip(names[1:], heads[1:], strict=True):
        if other != heads[0]:
            shapes = [_shape(each) for each in (heads[0], other)]
            lacking = sorted(heads[0] ^ other)[0]
            more = f"; only one of them has layer {lacking[0]}, head {lacking[2]}"
            raise InputError(
                f"runs of different shapes cannot be compared: {names[0]} has {shapes[0]}, {name} "
                f"{shapes[1]}{more * (shapes[0] == shapes[1])}"
            )
    for what, option, found in (
        ("L", "--length and --lengths", [_numbers(scan.heads["length"]) for scan in scans]),
        ("N", "--top-n", [_numbers(scan.curves["top_n"]) for scan in scans]),
    ):
        for name, other in zip(names[1:], found[1:], strict=True):
            if other != found[0]:
                raise InputError(
                    f"runs of different {what} cannot be compared: {names[0]} has {what} = "
                    f"{found[0]}, {name} {other}; scan both with the same {option}"
                )


def _shape(heads: set[tuple[int, int, int]]) -> str:
    layers = len({each[:2] for each in heads})
    return f"{layers} layers × {len({each[2] for each in heads})} heads ({len(heads)} in all)"


def _numbers(column: pl.Series) -> str:
    return ", ".join(map(str, column.unique().sort().to_list()))


def _as_first(scan: ScanResult, modules: pl.DataFrame) -> ScanResult:
    """Its heads with the names of the first run's modules: another model may have others."""
    on = ["layer", "occurrence"]
    tables = {
        name: table.drop("module").join(modules, on=on, how="left", maintain_order="left")
        for name, table in scan.tables.items()
    }
    return replace(
        scan, tables={name: tables[name].select(scan.tables[name].columns) for name in tables}
    )


def _identity(sides: Sequence[Side], asked: CompareOptions) -> dict[str, Any]:
    """What two comparisons must share to be the same: the runs, as their tables are, and which
    heads."""
    known = [
        {
            "name": side.name,
            "settings": side.scan.manifest["settings"],
            "heads": side.scan.manifest["tables"].get("heads", {}).get("sha256"),
        }
        for side in sides
    ]
    layers, heads = wholes("layers", asked.layers), wholes("heads", asked.heads)
    return {"runs": known, "layers": layers, "heads": heads}


def _notes(sides: Sequence[Side]) -> list[str]:
    """What each run has to say of itself, and whether they measured different rows."""
    notes = [f"{side.name}: {line}" for side in sides for line in side.scan.manifest["notes"]]
    counts, drawn = {_rows(side) for side in sides}, {_drawn(side) for side in sides}
    if len(drawn) > 1:
        told = ", ".join(f"{_drawn(side)} in {side.name}" for side in sides)
        notes.append(f"query rows of a window: {told}; differences have in them which were drawn")
    if len(counts) > 1:
        notes.append(
            f"not compared: {', '.join(NO_MEANS)}, which are no means over rows: they are of "
            "another size where fewer are measured, and so may verdicts by them be"
        )
    return notes


def _rows(side: Side) -> int | None:
    """How many query rows of a window were measured; None for all."""
    rows = side.scan.manifest["settings"].get("rows")
    return None if rows is None or rows >= side.length else rows


def _drawn(side: Side) -> str:
    rows = _rows(side)
    return "all" if rows is None else f"{rows} (seed {side.scan.manifest['settings']['seed']})"


def _table(name: str, rows: list[dict[str, Any]] | pl.DataFrame) -> pl.DataFrame:
    schema = frame_schema(COMPARISON.tables[name])
    if isinstance(rows, pl.DataFrame):
        return rows.select(pl.col(each).cast(kind) for each, kind in schema.items())
    return pl.DataFrame(rows, schema=schema)
