"""What a comparison of rules will need, before it starts.

Rules differ too much to be guessed: a few heads of the middle layer, one on each thread, are
measured in the first window under every rule, its parameters where a search would begin, as the run
measures all of them. Fits and timed passes are counted in passes of what that took.
"""

import time
from dataclasses import replace

import polars as pl

from headgauge.comparison.rules_fits import first_value, fit_passes, planned_rules
from headgauge.measure.estimates import Estimate, estimate, head_count
from headgauge.measure.pass_times import ROUNDS
from headgauge.measure.plan import Plan
from headgauge.measure.runner import with_facts
from headgauge.measure.unit import Unit, measure_unit
from headgauge.normalizers import RULES
from headgauge.runs import UnitKey
from headgauge.runs.schema import FitRow, frame_schema

_WARM = 64  # tokens: code is compiled and pools are made on first use
_ONCE = ("forward", "rules")  # seconds that do not grow with the heads measured


def rules_estimate(plan: Plan) -> Estimate:
    """For all windows of a comparison, none of which is done."""
    settings, rules = plan.settings, len(planned_rules(plan))
    first, places = plan.units[0], _some_heads(plan)
    task = replace(plan.task(first), only=places, once={"fits": _unfitted(plan)})
    task = with_facts(plan, {first.key: task})[first.key]
    # Window 0 is the one in which passes are timed.
    unit = replace(first, key=UnitKey(1, first.key.length), other=None)
    measure_unit(plan.source, _shorter(unit), settings, task)
    began = time.perf_counter()
    spent = measure_unit(plan.source, unit, settings, task).facts["seconds"]
    whole = time.perf_counter() - began
    # On the original's logits they were measured as often as inside, and once as they are.
    outside = sum(seconds for part, seconds in spent.items() if part not in _ONCE)
    inside = outside * rules / (rules + 1)
    passes = whole - outside - inside
    measured = (outside + inside) * head_count(plan) / len(places)
    one = passes / (rules + 1)
    more = fit_passes(plan) + ROUNDS * (2 + rules)
    seconds = len(plan.units) * (passes + measured) + more * one
    return replace(estimate(plan), seconds=seconds)


def _some_heads(plan: Plan) -> frozenset[tuple[int, int]]:
    """As many as are measured at once, of the middle of the chosen layers."""
    settings, facts = plan.settings, plan.loaded.facts
    layers = settings.layers or range(facts.layers)
    heads = settings.heads or range(facts.heads)
    middle = layers[len(layers) // 2]
    return frozenset((middle, head) for head in heads[: settings.threads])


def _unfitted(plan: Plan) -> pl.DataFrame:
    """The table of the fits as if each search had ended where it begins."""
    empty = dict.fromkeys(frame_schema(FitRow))
    rows = [
        empty
        | {
            "rule": rule.text,
            "parameter": name,
            "value": first_value(RULES[rule.name].fits()[name]),
        }
        for rule in planned_rules(plan)
        for name in rule.fitted
    ]
    return pl.DataFrame(rows, schema=frame_schema(FitRow))


def _shorter(unit: Unit) -> Unit:
    return replace(unit, ids=unit.ids[:_WARM])
