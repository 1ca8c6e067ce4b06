"""The tables the figures are made of, as one pass over each window left them."""

from dataclasses import dataclass, replace

import polars as pl

from headgauge.errors import InputError
from headgauge.runs import Run
from headgauge.runs.schema import HEAD, PAPER

CHOICE = ("vectors", "scale", "keys", "rule")


@dataclass(frozen=True, eq=False)
class Measured:
    """Everything a figure may read, of one text. One row per window and head, at each length."""

    curves: pl.DataFrame  # PaperCurveRow
    sensitivity: pl.DataFrame  # SensitivityRow
    points: pl.DataFrame  # KeyPointRow
    vanishing: pl.DataFrame  # VanishingHeadRow
    shared_tokens: pl.DataFrame  # SharedTokenRow
    vector_sets: pl.DataFrame  # VectorSetRow
    heads: pl.DataFrame  # HeadRow, at the longest L

    @staticmethod
    def of(run: Run) -> "Measured":
        """From what a run of one text left."""
        found = {name: run.tables[name] for name in PAPER}
        return Measured(curves=found.pop("paper_curves"), heads=run.tables["heads"], **found)

    def with_curves(self, more: pl.DataFrame) -> "Measured":
        """The same with the curves of another pass, where this one has none of that choice."""
        here = self.curves.select(CHOICE).unique()
        return replace(self, curves=pl.concat([self.curves, more.join(here, CHOICE, "anti")]))

    @property
    def length(self) -> int:
        """The longest L."""
        if self.curves.is_empty():
            raise InputError(
                "no attention of this model could be measured for the paper's figures: its layers "
                "could not be seen, are not finite, or have no vectors of the chosen kind"
            )
        return int(self.curves["length"].max())  # pyright: ignore[reportArgumentType]

    @property
    def head_count(self) -> int:
        return self.curves.select(HEAD).n_unique()
