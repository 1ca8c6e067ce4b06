"""What a comparison says it needs, from a few heads of one window."""

from dataclasses import replace
from typing import Any

import pytest
import torch

from headgauge.comparison import rules_needs
from headgauge.comparison.rules import rule_plan, rule_settings
from headgauge.comparison.rules_fits import fit_passes
from headgauge.measure.pass_times import ROUNDS
from headgauge.measure.plan import Plan, source_of
from headgauge.options.commands import CompareOptions
from model_families import case

RULES = "ssmax:s=fit,sparsemax"  # and softmax at a fitted temperature


@pytest.fixture(scope="module")
def plan() -> Plan:
    tokens = torch.randint(3, 50, (160,), generator=torch.Generator().manual_seed(5))
    asked = CompareOptions(rules=RULES, length=20, windows=3, threads=2)
    return rule_plan(
        source_of(case("llama", "sdpa").model, None, None, None), tokens, rule_settings(asked)
    )


def test_as_many_heads_as_threads_are_measured_under_every_rule(plan: Plan, monkeypatch):
    seen: list[Any] = []
    measure = rules_needs.measure_unit

    def watched(source, unit, settings, task):
        seen.append((unit, measure(source, unit, settings, task)))
        return seen[-1][1]

    monkeypatch.setattr(rules_needs, "measure_unit", watched)
    assert rules_needs.rules_estimate(plan).seconds > 0
    unit, found = seen[-1]
    assert unit.ids == plan.units[0].ids
    heads = found.tables["rule_heads"]
    middle = plan.loaded.facts.layers // 2
    assert set(heads.select("layer", "head").rows()) == {(middle, 0), (middle, 1)}
    assert heads["rule"].n_unique() == 4  # with the model's own
    assert set(found.tables["window_rules"]["rule"]) == set(heads["rule"])


def test_it_is_carried_over_to_all_heads_windows_and_passes(plan: Plan, monkeypatch):
    """Two heads took .4 s as they are and under three rules, so .3 s inside the swapped models: six
    seconds of what the rules took were passes."""
    spent = {"forward": 1.0, "weights": 0.1, "curves": 0.3, "rules": 6.3}
    monkeypatch.setattr(rules_needs, "_sampled", lambda plan, places: spent)
    heads = plan.loaded.facts.layers * plan.loaded.facts.heads
    passes = 3 * 7.0 + (fit_passes(plan) + ROUNDS * 5) * 7.0 / 4
    wanted = passes + 3 * 0.7 * heads / 2
    assert rules_needs.rules_estimate(plan).seconds == pytest.approx(wanted)
    fewer = replace(plan, units=plan.units[:1])
    assert rules_needs.rules_estimate(fewer).seconds < wanted
