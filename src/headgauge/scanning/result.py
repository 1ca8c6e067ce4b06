"""What a scan found: tables, verdicts, trends, and how to keep and show them."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, cast

import polars as pl

from headgauge import runs
from headgauge.errors import InputError
from headgauge.models import Recognised
from headgauge.runs.json_files import plain
from headgauge.runs.manifest import Outlook, UnitRecord
from headgauge.runs.manifest_file import changed_manifest
from headgauge.scanning import capacity as trends
from headgauge.scanning import depth_prediction, summary, words
from headgauge.scanning import verdicts as judging
from headgauge.scanning.grounds import Grounds, grounds
from headgauge.scanning.thresholds import DEFAULT, Threshold, read_thresholds

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False, repr=False)
class ScanResult:
    """The tables of `headgauge.runs.schema`, one row per window and head, and what follows.

    `manifest` says how they came about, `folder` where they are kept (None: only here). `depth` is
    the residual stream by layer, where it was asked for.
    """

    manifest: runs.Manifest
    heads: pl.DataFrame
    curves: pl.DataFrame
    samples: pl.DataFrame
    rows: pl.LazyFrame | None = None
    folder: Path | None = None
    thresholds: tuple[Threshold, ...] = DEFAULT
    units: tuple[runs.UnitTables, ...] = field(default=(), kw_only=True)
    depth: pl.DataFrame | None = field(default=None, kw_only=True)

    @staticmethod
    def of_units(manifest: runs.Manifest, units: Sequence[runs.UnitTables]) -> "ScanResult":
        """From units that are in memory."""
        manifest["units"] = {
            unit.key.name: cast(UnitRecord, plain(asdict(unit.facts))) for unit in units
        }
        rows = [unit.rows.lazy() for unit in units if unit.rows is not None]
        depth = [unit.depth for unit in units if unit.depth is not None]
        return ScanResult(
            manifest,
            pl.concat([unit.heads for unit in units]),
            pl.concat([unit.curves for unit in units]),
            pl.concat([unit.samples for unit in units]),
            pl.concat(rows) if rows else None,
            units=tuple(units),
            depth=pl.concat(depth) if depth else None,
        )

    @staticmethod
    def load(folder: str | Path) -> "ScanResult":
        """A finished run from its folder."""
        run = runs.load_run(folder)
        tables = (run.heads, run.curves, run.samples, run.rows)
        depth = run.table("depth") if "depth" in run.manifest["tables"] else None
        return ScanResult(run.manifest, *tables, run.path, depth=depth)

    def with_thresholds(self, thresholds: str | Path | Sequence[Threshold]) -> "ScanResult":
        """The same tables judged by other thresholds: a TOML file, or a table of them."""
        if isinstance(thresholds, (str, Path)):
            return replace(self, thresholds=read_thresholds(thresholds))
        return replace(self, thresholds=tuple(thresholds))

    def verdicts(self, length: int | None = None) -> pl.DataFrame:
        """One row per head and verdict, with number, threshold, source and remedy."""
        return judging.verdicts(self.heads, self.curves, self.thresholds, length)

    def frame(self) -> pl.DataFrame:
        """One row per head, the worst first: its verdicts and main numbers over the windows."""
        return self._frame

    @cached_property
    def _frame(self) -> pl.DataFrame:
        return summary.head_table(self.heads, self.curves, self.verdicts(), self.thresholds)

    def layers(self) -> pl.DataFrame:
        """One row per attention module."""
        return summary.layer_summary(self.frame())

    def counts(self) -> pl.DataFrame:
        """How many heads each verdict names."""
        return summary.counts(self.verdicts())

    def capacity(self, target: int) -> pl.DataFrame:
        """Each head's trend over the scanned lengths and its prediction at `target`."""
        if target not in self._trends:
            found = trends.capacity(self.heads, self.curves, target, self.thresholds)
            self._trends[target] = found
        return self._trends[target]

    @cached_property
    def _trends(self) -> dict[int, pl.DataFrame]:
        """By target: the outlook and its grounds are asked for by terminal and page alike."""
        return {}

    def outlook(self, target: int) -> pl.DataFrame:
        """How many heads each verdict names now, and at `target` by their trends."""
        return trends.outlook(self.capacity(target), self.thresholds)

    def outlook_grounds(self, target: int) -> Grounds:
        """What the intervals of the outlook stand on: degrees of freedom, and how far tested."""
        return grounds(self.capacity(target))

    def keep_outlook(self, target: int) -> "ScanResult":
        """The result with the outlook at `target` in its manifest and so on its page; where it has
        a folder, the manifest there is written too."""
        told = Outlook(
            target=target,
            verdicts=self.outlook(target).to_dicts(),
            grounds=self.outlook_grounds(target).as_dict(),
        )
        kept = cast(Outlook, plain(told))
        if self.folder is not None:
            with changed_manifest(self.folder) as made:
                made["outlook"] = kept
        return replace(self, manifest={**self.manifest, "outlook": kept})

    def target(self) -> int | None:
        """The length its outlook is at; None where none was asked for."""
        asked = self.manifest.get("outlook")
        return None if asked is None else asked["target"]

    def scheme(self) -> Recognised:
        """Where the model has its norms: the scheme's name or None, and the evidence."""
        return depth_prediction.scheme_of(self._followed())

    def depth_curves(self) -> pl.DataFrame:
        """What every scheme's reduced system predicts from where the model starts."""
        return self._depth_curves

    @cached_property
    def _depth_curves(self) -> pl.DataFrame:
        """Solved once: terminal, page and figure ask for them."""
        return depth_prediction.depth_curves(self._followed(), self._kind() != "encoder")

    def depth_layers(self) -> pl.DataFrame:
        """One row per layer: the stream, and what the model's own scheme predicts of it."""
        return depth_prediction.by_layer(self._followed(), self.depth_curves())

    def _followed(self) -> pl.DataFrame:
        if self.depth is None:
            raise InputError("this scan did not follow the stream: repeat it with depth")
        return self.depth

    def _kind(self) -> str:
        known = self.manifest["model"]
        return "decoder" if known is None else known["facts"]["kind"]

    def notes(self) -> list[str]:
        """What a reader must know: layers that could not be seen, verdicts that were not given."""
        found = self.warnings() + words.run_notes(self.manifest)
        if self.depth is not None:
            found += depth_prediction.depth_notes(self.depth, self._kind())
        return found + judging.not_judged(self.curves, self.thresholds)

    def warnings(self) -> list[str]:
        """Why the numbers may be no result: said before any of them, the gravest first."""
        return [note for note in (summary.not_finite(self.heads), self.untrained()) if note]

    def caption(self) -> str:
        """What was measured, in a line for a figure or the head of a page."""
        return words.caption(self.manifest, self.heads)

    def stands(self) -> list[str]:
        """What the numbers stand on: said before any of them."""
        return words.stands(self.manifest, self.heads)

    def untrained(self) -> str | None:
        """Why nothing here is a result, if the model predicts no better than by guessing."""
        return words.untrained(self.manifest)

    def seconds(self) -> dict[str, dict[str, float]]:
        """What each unit took, by phase."""
        if self.units:
            return {unit.key.name: dict(unit.facts.seconds) for unit in self.units}
        return self.manifest["times"]["units"]

    def draw(self) -> list[Path]:
        """The page and the figures, into the run's folder; the page first."""
        # Only here does a result reach for the report: whoever computes need not load matplotlib.
        from headgauge.report.figures import save_figures
        from headgauge.report.page import page, write_page

        written = write_page(self._drawn_in(), page(self))
        return [written, *save_figures(self, self._drawn_in())]

    def plot(
        self, layer: int | str = "heads", head: int | None = None, *, module: str | None = None
    ) -> "Figure":
        """One figure, as matplotlib has them: `plot(3, 5)` is layer 3, head 5, and `plot(name)` the
        one of that name in figures/, such as "heads", "sink_weight", "separability" or "depth";
        "curves" has a line over N for each head. `module` tells attention in one layer apart."""
        from headgauge.report.figures import plot

        return plot(self, layer, head, module=module)

    def _drawn_in(self) -> Path:
        if self.folder is None:
            raise InputError("this result has no folder to draw into: save it first")
        return self.folder

    def save(self, folder: str | Path) -> "ScanResult":
        """Write a run's folder with tables, manifest and figures; the result that lives there."""
        if self.folder is None or Path(folder) != self.folder:
            run = runs.RunFolder.open(folder, self.manifest["settings"])
            run.write_manifest(self.manifest)
            units = self.units or self._split()
            for unit in units:
                run.add(unit)
            run.merge(unit.key for unit in units)
        kept = ScanResult.load(folder).with_thresholds(self.thresholds)
        kept.draw()
        return kept

    def _split(self) -> tuple[runs.UnitTables, ...]:
        """The units again, of a result that was loaded."""
        times = self.manifest["times"]["units"]
        units = []
        for name, record in self.manifest["units"].items():
            key = runs.UnitKey.from_name(name)
            assert key is not None
            mine = {"window": key.window, "length": key.length}
            facts = runs.UnitFacts.from_json({**record, "seconds": times.get(name, {})})
            rows = None if self.rows is None else self.rows.filter(**mine).collect()
            heads, curves, samples = (
                table.filter(**mine) for table in (self.heads, self.curves, self.samples)
            )
            depth = None if self.depth is None else self.depth.filter(**mine)
            units.append(runs.UnitTables(key, heads, curves, samples, rows, facts, depth=depth))
        return tuple(units)

    def _repr_html_(self) -> str:
        from headgauge.report.notebook import result_html

        return result_html(self.frame(), self.counts(), self.caption(), self.warnings())

    def __repr__(self) -> str:
        known = self.manifest["model"]
        found = ", ".join(
            f"{heads} {verdict}"
            for verdict, heads in self.counts().select("verdict", "heads").iter_rows()
            if heads
        )
        return (
            f"<{''.join(f'{line}; ' for line in self.warnings())}"
            f"scan of {known['name'] if known else 'a model'}: {len(self.frame())} heads, "
            f"{self.heads['window'].n_unique()} windows; {found}>"
        )
