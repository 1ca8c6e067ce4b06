"""`headgauge.paper.reproduce`: the paper's figures on any model, on several texts.

The paper leaves open which vectors and keys it means. The first text is there for choosing: the
choice whose numbers come closest to the paper's there is the one that all texts are measured with,
and the others judge; so it is with the reading of Algorithm 5. A choice that the caller makes
leaves all texts for judging, and Algorithm 5 is read as the model works: scaled logits, visible
keys.

    OUT/choosing/          the pass over the first text that the choice is made by
    OUT/texts/NAME/        a run for each text: tables, manifest
    OUT/paper/             the figures' tables of all texts, and the verdicts
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from headgauge import models
from headgauge.errors import InputError
from headgauge.measure.plan import Model, Plan, check_layers, fit, plan_of, source_of
from headgauge.measure.reading import Rows, Tokens, look_at, read
from headgauge.measure.requests import Experiment, Task
from headgauge.measure.runner import default_threads, run_plan
from headgauge.measure.unit import Source
from headgauge.paper import fig2c_critical
from headgauge.paper.choice_table import choice_table, closest
from headgauge.paper.figures import figures
from headgauge.paper.literal import literal_times
from headgauge.paper.measured import Measured
from headgauge.paper.result import Judging, Reproduction, read_timing, stands
from headgauge.paper.settings import ReproduceSettings
from headgauge.paper.timing import timing_table
from headgauge.paper.verdicts import Evidence, choose_reading, judge, verdict_tables
from headgauge.paper.verdicts.sensitivity import READINGS
from headgauge.runs import REPRODUCTION, RunFolder, UnitKey, manifest, text_folder
from headgauge.runs.schema import PAPER
from headgauge.scanning import ScanResult

Progress = Callable[[float], object]
Texts = Tokens | Sequence[Tokens]
CHOOSING, TEXTS = "choosing", "texts"
RESEARCH_TYPE = "reproduction of a paper's experiments on a trained model"
PSEUDOCODE = "arXiv 2508.17821, Algorithms 1 to 5"


def _task(settings: ReproduceSettings, key: UnitKey) -> Task:
    asked = settings.requests(key), settings.probes(key), settings.judged(key)
    return Task(*asked, tables=PAPER)


EXPERIMENT = Experiment(PSEUDOCODE, _task)


def reproduce(
    model: Model = "default",
    texts: Texts = None,
    *,
    settings: ReproduceSettings | None = None,
    tokenizer: Any = None,
    dtype: str | None = None,
    device: str | None = None,
    revision: str | None = None,
    out: str | Path | None = None,
    progress: Progress | None = None,
) -> Reproduction:
    """Algorithms 1 to 5 on a model and one text or several, each given as to `headgauge.scan`.

    Without texts: War and Peace, where it can be had, and the Python reference. With `out` the run
    is kept in a folder, and taken up there when it was interrupted.
    """
    source = source_of(model, tokenizer, dtype, device, revision)
    free = frozenset({"length", "windows"})  # nobody asked for them
    chosen = settings or ReproduceSettings(threads=default_threads(1, out), free=free)
    return run_reproduction(make_reproduction(source, texts, chosen), out, progress)


@dataclass(frozen=True, eq=False)
class ReproductionPlan:
    """A reproduction before it runs: a plan for each text, the first the one for choosing."""

    texts: dict[str, Plan]
    settings: ReproduceSettings

    @property
    def first(self) -> Plan:
        return next(iter(self.texts.values()))

    @property
    def identity(self) -> dict[str, Any]:
        """What two reproductions must share to be the same."""
        identities = [plan.identity for plan in self.texts.values()]
        return identities[0] | {"texts": [each["text"] for each in identities]}

    @property
    def chooses(self) -> bool:
        return self.settings.choice is None


def make_reproduction(
    source: Source, texts: Texts, settings: ReproduceSettings
) -> ReproductionPlan:
    """The plans of a reproduction; what is free in its settings fits all texts."""
    several = [look_at(each) for each in _several(texts, settings.quick)]
    loaded = source.open()
    layers = len(models.attention_modules(loaded.model))
    settings = replace(settings, model_layers=layers)
    check_layers(loaded, settings)
    readings = [read(loaded, each, settings.bos) for each in several or _usual(settings.quick)]
    for each in readings:
        if isinstance(each, Rows) and (each.text.documents or each.uneven):
            raise InputError(
                f"{each.text.name} has documents of their own lengths, which `scan` reads: the "
                "paper's figures need running text"
            )
    settings, notes = fit(settings, loaded, readings)
    rows = settings.fig4.rows or settings.length  # 0: all of them
    settings = replace(settings, fig4=replace(settings.fig4, rows=rows))
    plans: dict[str, Plan] = {}
    for reading in readings:
        plan = plan_of(source, reading, settings, EXPERIMENT, notes)
        if any(plan.text.sha256 == other.text.sha256 for other in plans.values()):
            raise InputError(
                f"the text {plan.text.name} was given twice: a second text must differ"
            )
        name, count = plan.text.name, 1
        while text_folder(name) in map(text_folder, plans):
            count += 1
            name = f"{plan.text.name} {count}"
        plans[name] = plan
    return ReproductionPlan(plans, settings)


def _several(texts: Any, quick: bool) -> Sequence[Any]:
    """The texts one by one, none where none was named; token ids are one text. A quick run reads
    one."""
    if texts is None:
        return []
    if not isinstance(texts, (list, tuple)) or not texts or isinstance(texts[0], int):
        return [texts]
    if quick and len(texts) > 1:
        raise InputError(
            f"a quick run reads one text, and {len(texts)} were given: give one, or leave quick out"
        )
    return texts


def _usual(quick: bool) -> Sequence[models.SourceText]:
    found = models.default_texts()
    return found[:1] if quick else found


def run_reproduction(
    plan: ReproductionPlan, out: str | Path | None, progress: Progress | None = None
) -> Reproduction:
    """Do what is not done yet, and everything that follows from it.

    The literal loops are timed once per folder.
    """
    place = None if out is None else Path(out)
    device = plan.first.identity["model"]["device"]
    folder = None
    if place is not None:
        said = {"research_type": RESEARCH_TYPE, "pseudocode": PSEUDOCODE}
        folder = RunFolder.open(place, plan.identity, REPRODUCTION)
        folder.describe(manifest(plan.identity, device, **said))
    steps = _Steps(progress, len(plan.texts) + plan.chooses)
    looked = _look(plan, place, steps) if plan.chooses else None
    choice = closest(looked[1]) if looked is not None else plan.settings.chosen
    scans: dict[str, ScanResult] = {}
    measured: dict[str, Measured] = {}
    for name, text in plan.texts.items():
        first = not scans
        settings = replace(plan.settings, choice=choice, others=not (plan.chooses and first))
        mine = replace(text, settings=settings)
        where = None if place is None else place / TEXTS / text_folder(name)
        run = run_plan(mine, where, 1, steps.next())
        scans[name], found = ScanResult.of(run), Measured.of(run)
        measured[name] = found.with_curves(looked[0]) if first and looked is not None else found
    judged = judged_frames(measured, scans, replace(plan.settings, choice=choice), plan.chooses)
    timing = () if place is None else read_timing(place)
    if not timing:
        full = replace(plan.settings, choice=choice)
        heads = next(iter(measured.values())).head_count
        loops = literal_times(replace(plan.first, settings=full), full, heads)
        timing = tuple(timing_table(next(iter(scans.values())).seconds(), loops, full))
    found = Reproduction(scans, *judged, timing, place)
    if folder is not None:
        found.keep(folder)
    return found


def judged_frames(
    measured: dict[str, Measured],
    scans: dict[str, ScanResult],
    settings: ReproduceSettings,
    chooses: bool,
) -> tuple[dict[str, pl.DataFrame], Judging]:
    """Every figure's frame over all texts, the verdicts on them, and what they stand on."""
    choice = settings.chosen
    by_text = {name: figures(found, settings, name) for name, found in measured.items()}
    first = next(iter(by_text))
    plain = Evidence(by_text[first], vars(choice))
    reading = choose_reading(plain) if chooses else plain.reading
    seen = {
        name: judge(
            Evidence(frames, vars(choice), reading), next(iter(scans[name].warnings()), None)
        )
        for name, frames in by_text.items()
    }
    readings, verdicts = verdict_tables(seen, first if chooses else None)
    paper = {name: pl.concat([each[name] for each in by_text.values()]) for name in by_text[first]}
    judging = Judging(
        choice=vars(choice),
        chosen_on=first if chooses else None,
        reading=reading,
        stands=tuple(stands(scans, settings, first if chooses else None, READINGS[reading])),
    )
    return paper | {"readings": readings, "verdicts": verdicts}, judging


def choosing_plan(first: Plan, settings: ReproduceSettings) -> Plan:
    """The pass over the first text that the choice is made by."""
    longest = settings.length
    looking = replace(settings, choosing=True, lengths=(longest,), windows=1)
    units = tuple(u for u in first.units if u.key.window == 0 and u.key.length == longest)
    return replace(first, settings=looking, units=units)


def _look(
    plan: ReproductionPlan, place: Path | None, steps: "_Steps"
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """All choices on the first text: their curves, and the table that one is chosen by."""
    looking = choosing_plan(plan.first, plan.settings)
    run = run_plan(looking, None if place is None else place / CHOOSING, 1, steps.next())
    measured = Measured.of(run)
    critical = fig2c_critical.run(measured, plan.settings.fig2c)
    return measured.curves, choice_table(measured, critical, None)


class _Steps:
    """One share of what is done, over several runs of about the same size."""

    def __init__(self, progress: Progress | None, count: int) -> None:
        self._progress, self._count, self._at = progress, count, -1

    def next(self) -> Progress | None:
        self._at += 1
        report, at, count = self._progress, self._at, self._count
        return report and (lambda share: report((at + share) / count))
