"""What `headgauge compare MODEL` asks: the same windows of a model under several rules.

    found = headgauge.compare("default", rules="ssmax:s=fit,sparsemax", windows=4, length=512)
    found.rules()                      # polars: one row per rule, loss and distance to the original
    found.tables["rule_heads"]         # every head's measures under each, on the same logits
                                       # ("logits") and inside the swapped model ("inside")

The original model comes first, then softmax at a temperature that is fitted: whatever only sharpens
or flattens has to beat that. Parameters are fitted on windows behind the judged ones
(`rules_fits`).
"""

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import torch

from headgauge import models
from headgauge.comparison.rules_fits import calibration, fit_passes, fits_table, planned_rules
from headgauge.comparison.rules_result import FITTED, RuleComparison, over_windows
from headgauge.errors import InputError, whole, wholes
from headgauge.measure.placed import PlacedRule, put
from headgauge.measure.plan import Model, Plan, make_plan, source_of
from headgauge.measure.reading import Seen, Tokens, look_at
from headgauge.measure.requests import CurveRequest, Experiment, Task
from headgauge.measure.runner import Progress, default_threads, run_plan
from headgauge.measure.settings import TOP_NS, UnitSettings
from headgauge.measure.unit import Source, settled
from headgauge.normalizers import asked_rules, get
from headgauge.options.commands import USUAL_RULES, CompareOptions
from headgauge.runs import RULES, UnitKey
from headgauge.runs.schema import COMPARED
from headgauge.scanning.scanning import off_sink_curves
from headgauge.threads import in_turn

LENGTH = 512
PSEUDOCODE = (
    "The same windows with the softmax of every attention head replaced by each rule: next-token "
    "loss, KL(original ‖ swapped) and top-1 agreement, and per head the measures of a scan, with "
    "the rule on the original model's logits and inside the swapped model. Parameters are fitted "
    "on windows that are not judged."
)


def compare_rules(
    model: Model,
    tokens: Tokens,
    asked: CompareOptions,
    *,
    text: Any = None,
    tokenizer: Any = None,
    progress: Progress | None = None,
) -> RuleComparison:
    """The loss and every head's measures under each rule."""
    settings = rule_settings(asked)
    seen = look_at(tokens, text, asked.chat)
    how = asked.dtype, asked.device, asked.revision, "compare"
    source = source_of(model, tokenizer, *how)
    return run_rules(rule_plan(source, seen, settings), asked.out, progress)


@dataclass(frozen=True, kw_only=True)
class RuleSettings(UnitSettings):
    """The rules as they were asked for, which are put into `layers` and `heads`; `top_ns` are
    those of the curves, as far as they are below L."""

    rules: tuple[str, ...] = (FITTED,)
    top_ns: tuple[int, ...] = TOP_NS
    parts: ClassVar[int] = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        fitting = tuple(n for n in self.top_ns if n < self.length)
        object.__setattr__(self, "top_ns", fitting)


def rule_settings(asked: CompareOptions) -> RuleSettings:
    """From what a caller asked for, which is checked here: the command line and Python meet."""
    given = {"length": asked.length, "windows": asked.windows}
    (always,) = asked_rules(FITTED)
    rules = asked_rules(USUAL_RULES if asked.rules is None else asked.rules)
    others = [each for each in rules if not each.same(always)]
    threads = default_threads(1, asked.out) if asked.threads is None else asked.threads
    return RuleSettings(
        free=frozenset(name for name, value in given.items() if value is None),
        lengths=(LENGTH if asked.length is None else whole("length", asked.length),),
        windows=4 if asked.windows is None else whole("windows", asked.windows),
        offset=whole("offset", asked.offset),
        bos=asked.bos,
        rules=tuple(each.text for each in (always, *others)),
        layers=wholes("layers", asked.layers),
        heads=wholes("heads", asked.heads),
        threads=whole("threads", threads),
        seed=whole("seed", asked.seed),
    )


def _task(settings: RuleSettings, key: UnitKey) -> Task:
    curves = [CurveRequest("value", "unit", "visible", settings.top_ns)]
    curves += off_sink_curves(("value",), "unit", settings.top_ns)
    return Task(tuple(curves), rules=settings.rules, tables=COMPARED)


EXPERIMENT = Experiment(
    PSEUDOCODE,
    _task,
    once=lambda settings: {"fits": fits_table},
    derived={"rules": ("window_rules", over_windows)},
    layout=RULES,
)


def rule_plan(source: Source, tokens: Tokens | Seen, settings: RuleSettings) -> Plan:
    """A comparison before it runs; refused where it could not."""
    loaded = source.open()
    if loaded.facts.kind == "encoder":
        raise InputError(
            f"{loaded.name} is an encoder and predicts no next token: without a loss rules cannot "
            "be compared in it"
        )
    plan = make_plan(source, tokens, settings, EXPERIMENT)
    judged, kept = plan.settings.windows, len(calibration(plan))
    if not kept:
        raise InputError(
            f"{plan.text.name} has no window of {plan.settings.length} tokens behind the "
            f"{judged} judged to fit parameters on (the temperature of {FITTED} is one): give a "
            "longer text, or a smaller --length or --windows"
        )
    _check_reached(plan)
    said = "" if kept == judged else f" instead of {judged}, the text has no more"
    note = f"fits: on {kept} window{'s' * (kept > 1)} behind those that are judged{said}"
    return replace(plan, notes=(*plan.notes, note))


def _check_reached(plan: Plan) -> None:
    """Put a rule into the model once, on a few tokens: what cannot be reached says so."""
    loaded, settings = plan.loaded, plan.settings
    inputs = models.model_inputs(loaded, torch.tensor([plan.units[0].ids[:4]]))
    rule = PlacedRule("softmax", {(None, None): get("softmax")})
    with in_turn(), settled(loaded.model, settings), put(loaded, rule, settings):
        loaded.model(**inputs, **models.without_cache(loaded.model))


def run_rules(
    plan: Plan, out: str | Path | None, progress: Progress | None = None
) -> RuleComparison:
    """Do what is not done yet of a comparison."""
    if progress is None:
        return RuleComparison.of(run_plan(plan, out))
    share, told = _fit_share(plan), progress
    making = partial(fits_table, progress=lambda done: told(share * done))
    experiment = replace(plan.experiment, once=lambda settings: {"fits": making})
    plan = replace(plan, experiment=experiment)
    return RuleComparison.of(run_plan(plan, out, 1, lambda done: told(share + (1 - share) * done)))


def _fit_share(plan: Plan) -> float:
    """About how much of the work the fits are."""
    fits, rules = fit_passes(plan), len(planned_rules(plan))
    return fits / (fits + (4 + 12 * rules) * len(plan.units))
