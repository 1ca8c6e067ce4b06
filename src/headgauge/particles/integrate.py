"""Runge–Kutta steps of a batch of trajectories, each with its own step size.

The error of each step is estimated and the next chosen by it; the states at asked times come from
the method's dense output. Down to a tolerance of 1e-6 the method is of order 5, below it of order
8; down to 1e-5 its stages are computed in single precision, whose rounding is then too small to
count, while the state itself is always added up in double. After every step the system may project
its state: directions back to unit length. A direction's field is the same for all lengths of the
direction, so projecting costs no evaluation.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from headgauge import kernels
from headgauge.errors import InputError
from headgauge.particles.systems import Changes, Scalars, Some, States, System
from headgauge.particles.tableaus import EIGHTH, FIFTH, Fifth, Tableau, combine
from headgauge.threads import one_thread

LOOSE = 1e-6  # from here on the method of order 5 is cheaper
SINGLE = 1e-5  # from here on single precision will do for a stage
_SAFETY, _LEAST, _MOST = 0.9, 0.2, 6.0
_MOST_STEPS = 5_000  # from one break to the next: what needs more does not come to an end
_LONG = 1 << 12  # numbers of a state from which on a copy of its stages is slow
_SEEN = 1 << 21  # numbers of saved states that are made at once
_SMALLEST = 1e-14  # a step below this share of the time means the field has broken down


Asked = Sequence[float] | Float[Tensor, "times"]
Saved = Callable[[int, Some, Float[Tensor, "some m"]], object]
"""Called with the number of a saved time, the trajectories that reached it, and their states, which
are others after the call."""


def integrate(
    system: System, state: States, times: Asked, saved: Saved, tolerance: float = 1e-9
) -> None:
    """Carry every trajectory from time 0 through all `times`, saving the states there."""
    asked = torch.as_tensor(times, dtype=torch.float64, device="cpu").tolist()
    ordered = bool(asked) and asked[0] >= 0 and all(a < b for a, b in pairwise(asked))
    if not (ordered and asked[-1] < math.inf):
        raise InputError("the saved times must be increasing, finite and not negative")
    if not 0 < tolerance < 1:
        raise InputError(f"the tolerance must be between 0 and 1, got {tolerance:g}")
    run = _Run(FIFTH if tolerance >= LOOSE else EIGHTH, tolerance, saved)
    working = torch.float32 if tolerance >= SINGLE else state.dtype
    if asked[0] == 0:
        saved(0, torch.arange(len(state), device=state.device), state)
    step: Scalars | None = None
    with _threads(system.compiled(working, state)):
        for start, stop in pairwise((0.0, *system.breaks(asked[-1]), asked[-1])):
            if stop > start:
                within = [(place, at) for place, at in enumerate(asked) if start < at <= stop]
                here = system.between(start, stop, working)
                slope = here.field(torch.full_like(state[:, 0], start), state.to(working))
                if step is None:
                    step = run.first_step(here, state, slope, asked[-1])
                state, step = run.segment(here, state, slope, step, (start, stop), within)


@contextmanager
def _threads(compiled: bool) -> Iterator[None]:
    """Where steps are compiled rows on threads of their own, torch has one: its others would spin
    beside them."""
    if not compiled:
        yield
        return
    workers = torch.get_num_threads()
    with one_thread(), kernels.helped(workers):
        yield


def states_at(
    system: System, state: States, times: Asked, tolerance: float = 1e-9
) -> Float[Tensor, "batch times m"]:
    """The states at all `times` together, where they are few."""
    kept = state.new_empty(len(state), len(times), state.shape[1])

    def saved(number: int, which: Tensor, states: Tensor) -> None:
        kept[which, number] = states

    integrate(system, state, times, saved, tolerance)
    return kept


@dataclass(frozen=True)
class _Run:
    """What stays the same from the first step to the last."""

    tableau: Tableau
    tolerance: float
    saved: Saved

    def first_step(self, system: System, state: States, slope: States, end: float) -> Scalars:
        """About the longest that is good: its error is the tolerance if the rate changes in the
        time in which the state does."""
        # Without the last digits, as in `_judge`.
        rate = system.size(slope, state.to(slope.dtype)).float().to(state.dtype)
        step = self.tolerance ** (1 / self.tableau.order) / rate
        return step.nan_to_num(0.0).clamp(1e-6 * end, min(0.1 * end, 1.0))

    def segment(
        self,
        system: System,
        state: States,
        slope: States,
        step: Scalars,
        span: tuple[float, float],
        within: Sequence[tuple[int, float]],
    ) -> tuple[States, Scalars]:
        """From one break to the next; those that have arrived leave the batch."""
        start, stop = span
        final, final_step = torch.empty_like(state), step.clone()
        count = self.tableau.stages + 1 + len(self.tableau.extra)
        # The same room for every step: asked for anew it costs as much as a stage.
        room = slope.new_empty(count * slope.numel())
        alive = torch.arange(len(state), device=state.device)
        before = torch.zeros_like(step)
        time = torch.full_like(step, start)
        for _ in range(_MOST_STEPS):
            left = stop - time
            # What would leave a crumb goes all the way.
            last = step >= 0.99 * left
            size = torch.where(last, left, step)
            changes = room[: count * slope.numel()].view(count, *slope.shape)
            trial = _Trial(self.tableau, system, time, state, slope, size, changes)
            good, step, before = self._judge(trial, step, last, before)
            arrived = torch.where(last, torch.full_like(time, stop), time + size)
            self._save(trial, good, arrived, alive, within)
            if bool(good.all()):  # which is usual, and copies nothing
                state, slope, time = system.project(trial.state), trial.slope, arrived
            else:
                state = torch.where(good[:, None], system.project(trial.state), state)
                slope = torch.where(good[:, None], trial.slope, slope)
                time = torch.where(good, arrived, time)
            done = good & last
            if bool(done.any()):
                final[alive[done]], final_step[alive[done]] = state[done], step[done]
                keep = (~done).nonzero()[:, 0]
                if not len(keep):
                    return final, final_step
                alive, time, state, slope, step, before = (
                    each[keep] for each in (alive, time, state, slope, step, before)
                )
                system = system.only(keep)
        raise InputError(
            f"after {_MOST_STEPS} steps a trajectory is at t = {float(time.min()):.4g} of "
            f"{stop:g}: its field jumps or is too steep for this tolerance"
        )

    def _judge(
        self, trial: "_Trial", step: Scalars, last: Bool[Tensor, "batch"], before: Scalars
    ) -> tuple[Bool[Tensor, "batch"], Scalars, Scalars]:
        """Which steps are good, how long each trajectory's next one is, and the longest that would
        have been good, which `before` has of the last good step: where it falls from step to step
        it is taken to go on falling (Gustafsson), or every second step would be one too long."""
        size = trial.size
        # Where the field overflows there is no error to speak of: try a shorter step.
        error = (trial.error / self.tolerance).to(size.dtype).nan_to_num(math.inf, math.inf)
        good = error <= 1
        stuck = size <= _SMALLEST * (1 + trial.time)
        if bool((stuck & ~(good & last)).any()):
            raise InputError(
                "a trajectory cannot be followed to this tolerance: its steps become too small"
            )
        power = -1 / self.tableau.order
        # The last digits of a power depend on how many stand beside it: they are left out.
        longest = size * (error.clamp_min(1e-10) ** power).float()
        factor = _SAFETY * longest / size * torch.where(good, longest / before, 1.0).clamp(0.8, 1.0)
        factor = factor.clamp(_LEAST, _MOST)
        proposed = size * torch.where(good, factor, factor.clamp_max(1.0))
        # A step that was cut short by the end says nothing against the one before it.
        proposed = torch.where(good & last, torch.maximum(step, proposed), proposed)
        return good, proposed, torch.where(good, longest, before)

    def _save(
        self,
        trial: "_Trial",
        good: Bool[Tensor, "batch"],
        arrived: Scalars,
        alive: Some,
        within: Sequence[tuple[int, float]],
    ) -> None:
        """Hand out the saved times that lie in the step each trajectory has just made."""
        earliest, latest = float(trial.time.min()), float(arrived.max())
        passed = [each for each in within if earliest < each[1] <= latest]
        if not passed:
            return
        at = torch.tensor([time for _, time in passed], dtype=arrived.dtype, device=arrived.device)
        due = good & (trial.time < at[:, None]) & (at[:, None] <= arrived)
        some = max(1, _SEEN // trial.before.numel())
        for first in range(0, len(passed), some):
            which, rows = due[first : first + some].nonzero().unbind(1)
            if not len(rows):
                continue
            states = trial.system.project(trial.at(rows, at[first + which]))
            counts = due[first : first + some].sum(1).tolist()
            numbers = [number for number, _ in passed[first : first + some]]
            parts = zip(numbers, alive[rows].split(counts), states.split(counts), strict=True)
            for number, reached, seen in parts:
                if len(reached):
                    self.saved(number, reached, seen)


class _Trial:
    """One step of every trajectory, not yet accepted. `changes` holds h·k of each stage."""

    def __init__(
        self,
        tableau: Tableau,
        system: System,
        time: Scalars,
        state: States,
        slope: States,
        size: Scalars,
        changes: Changes,
    ) -> None:
        self.tableau, self.system = tableau, system
        self.time, self.size, self.before = time, size, state
        self._prepared = not tableau.extra
        stages, self.changes = tableau.stages, changes
        if tableau.whole is not None:
            step = system.step(tableau.whole, time, size, state, slope, self.changes)
            if step is not None:
                self.state, self.slope, self.error = step
                return
        self._base, self._step = state.to(slope.dtype), size.to(slope.dtype)[:, None]
        self.changes[0] = self._step * slope
        for stage in range(1, stages):
            self._stage(stage, tableau.a[stage][:stage], tableau.c[stage])
        self.state = state + combine(tableau.b, self.changes).to(state.dtype)
        reached = self.state.to(slope.dtype)
        self.slope = system.field(time + size, reached)
        self.changes[stages] = self._step * self.slope
        self.error = tableau.error(self.changes, partial(system.size, state=reached))

    def _stage(self, stage: int, row: np.ndarray, share: float) -> None:
        point = combine(row, self.changes, self._base)
        slope = self.system.field(self.time + share * self.size, point)
        torch.mul(slope, self._step, out=self.changes[stage])

    def at(self, which: Some, time: Scalars) -> Float[Tensor, "some m"]:
        """The states of some trajectories at a time within the step of each."""
        if not self._prepared:  # the stages that only the dense output needs
            for extra, (row, share) in enumerate(self.tableau.extra):
                self._stage(self.tableau.stages + 1 + extra, row, share)
            self._prepared = True
        share = ((time - self.time[which]) / self.size[which]).to(self.changes.dtype)
        if isinstance(self.tableau, Fifth):
            weights = self.tableau.weights(share)
            seen = self.system.within(which, weights, self.before, self.changes)
            if seen is not None:
                return seen
        if self.before.shape[1] < _LONG:
            return self._dense(which, share)
        # Picking rows would copy all their stages; a slice does not.
        seen = self.before.new_empty(len(which), self.before.shape[1])
        for row, own, place in zip(which.tolist(), share.split(1), seen.split(1), strict=True):
            self._dense(slice(row, row + 1), own, place)
        return seen

    def _dense(
        self, which: Some | slice, share: Scalars, out: Float[Tensor, "some m"] | None = None
    ) -> Float[Tensor, "some m"]:
        changes, before = self.changes[:, which], self.before[which]
        whole = (self.state[which] - before).to(changes.dtype) if self.tableau.extra else None
        return torch.add(before, self.tableau.dense(changes, whole, share), out=out)
