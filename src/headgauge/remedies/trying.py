"""`headgauge.remedy`: what a verdict's remedy does to the heads that have it.

    found = headgauge.remedy("runs/mine")      # a scan's folder: model and text are found again
    found = headgauge.remedy("default")        # a model: a scan of it is made first
    found.trials                               # polars: loss, measure and verdict by remedy

Heads are named on a scan's windows; a remedy is judged on windows that follow them, its parameters
are chosen on others behind these.

    OUT/scan/        the scan, where a model was given, resumed unit by unit
    OUT/remedies/    what the remedies did (`runs.remedy_schema`), resumed window by window
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import polars as pl

from headgauge.measure.plan import Model, describe_plan, source_of
from headgauge.measure.reading import Tokens, look_at
from headgauge.measure.unit import known_heads
from headgauge.options import takes
from headgauge.options.commands import RemedyOptions
from headgauge.remedies.finding_again import scan_in, scan_source, scan_text
from headgauge.remedies.judging import trial_rows
from headgauge.remedies.planning import RemedyPlan, judged_by, make_remedy, remedy_settings
from headgauge.remedies.result import SCAN_FOLDER, Remedies
from headgauge.remedies.trials import Group, groups, that_can_be, written
from headgauge.remedies.windows import Judge, candidate_rows, changes_of
from headgauge.runs import REMEDY, Manifest, RunFolder, frame_schema
from headgauge.runs.json_files import plain
from headgauge.scanning import ScanResult, run_scan

Progress = Callable[[float], object]
RESEARCH_TYPE = "trial of remedies on a trained model's attention heads"
_SCAN_SHARE = 0.05  # of the time of a run that begins with its scan, about


@takes(RemedyOptions)
def remedy(
    run: Model | ScanResult = "default",
    tokens: Tokens = None,
    *,
    model: Model | None = None,
    text: str | Sequence[str] | None = None,
    tokenizer: Any = None,
    progress: Progress | None = None,
    **options: Any,
) -> Remedies:
    """Try each verdict's remedy on the heads that have it.

    `run` is a scan or its folder, whose model (else: `model`) and text (else: `tokens` or `text`)
    are found again, or a model as in `headgauge.scan`, of which a scan is made first.
    """
    asked = RemedyOptions(**options)
    scan = scan_in(run)
    seen = look_at(tokens, text, asked.chat)
    settings, lines = remedy_settings(asked), judged_by(asked.thresholds)
    how = tokenizer, asked.dtype, asked.device, asked.revision
    if scan is None:
        source = source_of(cast(Model, run), *how)
    else:
        seen, source = scan_text(scan, seen), scan_source(scan, model, *how)
    return run_remedy(make_remedy(source, seen, settings, scan, lines), asked.out, progress)


def run_remedy(
    plan: RemedyPlan, out: str | Path | None, progress: Progress | None = None
) -> Remedies:
    """Do what is not done yet: the scan, the choice among candidates, window after window."""
    made, folder = _described(plan), None
    if out is not None:
        folder = RunFolder.open(out, plan.identity, REMEDY)
        folder.describe(made)
    scan, settings = _scan(plan, out, progress), plan.settings
    asked = groups(scan, settings.verdicts, settings.draws, settings.seed)
    tried, left_out = that_can_be(plan.judged.loaded, asked)
    kept = _Kept(folder)
    kept.put("sets", _sets(tried))
    kept.put("untried", _untried(scan, settings.verdicts))
    step = _Step(
        passes(plan, tried), 0.0 if isinstance(plan.scan, ScanResult) else _SCAN_SHARE, progress
    )
    choices, losses, numbers = _tried(plan, tried, kept, step)
    kept.put("trials", trial_rows(tried, choices, losses, numbers))
    notes = list(dict.fromkeys([*made["notes"], *left_out, *_notes(scan, tried, settings.draws)]))
    if folder is None or out is None:
        return Remedies({**made, "status": "finished", "notes": notes}, kept.tables)
    folder.finish(notes)
    return Remedies.load(out)


def _described(plan: RemedyPlan) -> Manifest:
    made = describe_plan(plan.judged)
    made["settings"] = plain(plan.identity)
    made["research_type"], made["seeds"] = RESEARCH_TYPE, {"draws": plan.settings.seed}
    return made


def _scan(plan: RemedyPlan, out: str | Path | None, progress: Progress | None) -> ScanResult:
    """The scan that names heads, made where it was not given."""
    if isinstance(plan.scan, ScanResult):
        return plan.scan.with_thresholds(plan.thresholds)
    part = progress and (lambda share: progress(_SCAN_SHARE * share))
    place = None if out is None else Path(out) / SCAN_FOLDER
    return run_scan(plan.scan, place, 1, part).with_thresholds(plan.thresholds)


def _tried(
    plan: RemedyPlan, tried: Sequence[Group], kept: "_Kept", step: Callable[[], object]
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """The tables of choices, losses and numbers; windows that are there are not read again. Losses
    are written last: a window that has them is whole."""
    choices, losses, numbers = kept.get("choices"), kept.begun("losses"), kept.begun("numbers")
    numbers = numbers.filter(pl.col("window").is_in(losses["window"].unique().implode()))
    left = [unit for unit in plan.judged.units if unit.key.window not in losses["window"]]
    if not tried:
        return kept.put("choices", []), kept.put("losses", []), kept.put("numbers", [])
    if choices is not None and not left:
        return choices, losses, numbers
    changes = changes_of(plan.judged, tried, plan.calibration)
    if choices is None:
        rows = candidate_rows(plan.judged, tried, plan.calibration, changes, step)
        choices = kept.put("choices", rows)
    chosen = choices.filter("chosen").select("verdict", "remedy", "rule").rows()
    loaded, bos = plan.judged.loaded, plan.judged.edges.bos
    facts = known_heads(loaded, bos.id if bos.put else None, plan.settings)
    by_remedy = {(verdict, remedy): rule for verdict, remedy, rule in chosen}
    judge = Judge(plan.judged, tried, by_remedy, changes, facts, step)
    for unit in left:
        rows, found = judge.window(unit)
        numbers = kept.put("numbers", pl.concat([numbers, found]))
        losses = kept.put("losses", pl.concat([losses, _frame("losses", rows)]))
    return choices, losses, numbers


class _Kept:
    """The tables of a run, in memory and, where it has one, in its folder."""

    def __init__(self, folder: RunFolder | None) -> None:
        self.folder = folder
        self.tables: dict[str, pl.DataFrame] = {}

    def get(self, name: str) -> pl.DataFrame | None:
        """A table that an earlier run left."""
        if self.folder is None or not self.folder.has(name):
            return None
        self.tables[name] = self.folder.read(name)
        return self.tables[name]

    def begun(self, name: str) -> pl.DataFrame:
        found = self.get(name)
        return _frame(name, []) if found is None else found

    def put(self, name: str, rows: pl.DataFrame | list[dict[str, Any]]) -> pl.DataFrame:
        found = rows if isinstance(rows, pl.DataFrame) else _frame(name, rows)
        self.tables[name] = found
        if self.folder is not None:
            self.folder.write(name, found)
        return found


class _Step:
    """Called after each pass; tells the share that is done."""

    def __init__(self, passes: int, before: float, progress: Progress | None) -> None:
        self.passes, self.before, self.progress = max(passes, 1), before, progress
        self.count = 0

    def __call__(self) -> None:
        self.count += 1
        if self.progress is not None:
            share = min(1.0, self.count / self.passes)
            self.progress(self.before + (1 - self.before) * share)


def passes(plan: RemedyPlan, tried: Sequence[Group]) -> int:
    """About how many passes the model makes over a window."""
    candidates = sum(len(some) for group in tried for some in group.tries)
    sets = sum(len(group.sets) * len(group.tries) for group in tried)
    return plan.settings.calibration * candidates + plan.settings.windows * (sets + 1)


def _frame(name: str, rows: list[dict[str, Any]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=frame_schema(REMEDY.tables[name]))


def _sets(tried: Sequence[Group]) -> list[dict[str, Any]]:
    return [
        {"verdict": group.verdict, "draw": draw, "count": len(heads), "heads": written(heads)}
        for group in tried
        for draw, heads in enumerate(group.sets)
    ]


def _untried(scan: ScanResult, wanted: Sequence[str]) -> list[dict[str, Any]]:
    """What of the remedies needs training, for the verdicts that some head has."""
    counts = {row["verdict"]: row for row in scan.counts().to_dicts() if row["heads"]}
    rows = [
        {"verdict": each.verdict, "remedy": each.remedy, "why": each.untried}
        | {name: counts[each.verdict][name] for name in ("heads", "share")}
        for each in scan.thresholds
        if each.untried and each.verdict in wanted and each.verdict in counts
    ]
    return list({(row["verdict"], row["why"]): row for row in reversed(rows)}.values())[::-1]


def _notes(scan: ScanResult, tried: Sequence[Group], draws: int) -> list[str]:
    """What a reader must know of the heads and of their control."""
    warned = scan.warnings()
    said = [note for note in scan.notes() if note not in warned]
    for group in tried:
        drawn = len(group.sets[1]) if len(group.sets) > 1 else 0
        if len(group.sets) <= draws:
            said.append(f"{group.verdict}: no control, its layers have no heads without it")
        elif drawn < len(group.heads):
            said.append(
                f"{group.verdict}: {drawn} random heads beside {len(group.heads)}, its layers have "
                "no more without it; shares of draws compare the change per head"
            )
    return said
