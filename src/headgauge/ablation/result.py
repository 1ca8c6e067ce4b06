"""What an ablation found."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import cast

import polars as pl

from headgauge import runs
from headgauge.measure.bos_check import bos_notes
from headgauge.measure.effects import effect_notes, means_by_head
from headgauge.models.ablation import Means


@dataclass(frozen=True, eq=False, repr=False)
class Ablation(runs.Run):
    """The tables of `runs.ABLATION` by name.

    `manifest` says how they came about, `folder` where they are kept (None: only here).
    """

    @staticmethod
    def of(run: runs.Run) -> "Ablation":
        return Ablation(run.manifest, run.tables, None, run.folder)

    @staticmethod
    def load(folder: str | Path) -> "Ablation":
        """A finished run from its folder."""
        return Ablation.of(runs.load_run(folder, runs.ABLATION))

    @staticmethod
    def is_in(folder: str | Path) -> bool:
        return runs.ABLATION.is_in(folder)

    @property
    def effects(self) -> pl.DataFrame:
        """One row per head or group, the largest effect first."""
        return self.tables["effects"]

    @cached_property
    def means(self) -> Means | None:
        """What stood in the place of each (layer, head); None where that was zero."""
        found = self.tables.get("means")
        return None if found is None else means_by_head(found)

    def loss(self) -> float | None:
        """Of the whole model, mean over the windows."""
        found = [unit["loss"] for unit in self.manifest["units"].values()]
        losses = [float(each) for each in found if each is not None]
        return sum(losses) / len(losses) if losses else None

    def notes(self) -> list[str]:
        """What a reader must know."""
        found = self.manifest
        return [*found["notes"], *bos_notes(found), *effect_notes(found)]

    def caption(self) -> str:
        """What was measured, in a line."""
        model = cast(runs.Model, self.manifest["model"])
        data = cast(runs.Data, self.manifest["data"])
        weights = f" ({model['quantisation']} weights)" if model["quantisation"] else ""
        chosen = self.manifest["settings"]
        windows = f"{chosen['windows']} window{'s' * (chosen['windows'] > 1)}"
        return (
            f"{model['name']}{weights}, {data['name']}, {windows} of {max(chosen['lengths'])} "
            f"tokens, loss {self.loss():.4f} nats per token"
        )

    def __repr__(self) -> str:
        return f"<ablation of {self.effects.height}: {self.caption()}>"
