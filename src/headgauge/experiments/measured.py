"""The tables the figures are made of, as one pass over each window left them."""

from dataclasses import dataclass

import polars as pl

from headgauge import results
from headgauge.errors import InputError
from headgauge.results.schema import HEAD

CHOICE = ("vectors", "scale", "keys", "rule")


@dataclass(frozen=True, eq=False)
class Measured:
    """Everything a figure may read. One row per window and head, at each length."""

    curves: pl.DataFrame  # PaperCurveRow
    sensitivity: pl.DataFrame  # SensitivityRow
    points: pl.DataFrame  # KeyPointRow

    @staticmethod
    def of(run: results.Run) -> "Measured":
        """From a finished run of `headgauge reproduce`."""
        return Measured(run.table("paper_curves"), run.table("sensitivity"), run.table("points"))

    @property
    def length(self) -> int:
        """The longest L."""
        if self.curves.is_empty():
            raise InputError(
                "no attention of this model could be measured for the paper's figures: its layers "
                "could not be seen, or have no vectors of the chosen kind"
            )
        return int(self.curves["length"].max())  # pyright: ignore[reportArgumentType]

    @property
    def heads(self) -> int:
        return self.curves.select(HEAD).n_unique()
