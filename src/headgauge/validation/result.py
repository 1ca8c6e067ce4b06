"""What a validation found: the scores of every measure, verdict and role, and what was decided."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from headgauge.registry.names import listed
from headgauge.runs import VALIDATION, Manifest, load_run, text_folder
from headgauge.runs.validation_schema import DEEPER, PARTS
from headgauge.scanning import ScanResult
from headgauge.shown import Shown
from headgauge.validation import limits
from headgauge.validation.scores import JUDGING, adjusted_level, comparisons

PARTS_FOLDER = "parts"
KINDS = ("verdict", "role", "measure")


@dataclass(frozen=True, eq=False, repr=False)
class Validation(Shown):
    """`parts` has a scan with effects for each part, `tables` the frames of
    `runs.validation_schema` by name."""

    manifest: Manifest
    parts: dict[str, ScanResult]
    tables: dict[str, pl.DataFrame]
    folder: Path | None = None

    @property
    def scores(self) -> pl.DataFrame:
        return self.tables["scores"]

    @staticmethod
    def load(folder: str | Path) -> "Validation":
        """A finished validation from its folder; nothing is computed again."""
        run = load_run(folder, VALIDATION)
        names = [name for name in PARTS if (Path(folder) / part_folder(name)).is_dir()]
        parts = {name: ScanResult.load(Path(folder) / part_folder(name)) for name in names}
        return Validation(run.manifest, parts, run.tables, Path(folder))

    @staticmethod
    def is_in(folder: str | Path) -> bool:
        return VALIDATION.is_in(folder)

    def comparisons(self) -> int:
        """How many intervals the adjusted ones allow for."""
        return comparisons(self.scores)

    def decided(self) -> pl.DataFrame:
        """One row per verdict, role and measure in the layers from 1 on: the `word`, the
        `statistic` it was decided by, and that with its adjusted interval on each judging part.
        Verdicts first, then roles, then measures, the farthest from .5 first.
        """
        rows = []
        for (kind, name), own in self.scores.filter(where=DEEPER).group_by(
            "kind", "name", maintain_order=True
        ):
            by = "auc" if kind == "measure" else "smaller"
            judged = own.filter(pl.col("part").is_in(JUDGING))
            ends = judged.select(f"{by}_adjusted_low", f"{by}_adjusted_high").rows()
            row = {"kind": kind, "name": name, "word": limits.decide(ends), "statistic": by}
            for part in JUDGING:
                here = own.filter(part=part).to_dicts() or [{}]
                row |= {part: here[0].get(by), f"{part} named": here[0].get("named")}
                row |= {f"{part} {end}": here[0].get(f"{by}_adjusted_{end}") for end in _ENDS}
            rows.append(row)
        types: dict[str, Any] = dict.fromkeys(("kind", "name", "word", "statistic"), pl.String)
        for part in JUDGING:
            types |= {part: pl.Float64, f"{part} named": pl.Int64}
            types |= {f"{part} {end}": pl.Float64 for end in _ENDS}
        found = pl.DataFrame(rows, schema=types)
        order = pl.col("kind").cast(pl.Enum(KINDS))
        far = (pl.mean_horizontal(*JUDGING) - 0.5).abs()
        return found.sort(order, far, descending=[False, True], nulls_last=True)

    def caption(self) -> str:
        """What was measured, in a line for a figure or the head of a page."""
        first, how = self.parts[PARTS[0]], self.manifest["settings"]["how"]
        texts = dict.fromkeys(_known(scan, "data")["name"] for scan in self.parts.values())
        windows = first.heads["window"].n_unique()
        return (
            f"{_known(first, 'model')['name']}, {listed(list(texts))}, "
            f"L = {first.heads['length'].max()}, {windows} window{'s' * (windows > 1)} a part, "
            f"heads replaced by {'their means' if how == 'mean' else 'zeros'}"
        )

    def stands(self) -> list[str]:
        """What the words stand on: said before any of them."""
        count, level = self.comparisons(), adjusted_level(self.comparisons())
        places = [f"{name}: {_place(scan)}" for name, scan in self.parts.items()]
        return [
            self.caption(),
            "; ".join(places),
            f"{count} comparisons on the judging parts; adjusted intervals hold all at once with "
            f"95 % ({100 * level:.3f} % each), over layers, and decide on every judging part",
        ]

    def finding(self) -> str:
        """What predicts, what does not, how far effects agree and what induction heads carry."""
        found = self.decided()
        sentences = []
        for kind in KINDS:
            own = found.filter(kind=kind)
            told = []
            for word in limits.WORDS:
                names = own.filter(word=word)["name"].to_list()
                if word == limits.UNDECIDED and len(names) > _FEW:  # the farthest from .5 first
                    names = [*names[:_FEW], f"{len(names) - _FEW} more"]
                told += [f"{word}: {listed(names)}"] * bool(names)
            sentences += [f"{kind.capitalize()}s: {'; '.join(told)}."] * bool(told)
        return " ".join([*sentences, *self._agreement(), *self._induction()])

    def _agreement(self) -> list[str]:
        rows = self.tables["reliability"].filter(where=DEEPER).drop_nulls("correlation").to_dicts()
        told = [f"{row['correlation']:.2f} ({row['part']})" for row in rows]
        return [f"Effects agree with those of the choosing part by {listed(told)}."] * bool(told)

    def _induction(self) -> list[str]:
        """The heads with the highest score beside the random draws."""
        table = self.tables["induction"]
        if table.is_empty():
            return []
        own, drawn = table.filter(draw=0).to_dicts()[0], table.filter(pl.col("draw") > 0)
        mean, most = drawn["repeated"].mean(), drawn["repeated"].max()
        less = float(np.mean(drawn["natural"].to_numpy() < own["natural"]))
        return [
            f"Without the {len(own['heads'].split(', '))} heads of highest induction score the "
            f"loss on repeated tokens rises by {own['repeated']:.2f}, without random heads of "
            f"their layers by {mean:.2f} on average and {most:.2f} at most; on natural text by "
            f"{own['natural']:.3f}, more than in {100 * less:.0f} % of the draws."
        ]

    def warnings(self) -> list[str]:
        """Why the numbers may be no result: said before any of them."""
        return self.parts[PARTS[0]].warnings()

    def notes(self) -> list[str]:
        """What a reader must know, the warnings first."""
        return list(dict.fromkeys([*self.warnings(), *self.manifest["notes"]]))

    def __repr__(self) -> str:
        counts = self.decided().group_by("word", maintain_order=True).len().rows()
        told = ", ".join(f"{count} {word}" for word, count in counts)
        return f"<validation: {self.caption()}; {told}>"


_ENDS = ("low", "high")
_FEW = 4  # names in a sentence


def part_folder(part: str) -> Path:
    return Path(PARTS_FOLDER) / text_folder(part)


def _place(scan: ScanResult) -> str:
    return f"{_known(scan, 'data')['name']} from token {_known(scan, 'splits')['offset']}"


def _known(scan: ScanResult, what: str) -> Any:
    """A scan describes its model, text and windows before it runs."""
    return scan.manifest[what]
