"""A rule as a scan: what is asked of a model's own heads can be asked of them under each rule.

A side is a rule in one of two places: on the original model's logits, or inside the swapped model.
The original stands first, once.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from headgauge import runs
from headgauge.comparison.runs_differences import difference_tables, side_of
from headgauge.measure.requests import OWN
from headgauge.runs.columns import Where
from headgauge.runs.schema import HEAD, TABLES, frame_schema
from headgauge.scanning import ScanResult

PLACES: dict[Where, str] = {"logits": "on its logits", "inside": "inside"}


@dataclass(frozen=True, eq=False)
class RuleSides:
    """The sides of a comparison by name; `titles` names each rule."""

    manifest: runs.Manifest
    tables: Mapping[str, pl.DataFrame]
    titles: Mapping[str, str]

    @cached_property
    def places(self) -> dict[str, tuple[str, Where]]:
        """By the name of a side its rule and where it was put."""
        found: dict[str, tuple[str, Where]] = {self.titles[OWN]: (OWN, "inside")}
        for where, words in reversed(PLACES.items()):
            for text, title in self.titles.items():
                if text != OWN:
                    found[f"{title}, {words}"] = text, where
        return found

    def scan(self, text: str, where: Where) -> ScanResult:
        """The heads under a rule, with the loss of the swapped model in its windows."""
        place = {"rule": text, "where": "inside" if text == OWN else where}
        tables = {
            name: self.tables[f"rule_{name}"].filter(**place).drop("rule", "where")
            for name in ("heads", "curves")
        }
        tables["samples"] = pl.DataFrame(schema=frame_schema(TABLES["samples"]))
        rows = self.tables["window_rules"].filter(rule=OWN if where == "logits" else text)
        losses = {
            runs.UnitKey(window, length).name: loss
            for window, length, loss in rows.select("window", "length", "loss").rows()
        }
        records = self.manifest["units"].items()
        units = {name: {**record, "loss": losses.get(name)} for name, record in records}
        return ScanResult({**self.manifest, "units": units}, tables)  # pyright: ignore

    @cached_property
    def scans(self) -> dict[str, ScanResult]:
        return {name: self.scan(*place) for name, place in self.places.items()}

    @cached_property
    def _held(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        """All values, and the differences of each side from the original."""
        first, *others = [side_of(name, scan) for name, scan in self.scans.items()]
        values, differences = [], []
        for other in others:
            both = difference_tables([first, other])
            values.append(both["values"].filter(pl.col("side").is_in([first.name, other.name])))
            differences.append(both["differences"])
        held = pl.concat(values).unique([*HEAD, "measure", "side"], maintain_order=True)
        return held, pl.concat(differences)

    def values(self) -> pl.DataFrame:
        """A row per head, `measure` and `side`: its `value` over windows."""
        return self._held[0]

    def differences(self) -> pl.DataFrame:
        """A row per head, measure and side: its paired difference to the original (`against`),
        with its standard error over windows."""
        return self._held[1]

    def marks(self) -> pl.DataFrame:
        """A row per head, side and verdict or role (`kind`, `name`)."""
        return pl.concat(self._marks())

    def _marks(self) -> Iterator[pl.DataFrame]:
        for name, scan in self.scans.items():
            for kind, found in (("verdict", scan.verdicts()), ("role", scan.roles())):
                named = found.drop_nulls(kind).select(*HEAD, name=pl.col(kind))
                yield named.with_columns(kind=pl.lit(kind), side=pl.lit(name))
