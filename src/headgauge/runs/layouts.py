"""Every kind of run: which tables its folder has, where they stand, and what must hold among them.

SCAN          DIR/TABLE.parquet           a scan, or the run of one text in a reproduction
ABLATION      DIR/TABLE.parquet           the loss without each head
RULES         DIR/TABLE.parquet           the same windows under several rules
REPRODUCTION  DIR/paper/TABLE.parquet     what the paper's figures show on all texts
SIMULATION    DIR/dynamics/TABLE.parquet  tokens as particles
VALIDATION    DIR/validation/TABLE.parquet  scores of heads beside their effects
COMPARISON    DIR/comparison/TABLE.parquet  finished scans held against each other
REMEDY        DIR/remedies/TABLE.parquet  what a verdict's remedy does

A reproduction has a SCAN of each text in texts/NAME (`text_folder`), a validation one of each part
in parts/NAME, tried remedies that of their model in scan/ unless they were given one.
"""

import math
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypedDict

import polars as pl

from headgauge.runs.comparison_schema import COMPARISON_TABLES
from headgauge.runs.dynamics_schema import DYNAMICS_TABLES
from headgauge.runs.manifest import Data, Facts, Model, Splits
from headgauge.runs.paper_schema import PAPER_TABLES
from headgauge.runs.remedy_schema import REMEDY_TABLES
from headgauge.runs.schema import (
    COMPARED,
    HEAD,
    ON_REQUEST,
    TABLES,
    EffectRow,
    FitRow,
    MeanRow,
    RuleRow,
)
from headgauge.runs.validation_schema import VALIDATION_TABLES

Frames = Mapping[str, pl.DataFrame]


@dataclass(frozen=True, eq=False)
class Layout:
    """`tables` names the type of a row of each; those `on_request` may not be there.

    `marked` is the table that tells it from another in the same place.
    `needs` has the form of those parts of the manifest that a reader relies on, by dotted name;
    `damage` says what no single column shows: the table, and what is wrong with it."""

    name: str
    tables: dict[str, type]
    folder: str = ""
    on_request: tuple[str, ...] = ()
    marked: str | None = None
    needs: dict[str, Any] = field(default_factory=dict)
    damage: Callable[[Frames], Iterator[tuple[str, str]]] = lambda tables: iter(())

    def is_in(self, folder: str | Path) -> bool:
        """Whether a run's folder has such tables, be they damaged."""
        there = os.path.isdir(Path(folder, self.folder))  # of a name that cannot be, too
        return there and (
            self.marked is None or os.path.isfile(self.file(Path(folder), self.marked))
        )

    def file(self, folder: Path, table: str) -> Path:
        return folder / self.folder / f"{table}.parquet"


def text_folder(text: str) -> str:
    """A text's name as the name of a folder: its run, its figures."""
    return re.sub(r"[^\w.-]+", "-", text).strip(".-") or "text"


class _ShownSettings(TypedDict):
    """The settings that figures and page of a simulation show."""

    tokens: int
    dim: int
    beta: float
    horizon: float
    seeds: int


class _TriedSettings(TypedDict):
    """The settings that figures and page of tried remedies show."""

    lengths: list[int]
    windows: int
    calibration: int
    draws: int


class _AblatedSettings(TypedDict):
    """The setting that figures and page of a validation show."""

    how: str


def _scan_damage(tables: Frames) -> Iterator[tuple[str, str]]:
    if not {"heads", "curves", "samples"} <= tables.keys():
        return
    counted = {"curves": tables["curves"].filter(pl.col("rows") > 0), "samples": tables["samples"]}
    counted |= {name: tables[name] for name in ("matrices", "tokens", "spans") if name in tables}
    for name, frame in counted.items():
        if frame.join(tables["heads"], on=HEAD, how="anti").height:
            yield name, "it has heads that heads.parquet lacks"


def _paper_damage(tables: Frames) -> Iterator[tuple[str, str]]:
    ends = tables["choices"].select(pl.col("plateau_low", "plateau_high").is_null())
    if (ends["plateau_low"] != ends["plateau_high"]).any():
        yield "choices", "a plateau has only one end"
    places = tables["fig1"].filter(panel="model").select("layer", "head", "row")
    if places.drop_nulls().height < places.height:
        yield "fig1", "a point of the model has no layer, head or row"


def _dynamics_damage(tables: Frames) -> Iterator[tuple[str, str]]:
    if tables["phase"].select("scheme", "tokens", "dim", "beta", "time").is_duplicated().any():
        yield "phase", "two rows for one β and time"
    places = tables["sphere"].select("scheme", "time", "particle")
    if math.prod(places[name].n_unique() for name in places.columns) != places.height:
        yield "sphere", "particles have no place at some time"


_DESCRIBED = {"model": Model, "data": Data, "splits": Splits, "model.facts": Facts}
# Tables that are made once for a run, before its units.
_ONCE: dict[str, type] = {"means": MeanRow}
_ELSEWHERE = ("window_effects", *COMPARED)
_SCAN = {name: row for name, row in TABLES.items() if name not in _ELSEWHERE} | _ONCE
SCAN = Layout("run", _SCAN, "", (*ON_REQUEST, *_ONCE), needs=_DESCRIBED, damage=_scan_damage)
ABLATION = Layout(
    "ablation",
    {"effects": EffectRow, "window_effects": TABLES["window_effects"]} | _ONCE,
    on_request=tuple(_ONCE),
    marked="effects",
    needs=_DESCRIBED,
)
RULES = Layout(
    "comparison of rules",
    {"rules": RuleRow, **{name: TABLES[name] for name in COMPARED}, "fits": FitRow},
    marked="rules",
    needs=_DESCRIBED,
)
REPRODUCTION = Layout("reproduction", PAPER_TABLES, "paper", damage=_paper_damage)
SIMULATION = Layout(
    "simulation",
    DYNAMICS_TABLES,
    "dynamics",
    needs={"settings": _ShownSettings},
    damage=_dynamics_damage,
)
VALIDATION = Layout(
    "validation", VALIDATION_TABLES, "validation", needs={"settings": _AblatedSettings}
)
COMPARISON = Layout("comparison", COMPARISON_TABLES, "comparison")
REMEDY = Layout(
    "remedy",
    REMEDY_TABLES,
    "remedies",
    needs={"settings": _TriedSettings, "model": Model, "data": Data, "splits": Splits},
)
