"""What a scan found: tables, verdicts, trends, and how to keep and show them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import cast

import polars as pl

from headgauge import runs
from headgauge.errors import InputError
from headgauge.measure.bos_check import bos_notes
from headgauge.measure.effects import effect_notes
from headgauge.measure.head_facts import why_no_scores
from headgauge.models import Recognised
from headgauge.registry.measures import BY_LARGEST
from headgauge.runs.json_files import plain
from headgauge.runs.manifest import Outlook
from headgauge.runs.manifest_file import changed_manifest
from headgauge.scanning import capacity as trends
from headgauge.scanning import depth_prediction, overview, summary
from headgauge.scanning import roles as naming
from headgauge.scanning import verdicts as judging
from headgauge.scanning.grounds import Grounds, grounds
from headgauge.scanning.threshold_file import read_thresholds
from headgauge.scanning.thresholds import DEFAULT, ROLE_LINES, ROLES, Threshold
from headgauge.shown import Shown

SCANNED = ("heads", "curves", "samples", "matrices", "tokens", "spans", "depth", "means")


@dataclass(frozen=True, eq=False, repr=False)
class ScanResult(runs.Run, Shown):
    """The tables of `headgauge.runs.schema` by name, one row per window and head, and what follows.

    `manifest` says how they came about, `folder` where they are kept (None: only here). `rows` may
    be large and is read when it is collected; None if not kept.
    """

    thresholds: tuple[Threshold, ...] = DEFAULT
    role_lines: tuple[Threshold, ...] = ROLE_LINES

    @property
    def heads(self) -> pl.DataFrame:
        return self.tables["heads"]

    @property
    def curves(self) -> pl.DataFrame:
        return self.tables["curves"]

    @property
    def samples(self) -> pl.DataFrame:
        return self.tables["samples"]

    @property
    def depth(self) -> pl.DataFrame | None:
        """The residual stream by layer, where it was asked for."""
        return self.tables.get("depth")

    @property
    def spans(self) -> pl.DataFrame | None:
        """The weight on parts of the text, where it was asked for."""
        return self.tables.get("spans")

    @staticmethod
    def of(run: runs.Run) -> "ScanResult":
        """What a scan can be asked, of its run or that of a text in a reproduction."""
        tables = {name: run.tables[name] for name in SCANNED if name in run.tables}
        return ScanResult(run.manifest, tables, run.rows, run.folder)

    @staticmethod
    def load(folder: str | Path) -> "ScanResult":
        """A finished run from its folder."""
        return ScanResult.of(runs.load_run(folder, names=SCANNED))

    def with_thresholds(self, thresholds: str | Path | Sequence[Threshold]) -> "ScanResult":
        """The same tables judged by other thresholds: a TOML file, or a table of them, where
        lines of roles may be among them."""
        if isinstance(thresholds, (str, Path)):
            thresholds = read_thresholds(thresholds)
        lines = tuple(each for each in thresholds if each.verdict in ROLES)
        judged = tuple(each for each in thresholds if each.verdict not in ROLES)
        return replace(self, thresholds=judged, role_lines=lines or self.role_lines)

    def verdicts(self, length: int | None = None) -> pl.DataFrame:
        """One row per head and verdict, with number, threshold, source and remedy."""
        return judging.verdicts(self.heads, self.curves, self.thresholds, length)

    def roles(self, length: int | None = None) -> pl.DataFrame:
        """One row per head: what it does, the number that says so and its line."""
        return naming.roles(self.heads, self.curves, self.role_lines, length)

    def role_counts(self) -> pl.DataFrame:
        """How many heads have each role."""
        return summary.counts(self.roles(), "role", ROLES)

    def frame(self) -> pl.DataFrame:
        """One row per head, the worst first: its verdicts and main numbers over the windows."""
        return self._frame

    @cached_property
    def _frame(self) -> pl.DataFrame:
        return summary.head_table(
            self.heads, self.curves, self.verdicts(), self.thresholds, self.role_lines
        )

    def worst(self) -> tuple[pl.DataFrame, str]:
        """`frame()` by what matters, heads with a fault first, and the column that says so: their
        effect where it is known, else how much they add."""
        return summary.worst_first(self.frame())

    def layers(self) -> pl.DataFrame:
        """One row per attention module."""
        return summary.layer_summary(self.frame())

    def counts(self) -> pl.DataFrame:
        """How many heads each verdict names."""
        return summary.counts(self.verdicts())

    def remedies(self) -> pl.DataFrame:
        """What each verdict that occurs means, what to do about it, and who is farthest off."""
        return overview.remedies(self.verdicts(), self.frame())

    def similar(self, count: int = 5) -> list[list[int]]:
        """For each row of `frame()` the rows of the heads most like it, the nearest first."""
        return overview.similar(self.frame(), count)

    def finding(self) -> str:
        """What was found, what to do about it and how sure that is, in a paragraph."""
        if self.untrained():
            return "The weights are random: the numbers show how they are measured, no more."
        target = self.target()
        ahead = None if target is None else (target, self.outlook(target))
        return overview.finding(self.frame(), self.counts(), self.verdicts(), ahead)

    def capacity(self, target: int) -> pl.DataFrame:
        """Each head's trend over the scanned lengths and its prediction at `target`."""
        return self._trends(target)

    @cached_property
    def _trends(self) -> Callable[[int], pl.DataFrame]:
        """Fitted once a target: terminal and page ask for the outlook and its grounds."""
        tables = self.heads, self.curves
        return cache(lambda target: trends.capacity(*tables, target, self.thresholds))

    def outlook(self, target: int) -> pl.DataFrame:
        """How many heads each verdict names now, and at `target` by their trends."""
        return trends.outlook(self.capacity(target), self.thresholds)

    def outlook_grounds(self, target: int) -> Grounds:
        """What the intervals of the outlook stand on: degrees of freedom, and how far tested."""
        return grounds(self.capacity(target))

    def keep_outlook(self, target: int) -> "ScanResult":
        """The result with the outlook at `target` in its manifest and so on its page; where it has
        a folder, the manifest there is written too."""
        verdicts, stands = self.outlook(target).to_dicts(), self.outlook_grounds(target).as_dict()
        kept = cast(Outlook, plain(Outlook(target=target, verdicts=verdicts, grounds=stands)))
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
        return self._model()["facts"]["kind"]

    def _model(self) -> runs.Model:
        return cast(runs.Model, self.manifest["model"])  # a scan describes it before it runs

    def notes(self) -> list[str]:
        """What a reader must know: layers that could not be seen, verdicts that were not given."""
        records = self.manifest["units"].values()
        found = self.warnings() + list(self.manifest["notes"])
        found += self._sampled() + bos_notes(self.manifest) + effect_notes(self.manifest)
        for module in sorted({name for record in records for name in record["unseen"]}):
            found.append(f"{module} could not be measured: it is in no table and has no verdict")
        if tapped := sorted({name for record in records for name in record["tapped"]}):
            found.append(
                f"{len(tapped)} modules (such as {tapped[0]}) were seen at their softmax alone: "
                "values and output norms are null, their verdicts incomplete"
            )
        found += self._missing_roles()
        if self.depth is not None:
            found += depth_prediction.depth_notes(self.depth, self._kind())
        return found + judging.not_judged(self.curves, self.thresholds)

    def _sampled(self) -> list[str]:
        """What it means that only some of the rows were measured."""
        if not judging.is_sampled(self.heads):
            return []
        told = [
            f"{self.heads['rows'].max()} query rows of each window were measured: means have their "
            "sampling error (± one standard error) beside them, a largest logit is that of these "
            "rows, a lower bound, and the stable rank of the outputs is theirs"
        ]
        return told + [
            f"a head that is not {line.verdict} by {line.what} may be by a row not measured"
            for line in self.thresholds
            if line.measure in BY_LARGEST
        ]

    def _missing_roles(self) -> list[str]:
        """Why columns that say what a head does are null in all of them."""
        found, facts = [], self._model()["facts"]
        if self.heads["induction_score"].is_null().all():
            known = facts.get("vocabulary"), facts.get("context_length")
            why = (
                why_no_scores(facts["kind"], *known)
                or "no head of it could be seen on repeated random tokens"
            )
            found.append(f"induction_score and duplicate_score are null: {why}")
        repeats = self.heads["duplicate_mass"].is_null() & self.heads["self_mass"].is_not_null()
        if repeats.all() and facts["kind"] == "decoder":
            found.append(
                "duplicate_mass and induction_mass are null: no token of the windows occurs twice "
                "where a row sees both"
            )
        return found

    def warnings(self) -> list[str]:
        """Why the numbers may be no result: said before any of them, the gravest first."""
        return [note for note in (summary.not_finite(self.heads), self.untrained()) if note]

    def caption(self) -> str:
        """What was measured, in a line for a figure or the head of a page."""
        model, windows = self._model(), self.heads["window"].n_unique()
        weights = f" ({model['quantisation']} weights)" if model["quantisation"] else ""
        lengths = ", ".join(map(str, sorted(self.heads["length"].unique())))
        some = ""
        if judging.is_sampled(self.heads):
            some = (
                f", {self.heads['rows'].max()} of {self.heads['length'].max()} query rows per head"
            )
        return (
            f"{model['name']}{weights}, {self._data()['name']}, L = {lengths}, "
            f"{windows} window{'s' if windows > 1 else ''}{some}"
        )

    def stands(self) -> list[str]:
        """What the numbers stand on: said before any of them."""
        seen, data = self.heads["rows"], self._data()
        ends = " to ".join(dict.fromkeys(str(each) for each in (seen.min(), seen.max())))
        rows = "" if judging.is_sampled(self.heads) else f"; {ends} query rows per head and window"
        return [
            f"{self.caption()}{rows}",
            f"text {data['name']}: {data['origin']}",
        ]

    def _data(self) -> runs.Data:
        return cast(runs.Data, self.manifest["data"])

    def untrained(self) -> str | None:
        """Why nothing here is a result, if the model predicts no better than by guessing."""
        losses = [record["loss"] for record in self.manifest["units"].values()]
        found = [float(loss) for loss in losses if loss is not None]
        return summary.guessing(found, self._model()["facts"].get("vocabulary"))

    def seconds(self) -> dict[str, dict[str, float]]:
        """What each unit took, by phase."""
        return self.manifest["times"]["units"]

    def save(self, folder: str | Path) -> "ScanResult":
        """Write a run's folder with tables and manifest; the result that lives there."""
        if self.folder is None or Path(folder) != self.folder:
            run = runs.RunFolder.open(folder, self.manifest["settings"])
            run.describe(self.manifest)
            units = list(self._units())
            for name in self.tables.keys() - units[0].tables.keys():
                run.write(name, self.tables[name])
            for unit in units:
                runs.write_unit(run.path, unit)
            run.merge(unit.key for unit in units)
        return ScanResult.load(folder).with_thresholds(self.thresholds)

    def _units(self) -> Iterator[runs.UnitTables]:
        """The pieces that the tables are made of."""
        for name, record in self.manifest["units"].items():
            key = runs.UnitKey.from_name(name)
            assert key is not None
            of_windows = {k: v for k, v in self.tables.items() if "window" in v.columns}
            tables = {each: frame.filter(**vars(key)) for each, frame in of_windows.items()}
            if self.rows is not None:
                tables["rows"] = self.rows.filter(**vars(key)).collect()
            seconds = self.seconds().get(name, {})
            yield runs.UnitTables(key, tables, runs.UnitFacts(**record, seconds=seconds))

    def __repr__(self) -> str:
        counts = self.counts().select("verdict", "heads").iter_rows()
        found = ", ".join(f"{heads} {verdict}" for verdict, heads in counts if heads)
        return (
            f"<{''.join(f'{line}; ' for line in self.warnings())}"
            f"scan of {self._model()['name']}: {len(self.frame())} heads, "
            f"{self.heads['window'].n_unique()} windows; {found}>"
        )
