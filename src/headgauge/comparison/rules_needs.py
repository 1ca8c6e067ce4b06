"""What a comparison of rules will need, before it starts.

Rules differ too much to be guessed: a few heads of the middle layer, one on each thread, are
measured in the first window under every rule, its parameters where a search would begin, as the run
measures all of them. Fits and timed passes are counted in passes of what that took.
"""

from dataclasses import replace

import polars as pl

from headgauge.comparison.rules_fits import first_value, fit_passes, planned_rules
from headgauge.measure.estimates import Estimate, estimate, head_count
from headgauge.measure.pass_times import ROUNDS
from headgauge.measure.plan import Plan
from headgauge.measure.runner import with_facts
from headgauge.measure.unit import measure_unit
from headgauge.normalizers import RULES
from headgauge.runs.schema import FitRow, frame_schema

_WARM = 64  # tokens: code is compiled and pools are made on first use


def rules_estimate(plan: Plan) -> Estimate:
    """For all windows of a comparison, none of which is done."""
    rules, places = len(planned_rules(plan)), _some_heads(plan)
    spent = _sampled(plan, places)
    # On the original's logits heads are measured under every rule and as they are; inside the
    # swapped models, which have the rest of the time there, under every rule.
    outside = sum(seconds for part, seconds in spent.items() if part not in ("forward", "rules"))
    inside = outside * rules / (rules + 1)
    passes = spent["forward"] + max(0.0, spent["rules"] - inside)
    measured = (outside + inside) * head_count(plan) / len(places)
    more = fit_passes(plan) + ROUNDS * (2 + rules)
    seconds = len(plan.units) * (passes + measured) + more * passes / (1 + rules)
    return replace(estimate(plan), seconds=seconds)


def _sampled(plan: Plan, places: frozenset[tuple[int, int]]) -> dict[str, float]:
    """Seconds by phase of the first window with only these heads measured."""
    first = plan.units[0]
    task = replace(plan.task(first), only=places, once={"fits": _unfitted(plan)})
    task = with_facts(plan, {first.key: task})[first.key]
    # Passes are timed in window 0, and what is read two ways comes once: neither counts here.
    unit = replace(first, key=replace(first.key, window=1), other=None)
    for ids in (unit.ids[:_WARM], unit.ids):
        found = measure_unit(plan.source, replace(unit, ids=ids), plan.settings, task)
    return found.facts["seconds"]


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
