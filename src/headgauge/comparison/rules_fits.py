"""Parameters of rules, chosen by the loss on windows behind those that are judged.

One number for the model: a grid over the rule's own range on the first calibration window, the best
three again on all of them, then Brent's method around the best; several parameters in turn, twice.
One for each layer or head: from the number for the model, a few steps of Adam along the gradient of
the loss through the swapped model, a window a step; where they end, or half the way there.
Whatever does not lower the loss on all calibration windows is not taken.
"""

import math
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import polars as pl
import torch
from scipy.optimize import minimize_scalar
from torch import Tensor

from headgauge import models
from headgauge.measure.measuring import Progress
from headgauge.measure.placed import Place, PlacedRule, Values, put, with_values
from headgauge.measure.plan import Plan
from headgauge.normalizers import RULES, AskedRule, Fit, Normalizer, asked_rules
from headgauge.runs.schema import FitRow, frame_schema

GRID = 7  # values, evenly over the range
AGAIN = 3  # of them on all windows
REFINED = 4  # tries around the best of these
TURNS = 2  # of several parameters
STEPS = 16  # of Adam
_RATE = 0.03  # of the range, a step
_BACKWARD = 2  # passes that a gradient costs beside its own

Choice = dict[tuple[str, int | None, int | None], float]


def planned_rules(plan: Plan) -> tuple[AskedRule, ...]:
    """The rules that a plan puts into its model."""
    return asked_rules(plan.task(plan.units[0]).rules)


def calibration(plan: Plan) -> list[Tensor]:
    """The windows that parameters are fitted on: as many as are judged, or as there are."""
    return plan.reading.following(plan.settings, fewer=True)


def fit_passes(plan: Plan) -> int:
    """About how many passes of the model the fits take."""
    windows, passes = len(calibration(plan)), 0
    for rule in planned_rules(plan):
        turns = 1 if len(rule.fitted) == 1 else TURNS
        passes += turns * len(rule.fitted) * (GRID + (AGAIN + REFINED) * windows)
        if set(rule.fitted.values()) - {"model"}:
            passes += STEPS * (1 + _BACKWARD) + 2 * windows
    return passes


def fits_table(plan: Plan, progress: Progress | None = None) -> pl.DataFrame:
    """The table `fits` of a run."""
    rows: list[dict[str, Any]] = []
    search = Search(plan, calibration(plan), fit_passes(plan), progress)
    for rule in planned_rules(plan):
        if rule.fitted:
            rows += search.fit(rule)
    return pl.DataFrame(rows, schema=frame_schema(FitRow))


@dataclass(eq=False)
class Search:
    """The calibration windows of a plan, and how many passes they took so far."""

    plan: Plan
    windows: list[Tensor]
    expected: int
    progress: Progress | None
    passes: int = 0
    _original: float | None = None

    def fit(self, rule: AskedRule) -> list[dict[str, Any]]:
        """The rows of a rule: its values, and the loss before and after."""
        before_passes = self.passes
        ranges = {name: RULES[rule.name].fits()[name] for name in rule.fitted}
        start: Choice = {(name, None, None): first_value(fit) for name, fit in ranges.items()}
        before = self.loss(rule, start)
        found, after = self._one_number(rule, ranges, start, before)
        spread = {name: scope for name, scope in rule.fitted.items() if scope != "model"}
        if spread:
            found, after = self._one_each(rule, ranges, spread, found, after)
        if self._original is None:
            self._original = self._mean(None, self.windows)
        known = {"rule": rule.text, "windows": len(self.windows)}
        known |= {"before": _number(before), "after": _number(after)}
        known |= {"model": _number(self._original), "passes": self.passes - before_passes}
        return [
            known | {"parameter": name, "layer": layer, "head": head, "value": float(value)}
            for (name, layer, head), value in found.items()
        ]

    def _one_number(
        self, rule: AskedRule, ranges: Mapping[str, Fit], start: Choice, before: float
    ) -> tuple[Choice, float]:
        """One for the model, of each parameter in turn."""
        best, lowest = dict(start), before
        for turn in range(1 if len(ranges) == 1 else TURNS):
            for name, fit in ranges.items():

                def tried(u: float, windows: list[Tensor], name: str = name, fit: Fit = fit):
                    return self.loss(rule, best | {(name, None, None): value(fit, u)}, windows)

                here = None if not turn else place(fit, best[name, None, None])
                u, loss = self._lowest(tried, here)
                if loss < lowest:
                    best[name, None, None], lowest = value(fit, u), loss
        return best, lowest

    def _lowest(
        self, tried: Callable[[float, list[Tensor]], float], here: float | None
    ) -> tuple[float, float]:
        """Where on the range the loss is lowest, and how low; near `here`, or anywhere."""
        width, seen = 1 / (GRID - 1), dict[float, float]()

        def watched(u: float) -> float:
            seen[float(u)] = tried(float(u), self.windows)
            return seen[float(u)]

        if here is None:
            first = {step * width: tried(step * width, self.windows[:1]) for step in range(GRID)}
            # Brent's method never tries the ends of a range: here they are.
            for u in sorted(first, key=first.__getitem__)[:AGAIN]:
                watched(u)
        middle = min(seen, key=seen.__getitem__) if here is None else here
        ends = max(0.0, middle - width), min(1.0, middle + width)
        how = {"xatol": 1e-3, "maxiter": REFINED}
        minimize_scalar(watched, bounds=ends, method="bounded", options=how)
        u = min(seen, key=seen.__getitem__)
        return u, seen[u]

    def _one_each(
        self,
        rule: AskedRule,
        ranges: Mapping[str, Fit],
        spread: Mapping[str, str],
        found: Choice,
        lowest: float,
    ) -> tuple[Choice, float]:
        """One for each layer or head, from the one for the model."""
        settings, loaded = self.plan.settings, self.plan.loaded
        layers = settings.layers or tuple(range(len(models.attention_modules(loaded.model))))
        heads = settings.heads or tuple(range(loaded.facts.heads))
        shares = {
            name: torch.full(
                (len(layers), len(heads) if scope == "head" else 1),
                place(ranges[name], found[name, None, None]),
            )
            for name, scope in spread.items()
        }
        fixed = {name: found[name, None, None] for name in ranges if name not in spread}

        def now() -> PlacedRule:
            made = {name: value(ranges[name], share) for name, share in shares.items()}
            rows: dict[Place, Normalizer] = {
                (layer, None): rule.rule(**fixed, **{name: made[name][row] for name in made})
                for row, layer in enumerate(layers)
            }
            return PlacedRule(rule.text, rows)

        def numbers() -> Choice:
            told: Choice = {(name, None, None): number for name, number in fixed.items()}
            for name, share in shares.items():
                made = value(ranges[name], share.detach().double())
                for row, layer in enumerate(layers):
                    for head, number in zip(heads, made[row].tolist(), strict=False):
                        told[name, layer, head if spread[name] == "head" else None] = number
            return told

        alike = numbers()
        for share in shares.values():
            share.requires_grad_()
        adam = torch.optim.Adam(shares.values(), lr=_RATE)
        for step in range(STEPS):
            adam.param_groups[0]["lr"] = _RATE * (1 - step / STEPS)  # each window pulls elsewhere
            with torch.enable_grad():
                loss = self._loss(now(), self.windows[step % len(self.windows)])
                if not bool(loss.isfinite()):
                    break
                grads = torch.autograd.grad(loss, list(shares.values()), allow_unused=True)
            for share, grad in zip(shares.values(), grads, strict=True):
                share.grad = torch.zeros_like(share) if grad is None else grad.nan_to_num(0.0)
            adam.step()
            with torch.no_grad():
                for share in shares.values():
                    share.clamp_(0.0, 1.0)
            self._told(_BACKWARD)
        best = alike
        for _ in range(2):
            made = numbers()
            if (after := self.loss(rule, made)) < lowest:
                best, lowest = made, after
            with torch.no_grad():
                for name, share in shares.items():
                    share.add_(place(ranges[name], found[name, None, None])).div_(2)
        return best, lowest

    def loss(self, rule: AskedRule, values: Values, windows: list[Tensor] | None = None) -> float:
        """Mean over calibration windows; infinite where it is no number."""
        return self._mean(with_values(rule, values), windows or self.windows)

    def _mean(self, rule: PlacedRule | None, windows: list[Tensor]) -> float:
        losses = [float(self._loss(rule, ids)) for ids in windows]
        mean = math.fsum(losses) / len(losses)
        return mean if math.isfinite(mean) else math.inf

    def _loss(self, rule: PlacedRule | None, ids: Tensor) -> Tensor:
        loaded = self.plan.loaded
        inputs = models.model_inputs(loaded, ids[None])
        swapped = nullcontext() if rule is None else put(loaded, rule, self.plan.settings)
        with swapped:
            output = models.run(loaded, inputs)
        self._told(1)
        found = models.next_token_loss(loaded, output, ids[None])
        assert found is not None
        return found[0]

    def _told(self, passes: int) -> None:
        self.passes += passes
        if self.progress is not None and self.expected:
            self.progress(min(1.0, self.passes / self.expected))


def first_value(fit: Fit) -> float:
    """Where a search begins: at no change where the range has it, else in its middle."""
    there = fit.unchanged is not None and fit.low <= fit.unchanged <= fit.high
    return fit.unchanged if there and fit.unchanged is not None else value(fit, 0.5)


def value(fit: Fit, u: Any) -> Any:
    """The number at a share u of the range."""
    if fit.scale == "log":
        # Its ends exactly: beyond them a rule may refuse it.
        return fit.high if isinstance(u, float) and u == 1 else fit.low * (fit.high / fit.low) ** u
    return fit.low + (fit.high - fit.low) * u


def place(fit: Fit, number: float) -> float:
    """The share of the range that a number stands at."""
    if fit.scale == "log":
        return math.log(number / fit.low) / math.log(fit.high / fit.low)
    return (number - fit.low) / (fit.high - fit.low)


def _number(loss: float) -> float | None:
    return loss if math.isfinite(loss) else None
