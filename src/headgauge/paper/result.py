"""What a reproduction found: the paper's figures as frames, the verdicts, the scans it contains."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypedDict

import polars as pl

from headgauge.errors import InputError
from headgauge.paper.settings import ReproduceSettings
from headgauge.paper.timing import TimingRow
from headgauge.registry.names import listed, text_role
from headgauge.registry.published import CHOICE
from headgauge.runs import REPRODUCTION, RunFolder, load_run, text_folder
from headgauge.runs.columns import Keys, Scale, Vectors
from headgauge.runs.json_files import check_form, read_json, write_json
from headgauge.runs.paper_schema import FEW_ROWS, NOT_REPRODUCED, UNDECIDED
from headgauge.runs.tables import AGAIN
from headgauge.scanning import ScanResult
from headgauge.shown import Shown

TIMING, JUDGING, TEXTS = "timing.json", "judging.json", "texts"


@dataclass(frozen=True)
class Judging:
    """What the verdicts are about: the choice, where it was made, the reading of Algorithm 5, and
    in lines for a reader what everything stands on."""

    choice: dict[str, str]
    chosen_on: str | None  # None: the caller chose
    reading: tuple[str, str]
    stands: tuple[str, ...]


class _ChoiceFile(TypedDict):
    vectors: Vectors
    scale: Scale
    keys: Keys


class _JudgingFile(TypedDict):
    """`Judging` as JSON has it."""

    choice: _ChoiceFile
    chosen_on: str | None
    reading: tuple[str, str]
    stands: list[str]


class _TimingFile(TypedDict):
    algorithms: list[TimingRow]


@dataclass(frozen=True, eq=False, repr=False)
class Reproduction(Shown):
    """`scans` has a run for each text, `paper` the frames of `runs.paper_schema` by name,
    `timing` a row per algorithm on the first text."""

    scans: dict[str, ScanResult]
    paper: dict[str, pl.DataFrame]
    judging: Judging
    timing: tuple[dict[str, Any], ...] = ()
    folder: Path | None = None

    @property
    def scan(self) -> ScanResult:
        """The first text's run read as a scan: tables, verdicts on the heads, manifest."""
        return next(iter(self.scans.values()))

    @staticmethod
    def load(folder: str | Path) -> "Reproduction":
        """A finished reproduction from its folder; nothing is computed again."""
        folder = Path(folder)
        paper = load_run(folder, REPRODUCTION).tables
        texts = paper["readings"]["text"].unique(maintain_order=True)
        scans = {text: ScanResult.load(folder / TEXTS / text_folder(text)) for text in texts}
        return Reproduction(scans, paper, _read_judging(folder), read_timing(folder), folder)

    @staticmethod
    def is_in(folder: str | Path) -> bool:
        """Whether a folder has a reproduction, not only a scan."""
        return REPRODUCTION.is_in(folder)

    def keep(self, folder: RunFolder) -> None:
        """Write the figures' tables, the timing and what is judged into the run's folder."""
        for name, frame in self.paper.items():
            folder.write(name, frame)
        write_json(folder.path / TIMING, {"algorithms": list(self.timing)})
        write_json(folder.path / JUDGING, asdict(self.judging))
        folder.finish(self.notes())

    def warnings(self) -> list[str]:
        """Why the numbers may be no result, of every text: said before any of them."""
        return self._of_texts(ScanResult.warnings)

    def notes(self) -> list[str]:
        """What a reader must know, of every text, the warnings first."""
        return list(dict.fromkeys(self.warnings() + self._of_texts(ScanResult.notes)))

    def _of_texts(self, lines: Callable[[ScanResult], list[str]]) -> list[str]:
        several = len(self.scans) > 1
        return [
            f"{text}: {line}" if several else line
            for text, scan in self.scans.items()
            for line in lines(scan)
        ]

    def finding(self) -> str:
        """How the claims fared, on which texts, and what to do, in a paragraph."""
        claims, on = self.paper["verdicts"], listed(list(self.scans))
        counts = dict(claims.group_by("verdict", maintain_order=True).len().rows())
        if self.scan.manifest["settings"].get("quick"):
            return (
                f"A quick look at {len(claims)} claims of the paper on {on}: it shows every figure "
                "and judges nothing. Run it without --quick, on two texts, for verdicts."
            )
        told = "; ".join(f"{word}: {count}" for word, count in counts.items())
        judged = [text for text in self.scans if text != self.judging.chosen_on]
        sentences = [f"Of {len(claims)} claims of the paper, on {on}. {told[0].upper()}{told[1:]}."]
        if failed := claims.filter(verdict=NOT_REPRODUCED).select("claim", "where").rows():
            names = "; ".join(f"{claim} ({where})" for claim, where in failed)
            sentences.append(f"Not reproduced: {names}. What holds instead stands beside each.")
        if len(self.scans) == 1:
            sentences.append("One text judges nothing: give another with --text.")
        elif self.judging.chosen_on is not None:
            sentences.append(
                f"Vectors and keys were chosen on {self.judging.chosen_on}, so {listed(judged)} "
                "judged what depends on them."
            )
        if UNDECIDED in counts or FEW_ROWS in counts:
            sentences.append("What is undecided needs more texts, windows or rows.")
        return " ".join(sentences)

    def captions(self) -> dict[str, str]:
        """For each text a line for its figures: what was measured, what the text is there for."""
        found = {}
        for text, scan in self.scans.items():
            quick = "quick run: " * bool(scan.manifest["settings"].get("quick"))
            data = scan.manifest["data"]
            own = "" if data is None or data["name"] == text else f"here {text}"  # of two alike
            role = text_role(text, len(self.scans), self.judging.chosen_on)
            told = ", ".join(filter(None, (own, role)))
            found[text] = f"{quick}{scan.caption()}{f' ({told})' * bool(told)}"
        return found

    def __repr__(self) -> str:
        known = self.scan.manifest["model"]
        counts = self.paper["verdicts"].group_by("verdict", maintain_order=True).len().rows()
        return (
            f"<{''.join(f'{line}; ' for line in self.warnings())}"
            f"reproduction on {known['name'] if known else 'a model'}, {', '.join(self.scans)}: "
            f"{', '.join(f'{count} {word}' for word, count in counts)}>"
        )


def stands(
    scans: Mapping[str, ScanResult],
    settings: ReproduceSettings,
    chosen_on: str | None,
    reading: str,
) -> Iterator[str]:
    """What a reader must know before the first number."""
    if settings.quick:
        yield (
            f"quick run: {settings.paper_rows} of {settings.length} query rows per head for "
            f"Figures 2 and 3, {settings.sensitivity_rows} for Figure 4: a look, nothing is judged"
        )
    else:
        rows = "every query row" if settings.paper_rows is None else f"{settings.paper_rows} rows"
        yield (
            f"L = {settings.length}, {settings.windows} windows of each text; {rows} of the first "
            f"window for Figures 2 and 3, {settings.sensitivity_rows} rows per head for Figure 4"
        )
    for text, scan in scans.items():
        data = scan.manifest["data"]
        origin = "" if data is None else f": {data['origin']}"
        role = text_role(text, len(scans), chosen_on)
        yield f"text {text}{f', {role}' if role else ''}{origin}"
    why = "as asked for, so that every text judges"
    if chosen_on is not None and len(scans) > 1:
        why = (
            f"the closest to the paper on {chosen_on}, so that this text is not counted "
            "where a claim depends on them"
        )
    elif chosen_on is not None:
        why = (
            "the closest to the paper on this text; with no second text to judge on, no claim is "
            "judged"
        )
    yield f"vectors and keys: {settings.chosen.name}; Algorithm 5: {reading}; {why}"


def _read_judging(folder: Path) -> Judging:
    path = folder / JUDGING
    try:
        found = read_json(path)
    except FileNotFoundError:
        raise InputError(f"{path} is missing; {AGAIN}") from None
    check_form(path, found, _JudgingFile, remedy=AGAIN)
    choice = {name: found["choice"][name] for name in CHOICE}
    return Judging(choice, found["chosen_on"], tuple(found["reading"]), tuple(found["stands"]))


def read_timing(folder: Path) -> tuple[dict[str, Any], ...]:
    """The rows of timing.json; none where it is not there."""
    path = folder / TIMING
    try:
        found = read_json(path)
    except FileNotFoundError:
        return ()
    check_form(path, found, _TimingFile, remedy=f"remove it and {AGAIN}")
    return tuple(found["algorithms"])
