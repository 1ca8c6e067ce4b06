"""`headgauge.validate`: do measures, verdicts and roles tell what a head is worth?

    found = headgauge.validate("default")      # War and Peace and the Python reference
    found.decided()                            # polars: a word for each, with its intervals
    found.tables["scores"]                     # everything behind it, part by part

Lines are chosen on windows of the first half of the first text, and judged on windows of its second
half and of a second text. Each part is an ordinary scan with effects:

    OUT/parts/NAME/        the scan of a part, resumed unit by unit
    OUT/validation/        what the scores say of the effects (`runs.validation_schema`)
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast, get_args

import polars as pl

from headgauge import models
from headgauge.errors import InputError
from headgauge.measure.calibration import ablating
from headgauge.measure.effects import means_by_head
from headgauge.measure.plan import Model, Plan, fit, plan_of, source_of
from headgauge.measure.reading import Reading, Tokens, look_at, read
from headgauge.measure.settings import check_among
from headgauge.measure.unit import Source, settled
from headgauge.options import takes
from headgauge.options.commands import ScanOptions, ValidateOptions
from headgauge.runs import VALIDATION, RunFolder, frame_schema, manifest
from headgauge.runs.columns import How
from headgauge.runs.validation_schema import PARTS
from headgauge.scanning import ScanResult, ScanSettings, run_scan, scan_settings
from headgauge.scanning.scanning import SCAN
from headgauge.scanning.summary import heads_over_windows
from headgauge.threads import in_turn
from headgauge.validation.induction import induction_rows, why_not
from headgauge.validation.parts import read_part
from headgauge.validation.result import Validation, part_folder
from headgauge.validation.scores import reliability_rows, score_rows

Progress = Callable[[float], object]
LENGTH, WINDOWS = 512, 2
RESEARCH_TYPE = "test of measures of attention heads against what the heads are worth"
_INDUCTION = 0.05  # of the time of a run, about


@takes(ValidateOptions)
def validate(
    model: Model = "default",
    texts: Tokens | Sequence[Tokens] = None,
    *,
    tokenizer: Any = None,
    progress: Progress | None = None,
    **options: Any,
) -> Validation:
    """Hold every measure, verdict and role of a model's heads against their effects.

    `texts` is one text or two, each given as to `headgauge.scan`; without them War and Peace, where
    it is available, and the Python reference. With `out` the run is kept in a folder, and taken up
    there when it was interrupted.
    """
    asked = ValidateOptions(**options)
    several = texts if isinstance(texts, (list, tuple)) and texts else [texts]
    seen = [] if texts is None else [look_at(each) for each in several]
    settings = validation_settings(asked)
    source = source_of(model, tokenizer, asked.dtype, asked.device, asked.revision)
    return run_validation(make_validation(source, seen, settings), asked.out, asked.jobs, progress)


@dataclass(frozen=True, eq=False)
class ValidationPlan:
    """A validation before it runs: a scan for each part."""

    parts: dict[str, Plan]
    notes: tuple[str, ...]

    @property
    def first(self) -> Plan:
        return self.parts[PARTS[0]]

    @property
    def settings(self) -> ScanSettings:
        return cast(ScanSettings, self.first.settings)

    @property
    def identity(self) -> dict[str, Any]:
        """What two validations must share to be the same."""
        identities = {name: plan.identity for name, plan in self.parts.items()}
        texts = {
            name: each["text"] | {"offset": each["offset"]} for name, each in identities.items()
        }
        return self.first.identity | {"parts": texts, "how": self.settings.effects}


def make_validation(source: Source, texts: Sequence[Any], settings: ScanSettings) -> ValidationPlan:
    """The plans of the parts; sizes that nobody asked for fit the model and all of them."""
    if len(texts) > 2:
        raise InputError(f"one text for choosing and judging and a second, got {len(texts)} texts")
    loaded = source.open()
    if loaded.facts.heads < 2:
        raise InputError(
            f"{loaded.name} has one head in a layer: its effect is the layer's median, so nothing "
            "can be asked of it"
        )
    readings = [read(loaded, each, settings.bos) for each in texts or models.default_texts()]
    for each in readings:
        if not each.running:
            raise InputError(
                f"{each.text.name} has documents of their own lengths: choosing and judging need "
                "running text, of which each gets a half"
            )
    if len({each.text.sha256 for each in readings}) < len(readings):
        raise InputError(f"the text {readings[0].text.name} was given twice: a second must differ")
    half = len(readings[0].rows[0]) // 2
    settings, notes = fit(settings, loaded, [_first_half(readings[0], half), *readings[1:]])
    places = zip(PARTS, (0, half, 0), (readings[0], *readings), strict=False)
    plans = {
        name: ablating(
            plan_of(source, reading, replace(settings, offset=offset), SCAN, notes),
            settings.effects,
        )
        for name, offset, reading in places
    }
    said = []
    if len(readings) == 1:
        said.append("one text: no second judges, so the words stand on its second half alone")
    if len(models.attention_modules(loaded.model)) == 1:
        said.append("one layer: there is no interval over layers, and nothing is decided")
    return ValidationPlan(plans, tuple(said))


def validation_settings(asked: ValidateOptions) -> ScanSettings:
    """Those of a scan with effects, of the sizes that a validation has."""
    check_among("how", (asked.how,), get_args(How))
    same = ("bos", "seed", "threads", "jobs", "length", "windows", "out")
    scanned = ScanOptions(effects=True, **{name: getattr(asked, name) for name in same})
    usual: dict[str, Any] = {} if asked.length is not None else {"lengths": (LENGTH,)}
    usual |= {} if asked.windows is not None else {"windows": WINDOWS}
    return replace(scan_settings(scanned), effects=asked.how, **usual)


def _first_half(reading: Reading, half: int) -> Reading:
    """What windows for choosing may be cut from; the second half is as long, or longer by one."""
    name = f"half of {reading.text.name}"
    text = replace(reading.text, name=name, tokens=half)
    return replace(reading, rows=(reading.rows[0][:half],), text=text)


def run_validation(
    plan: ValidationPlan, out: str | Path | None, jobs: int = 1, progress: Progress | None = None
) -> Validation:
    """Do what is not done yet: the scans, the induction check, the scores."""
    folder, made = (
        None,
        manifest(
            plan.identity,
            plan.first.identity["model"]["device"],
            research_type=RESEARCH_TYPE,
            pseudocode=plan.first.experiment.pseudocode,
            seeds={"validation": plan.settings.seed},
        ),
    )
    if out is not None:
        folder = RunFolder.open(out, plan.identity, VALIDATION)
        folder.describe(made)
    shares = _shares(progress, len(plan.parts))
    scans: dict[str, ScanResult] = {}
    for name, part in plan.parts.items():
        where = None if out is None else Path(out) / part_folder(name)
        scans[name] = run_scan(part, where, jobs, next(shares))
    parts = {name: read_part(scan) for name, scan in scans.items()}
    notes, seed = [*plan.notes], plan.settings.seed
    rows = {"reliability": reliability_rows(parts), "scores": score_rows(parts, seed)}
    heads = heads_over_windows(scans[PARTS[0]].heads)
    lacking = why_not(plan.first.loaded, heads)
    notes += [lacking] if lacking else []
    tables = {name: _table(name, each) for name, each in rows.items()}
    if folder is not None and folder.has("induction"):
        tables["induction"] = folder.read("induction")
    else:
        found = (
            []
            if lacking
            else _induction(plan, heads, scans[PARTS[0]].tables.get("means"), next(shares))
        )
        tables["induction"] = _table("induction", found)
    said = (note for each in scans.values() for note in each.notes() if note not in each.warnings())
    made["notes"] = notes = list(dict.fromkeys([*notes, *said]))
    result = Validation(made, scans, tables)
    if folder is None or out is None:
        return result
    for name, table in tables.items():
        folder.write(name, table)
    folder.finish(notes)
    return Validation.load(out)


def _induction(
    plan: ValidationPlan,
    heads: pl.DataFrame,
    means: pl.DataFrame | None,
    progress: Progress | None,
) -> list[dict[str, Any]]:
    loaded, bos = plan.first.loaded, plan.first.edges.bos
    with in_turn(), settled(loaded.model, plan.settings):
        return induction_rows(
            loaded,
            heads.select("layer", "head", "induction_score"),
            plan.parts[PARTS[1]].units,
            bos.id if bos.put else None,
            None if means is None else means_by_head(means),
            plan.settings.seed,
            progress,
        )


def _table(name: str, rows: list[dict[str, Any]]) -> pl.DataFrame:
    schema = frame_schema(VALIDATION.tables[name])
    return pl.DataFrame(rows, schema=schema)


def _shares(progress: Progress | None, parts: int) -> Iterator[Progress | None]:
    """One share of what is done: the scans alike, the induction check the rest."""
    each = (1 - _INDUCTION) / parts
    for at in range(parts):
        yield progress and (lambda share, at=at: progress((at + share) * each))
    yield progress and (lambda share: progress(1 - _INDUCTION + share * _INDUCTION))
