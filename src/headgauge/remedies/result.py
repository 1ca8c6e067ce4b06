"""What came of tried remedies."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import polars as pl

from headgauge.registry.names import listed
from headgauge.remedies import limits
from headgauge.runs import REMEDY, Data, Manifest, Model, load_run
from headgauge.scanning.summary import guessing
from headgauge.scanning.thresholds import VERDICTS
from headgauge.shown import Shown

SCAN_FOLDER = "scan"


@dataclass(frozen=True, eq=False, repr=False)
class Remedies(Shown):
    """`tables` has the frames of `runs.remedy_schema` by name."""

    manifest: Manifest
    tables: dict[str, pl.DataFrame]
    folder: Path | None = None

    @property
    def trials(self) -> pl.DataFrame:
        """One row per verdict and remedy: what it did, and in a `word`."""
        return self.tables["trials"]

    @staticmethod
    def load(folder: str | Path) -> "Remedies":
        """Finished trials from their folder; nothing is computed again."""
        run = load_run(folder, REMEDY)
        return Remedies(run.manifest, run.tables, Path(folder))

    @staticmethod
    def is_in(folder: str | Path) -> bool:
        return REMEDY.is_in(folder)

    def heads(self) -> pl.DataFrame:
        """What the heads with a verdict are judged by, over the judged windows: `before` and
        `after`, one row per verdict, remedy, head and measure."""
        own = self.tables["numbers"].filter(draw=0)
        by = ("verdict", "layer", "occurrence", "module", "head", "measure")
        before, after = (
            own.filter(pl.col("remedy").is_null() == first)
            .group_by(*by, *(() if first else ("remedy",)), maintain_order=True)
            .agg(pl.mean("number"))
            for first in (True, False)
        )
        return (
            after.rename({"number": "after"})
            .join(before.rename({"number": "before"}), on=by, how="left", maintain_order="left")
            .select("verdict", "remedy", *by[1:], "before", "after")
        )

    def caption(self) -> str:
        """What was measured, in a line for a figure or the head of a page."""
        model, data = cast(Model, self.manifest["model"]), cast(Data, self.manifest["data"])
        weights = f" ({model['quantisation']} weights)" if model["quantisation"] else ""
        windows, chosen = self._settings["windows"], self._settings["calibration"]
        return (
            f"{model['name']}{weights}, {data['name']}, L = {max(self._settings['lengths'])}, "
            f"{windows} judged window{'s' * (windows > 1)}, {chosen} to choose by"
        )

    def stands(self) -> list[str]:
        """What the words stand on: said before any of them."""
        splits, scan = cast(Any, self.manifest["splits"]), self._settings["scan"]
        losses = self.tables["losses"].unique("window", maintain_order=True)["clean"].drop_nulls()
        loss = "" if losses.is_empty() else f", loss {losses.mean():.4f} nats per token"
        count = self.trials.height
        return [
            self.caption(),
            f"heads are named on {scan['windows']} windows of {max(scan['lengths'])} tokens from "
            f"token {scan['offset']}, judged from token {splits['offset']}{loss}",
            f"{count} remed{'ies' if count != 1 else 'y'}; the intervals are over windows and hold "
            f"all at once with 95 %; control: random heads of the same layers that do not have the "
            f"verdict, {self._settings['draws']} draw{'s' * (self._settings['draws'] != 1)}",
        ]

    @property
    def _settings(self) -> dict[str, Any]:
        return self.manifest["settings"]

    def finding(self) -> str:
        """What helps, what does harm, what it does to the verdict and what nobody could try."""
        if self.trials.is_empty():
            return self._nothing()
        told = []
        for word in limits.WORDS:
            rows = self.trials.filter(word=word).to_dicts()
            each = [f"{row['rule']} for {row['verdict']} ({_numbers(row)})" for row in rows]
            told += [f"{word[0].upper()}{word[1:]}: {listed(each)}."] * bool(each)
        lost = [
            f"{row['held'] - row['left']} of {row['held']} {row['verdict']} heads by {row['rule']}"
            for row in self.trials.filter(pl.col("left") < pl.col("held")).to_dicts()
        ]
        told += [f"The verdict goes from {listed(lost)}."] * bool(lost)
        return " ".join([*told, *self._cannot()])

    def _nothing(self) -> str:
        asked = [each for each in VERDICTS if each in self._settings["verdicts"]]
        if not self.tables["untried"].is_empty():
            return " ".join(["Nothing could be tried.", *self._cannot()])
        return (
            f"No head of the scan has a verdict to try a remedy on ({', '.join(asked)}): there is "
            "nothing to remedy, and nothing was tried."
        )

    def _cannot(self) -> list[str]:
        why = [f"{row['verdict']}: {row['why']}" for row in self.tables["untried"].to_dicts()]
        return [f"What cannot be tried on a trained model: {'; '.join(why)}."] * bool(why)

    def warnings(self) -> list[str]:
        """Why the numbers may be no result: said before any of them."""
        facts = cast(Model, self.manifest["model"])["facts"]
        clean = self.tables["losses"]["clean"].drop_nulls().to_list()
        found = guessing(clean, facts.get("vocabulary"))
        return [found] if found else []

    def notes(self) -> list[str]:
        """What a reader must know, the warnings first."""
        return list(dict.fromkeys([*self.warnings(), *self.manifest["notes"]]))

    def __repr__(self) -> str:
        told = [
            f"{verdict} {rule} {word}"
            for verdict, rule, word in self.trials.select("verdict", "rule", "word").rows()
        ]
        return f"<remedies: {self.caption()}; {', '.join(told) or 'nothing to try'}>"


def _numbers(row: dict[str, Any]) -> str:
    """The change of the loss beside that of random heads."""
    if row["change"] is None:
        return "the loss is not finite"
    error = "" if row["error"] is None else f" ± {row['error']:.2g}"
    beside = "" if row["random"] is None else f", random heads {signed(row['random'])}"
    return f"{signed(row['change'])}{error} nats{beside}"


def signed(value: float) -> str:
    """+0.012, −0.0031."""
    return f"{value:+.2g}".replace("-", "−")
