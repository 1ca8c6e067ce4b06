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

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from headgauge import models
from headgauge.errors import InputError
from headgauge.measure.plan import Model, Plan, check_layers, fit, plan_of, source_of
from headgauge.measure.reading import Tokens, look_at, read
from headgauge.measure.runner import run_plan
from headgauge.measure.unit import Source
from headgauge.options import takes
from headgauge.options.commands import ReproduceOptions
from headgauge.paper import fig2c_critical
from headgauge.paper.choice_table import choice_table, closest
from headgauge.paper.choices import Choice
from headgauge.paper.evidence import Evidence
from headgauge.paper.figures import Tables, figures, longest
from headgauge.paper.result import TEXTS, Judging, Reproduction, read_timing, stands
from headgauge.paper.settings import EXPERIMENT, ReproduceSettings, reproduce_settings
from headgauge.paper.timing import SpentRow, literal_times, spent_on, timing_table
from headgauge.paper.verdicts import choose_reading, judge, verdict_tables
from headgauge.paper.verdicts.sensitivity import READINGS
from headgauge.registry.published import CHOICE_AND_RULE
from headgauge.runs import REPRODUCTION, RunFolder, UnitKey, manifest, text_folder
from headgauge.runs.schema import HEAD
from headgauge.scanning import ScanResult

Progress = Callable[[float], object]
Texts = Tokens | Sequence[Tokens]
CHOOSING = "choosing"
RESEARCH_TYPE = "reproduction of a paper's experiments on a trained model"


@takes(ReproduceOptions)
def reproduce(
    model: Model = "default",
    texts: Texts = None,
    *,
    settings: ReproduceSettings | None = None,
    tokenizer: Any = None,
    progress: Progress | None = None,
    **options: Any,
) -> Reproduction:
    """Algorithms 1 to 5 on a model and one text or several, each given as to `headgauge.scan`.

    Without texts: War and Peace, where it is available, and the Python reference. With `out` the
    run is kept in a folder, and taken up there when it was interrupted. `settings` goes further
    than the options do, and stands in their place.
    """
    asked = ReproduceOptions(**options)
    how = asked.dtype, asked.device, asked.revision, "reproduce"
    source = source_of(model, tokenizer, *how)
    chosen = settings or reproduce_settings(asked)
    return run_reproduction(make_reproduction(source, texts, chosen), asked.out, progress)


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
    given = [look_at(each) for each in _several(texts, settings.quick)]
    loaded = source.open()
    layers = len(models.attention_modules(loaded.model))
    settings = replace(settings, model_layers=layers)
    check_layers(loaded, settings)
    usual = () if given else models.default_texts()[: 1 if settings.quick else None]
    readings = [read(loaded, each, settings.bos) for each in (*given, *usual)]
    for each in readings:
        if each.text.documents or len(set(each.sizes)) > 1:
            raise InputError(
                f"{each.text.name} has documents of their own lengths, which `scan` reads: the "
                "paper's figures need running text"
            )
    settings, notes = fit(settings, loaded, readings)
    every = settings.length
    rows = min(settings.sensitivity_rows or every, every)  # 0: all of them
    settings = replace(settings, sensitivity_rows=rows)
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
    """The texts one by one; token ids are one text. A quick run reads one."""
    if texts is None:
        return []
    if not isinstance(texts, (list, tuple)) or not texts or isinstance(texts[0], int):
        return [texts]
    if quick and len(texts) > 1:
        raise InputError(
            f"a quick run reads one text, and {len(texts)} were given: give one, or leave quick out"
        )
    return texts


def run_reproduction(
    plan: ReproductionPlan, out: str | Path | None, progress: Progress | None = None
) -> Reproduction:
    """Do what is not done yet, and everything that follows from it.

    The literal loops are timed once per folder.
    """
    path, folder = None if out is None else Path(out), None
    if path is not None:
        said = {"research_type": RESEARCH_TYPE, "pseudocode": EXPERIMENT.pseudocode}
        device = plan.first.identity["model"]["device"]
        folder = RunFolder.open(path, plan.identity, REPRODUCTION)
        folder.describe(manifest(plan.identity, device, **said))
    shares = _shares(progress, len(plan.texts) + plan.chooses)
    settings, looked = plan.settings, None
    beside: dict[str, float] = {}
    if plan.chooses:
        looked, choice, beside["choosing vectors and keys"] = _look(plan, path, next(shares))
        settings = replace(settings, choice=choice)
    scans: dict[str, ScanResult] = {}
    tables: dict[str, Tables] = {}
    for name, text in plan.texts.items():
        own = replace(text, settings=replace(settings, others=looked is None))
        where = None if path is None else path / TEXTS / text_folder(name)
        run = run_plan(own, where, 1, next(shares))
        scans[name], tables[name] = ScanResult.of(run), run.tables
        if looked is not None:  # the first text has the other choices from there
            curves = run.tables["paper_curves"]
            more = looked.join(curves, CHOICE_AND_RULE, "anti")
            tables[name] = run.tables | {"paper_curves": pl.concat([curves, more])}
            looked = None
    with _timed(beside, "figures and verdicts"):
        by_text = {name: figures(frames, settings, name) for name, frames in tables.items()}
        judged = judged_frames(by_text, scans, settings, plan.chooses)
    timing, spent = ((), ()) if path is None else read_timing(path)
    if not timing:
        first = next(iter(tables))
        heads = tables[first]["paper_curves"].select(HEAD).n_unique()
        with _timed(beside, "a sample of the literal loops"):
            loops = literal_times(plan.first, settings, heads)
        timing = tuple(timing_table(scans[first].seconds(), loops, settings))
        own = [row for text, scan in scans.items() for row in spent_on(text, scan.seconds())]
        more = [SpentRow(part=part, text=None, seconds=round(s, 3)) for part, s in beside.items()]
        spent = (*own, *more)
    result = Reproduction(scans, *judged, timing, spent, path)
    if folder is not None:
        result.keep(folder)
    return result


def judged_frames(
    by_text: dict[str, Tables],
    scans: dict[str, ScanResult],
    settings: ReproduceSettings,
    chooses: bool,
) -> tuple[dict[str, pl.DataFrame], Judging]:
    """Every figure's frame over all texts, the verdicts on them, and what they stand on."""
    choice = vars(settings.chosen)
    first = next(iter(by_text))
    chosen_on = first if chooses else None
    plain = Evidence(by_text[first], choice)
    reading = choose_reading(plain) if chooses else plain.reading
    seen = {
        name: judge(Evidence(frames, choice, reading), next(iter(scans[name].warnings()), None))
        for name, frames in by_text.items()
    }
    readings, verdicts = verdict_tables(seen, chosen_on)
    paper = {name: pl.concat([each[name] for each in by_text.values()]) for name in by_text[first]}
    said = tuple(stands(scans, settings, chosen_on, READINGS[reading]))
    judging = Judging(choice, chosen_on, reading, said)
    return paper | {"readings": readings, "verdicts": verdicts}, judging


def choosing_plan(first: Plan, settings: ReproduceSettings) -> Plan:
    """The pass over the first text that the choice is made by."""
    looking = replace(settings, choosing=True, lengths=(settings.length,), windows=1)
    units = tuple(unit for unit in first.units if unit.key == UnitKey(0, settings.length))
    return replace(first, settings=looking, units=units)


def _look(
    plan: ReproductionPlan, path: Path | None, progress: Progress | None
) -> tuple[pl.DataFrame, Choice, float]:
    """All choices on the first text: their curves, the closest of them, and the seconds that it
    took, by the pass's own record: an earlier process may have made it."""
    looking = choosing_plan(plan.first, plan.settings)
    run = run_plan(looking, None if path is None else path / CHOOSING, 1, progress)
    units = ScanResult.of(run).seconds().values()
    began = time.perf_counter() - sum(second for spent in units for second in spent.values())
    curves = run.tables["paper_curves"]
    critical, *_ = fig2c_critical.run(curves, plan.settings.draws)
    at_longest = curves.filter(length=longest(curves))
    found = closest(choice_table(at_longest, critical, None))
    return curves, found, time.perf_counter() - began


@contextmanager
def _timed(seconds: dict[str, float], part: str) -> Iterator[None]:
    began = time.perf_counter()
    yield
    seconds[part] = time.perf_counter() - began


def _shares(progress: Progress | None, count: int) -> Iterator[Progress | None]:
    """One share of what is done, over several runs of about the same size."""
    for at in range(count):
        yield progress and (lambda share, at=at: progress((at + share) / count))
