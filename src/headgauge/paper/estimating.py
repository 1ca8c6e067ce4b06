"""What a reproduction will need, before it starts.

Its parts differ too much to be guessed: the first window and a further one are read, and one head
of the middle layer is measured in them as in the run, every part of it. A part's time is carried
over to all heads, lengths, windows and texts by how many rows, keys and N it has there. Loading,
the literal loops and drawing come on top.
"""

from collections import Counter
from dataclasses import replace

from headgauge.measure.estimates import CURVE_BYTES, HEAD_BYTES, Estimate, head_count, memory_needed
from headgauge.measure.plan import Plan
from headgauge.measure.requests import Task
from headgauge.measure.unit import Unit, measure_unit
from headgauge.paper.choices import Choice
from headgauge.paper.reproducing import ReproductionPlan, choosing_plan
from headgauge.runs import UnitKey, UnitTables
from headgauge.runs.schema import PAPER

# Until one is chosen: as long as any, and as the default model's first text has it.
_STANDS_IN = Choice("final", "raw", "visible")
_ROW_BYTES = 2 * 60  # of the other tables, in units and merged
_FIGURE_BYTES = 24 << 20  # of a text
_SQUARE = "everything else"  # parts that walk over the whole attention matrix


def estimate_reproduction(plan: ReproductionPlan) -> Estimate:
    """For all texts of a plan, none of which is begun."""
    settings = replace(plan.settings, choice=plan.settings.choice or _STANDS_IN, others=True)
    texts = [replace(text, settings=settings) for text in plan.texts.values()]
    sampled = [_sample(texts[0], window) for window in range(min(2, settings.windows))]
    rates: dict[str, float] = {}
    for unit, found in reversed(sampled):  # what the first window has counts there
        rates |= _rates(unit, found, texts[0].task(unit), plan.first.loaded.facts.heads)
    forward = sampled[0][1].facts["seconds"]["forward"] / len(sampled[0][0].ids)
    heads, seconds, disk = head_count(plan.first), 0.0, 0
    runs = [choosing_plan(texts[0], plan.settings)] if plan.chooses else []
    for text in [*runs, *texts]:
        for unit in text.units:
            task = text.task(unit)
            work = _work(unit, task)
            spent = sum(amount * rates.get(part, rates[_SQUARE]) for part, amount in work.items())
            seconds += forward * len(unit.ids) + spent * heads / settings.threads
            curves = sum(len(each.top_ns) for each in task.curves)
            disk += heads * (HEAD_BYTES + curves * CURVE_BYTES)
    probed = sum(sampled[0][1].tables[name].height for name in PAPER)
    disk += len(texts) * (heads * probed * _ROW_BYTES + _FIGURE_BYTES)
    return Estimate(seconds, memory_needed(texts[0], settings.length), disk)


def _sample(plan: Plan, window: int) -> tuple[Unit, UnitTables]:
    """A window at the longest L, one head of it measured."""
    key = UnitKey(window, plan.settings.length)
    unit = replace(next(each for each in plan.units if each.key == key), other=None)
    facts = plan.loaded.facts
    one = replace(plan.settings, layers=(facts.layers // 2,), heads=(facts.heads - 1,))
    if window == 0:  # code is compiled and pools are made on first use
        measure_unit(plan.source, unit, one, plan.task(unit))
    return unit, measure_unit(plan.source, unit, one, plan.task(unit))


def _rates(unit: Unit, found: UnitTables, task: Task, heads: int) -> dict[str, float]:
    """Seconds of a head for a piece of work, by part; a layer's heads share their vectors."""
    spent = {k: v for k, v in found.facts["seconds"].items() if k != "forward"}
    spent["vectors"] = spent.get("vectors", 0.0) / heads
    work = _work(unit, task)
    named = {part: spent.pop(part, 0.0) / work[part] for part in work if part != _SQUARE}
    return named | {_SQUARE: sum(spent.values()) / work[_SQUARE]}


def _work(unit: Unit, task: Task) -> Counter[str]:
    """By part: rows × keys × N of its curves, keys of its probes."""
    length = len(unit.ids)
    found = Counter({_SQUARE: length * length})
    for request in task.curves:
        rows = min(request.rows or length, length)
        found[request.part] += (2 + len(request.top_ns)) * rows * length
    for probe in task.probes:
        found[probe.part] += length
    return found
