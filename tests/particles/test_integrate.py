"""The integrator alone, on a system whose solution is known."""

import math
from dataclasses import dataclass

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from headgauge.errors import InputError
from headgauge.particles.integrate import _LONG, integrate
from particles.known import Known, known

# Many steps: shapes are checked in some tests below, and where particles are moved.
quickly = pytest.mark.usefixtures("unchecked")


def run(system: Known, times: list[float], tolerance: float = 1e-9) -> Tensor:
    """The states at `times`; every trajectory must be saved at every time, once."""
    kept = torch.full((len(times), *system.start().shape), torch.nan, dtype=torch.float64)

    def saved(number: int, rows: Tensor, states: Tensor) -> None:
        assert kept[number, rows].isnan().all()
        assert states.dtype == torch.float64
        kept[number, rows] = states

    integrate(system, system.start(), torch.tensor(times).double(), saved, tolerance)
    assert not kept.isnan().any()
    return kept


def off(system: Known, times: list[float], tolerance: float) -> float:
    kept = run(system, times, tolerance)
    exact = torch.stack([system.exact(float(torch.tensor(time).double())) for time in times])
    return float((kept - exact).abs().max())


GRID = [0.0, 1e-6, 0.25, 0.5, 1.125, 1.25, 2.0, 2.0 + 2**-20, 3.5]


@quickly
def test_the_tolerance_is_reached_at_every_saved_time():
    """A step is off by the tolerance at most; over the horizon that adds up to some of them."""
    before = math.inf
    for tolerance in (1e-3, 1e-5, 1e-6, 1e-7, 1e-9, 1e-11, 1e-13):
        error = off(known(1.0, 2.5), GRID, tolerance)
        assert error < 100 * tolerance
        assert error < before
        before = error


@pytest.mark.parametrize("tolerance", [1e-4, 1e-9])
def test_the_start_is_saved_as_it_is(tolerance: float):
    start = known(1.0).start()
    assert torch.equal(run(known(1.0), [0.0, 0.2], tolerance)[0], start)
    still = known(1.0)
    assert torch.equal(run(still, [0.0], tolerance)[0], start)
    assert still.calls.rows == 0


@quickly
@pytest.mark.parametrize("tolerance", [1e-4, 1e-10])
def test_a_break_is_not_stepped_over(tolerance: float):
    """Saved times before, at and after it."""
    for turn in (0.5, 0.7, 2.99):
        times = sorted({0.0, 0.25, turn - 2**-10, turn, turn + 2**-10, 3.0})
        assert off(known(1.0, 2.5, turn=turn), times, tolerance) < 100 * tolerance


@quickly
def test_the_end_of_the_run_may_be_the_break():
    assert off(known(1.0, turn=2.0), [1.0, 2.0], 1e-10) < 1e-9


@quickly
@pytest.mark.parametrize("tolerance", [1e-4, 1e-9])
def test_a_trajectory_does_not_notice_its_company(tolerance: float):
    """Nor the order they stand in, nor that others need many more steps."""
    omega = [0.1, 5.0, 1.0]
    together = run(known(*omega, turn=1.1), [0.5, 1.5], tolerance)
    rounding = 1e-5 if tolerance > 1e-5 else 1e-13
    for place, each in enumerate(omega):
        alone = run(known(each, turn=1.1), [0.5, 1.5], tolerance)
        assert torch.allclose(together[:, place], alone[:, 0], rtol=rounding, atol=rounding)


def calls(*omega: float, times: list[float]) -> int:
    """Evaluations of the field by the method of order 5, whose dense output needs none."""
    system = known(*omega)
    run(system, times, 1e-6)
    return system.calls.rows


@quickly
def test_each_trajectory_has_its_own_steps():
    """Eight easy ones beside a hard one cost what they cost alone."""
    easy, hard = calls(0.1, times=[3.0]), calls(5.0, times=[3.0])
    assert hard > 4 * easy
    assert calls(*[0.1] * 8, 5.0, times=[3.0]) == 8 * easy + hard


@dataclass(frozen=True, eq=False)
class Hastening(Known):
    """y' = y²: the nearer its end, the shorter the steps that will do."""

    def field(self, time: Tensor, state: Tensor) -> Tensor:
        self.calls.rows += len(state)
        return state.square()


@quickly
def test_steps_that_shorten_are_foreseen():
    """Or every second one would have to be made again: twice the evaluations."""
    system = Hastening(known(1.0).omega)
    integrate(system, torch.ones_like(system.start()), [0.99], lambda *_: None, 1e-9)
    assert system.calls.rows < 600


@quickly
def test_more_saved_times_do_not_change_the_steps():
    many = torch.linspace(0.01, 3, 50).tolist()
    assert calls(2.5, times=[3.0]) == calls(2.5, times=many)
    assert torch.allclose(run(known(2.5), [3.0])[-1], run(known(2.5), many)[-1], rtol=1e-14)


@dataclass(frozen=True, eq=False)
class Wide(Known):
    """The same two numbers very many times over: a state whose stages are not copied."""

    copies: int = 1

    def start(self) -> Tensor:
        return super().start().repeat(1, self.copies)

    def exact(self, time: float) -> Tensor:
        return super().exact(time).repeat(1, self.copies)

    def field(self, time: Tensor, state: Tensor) -> Tensor:
        return super().field(time, state[:, :2]).repeat(1, self.copies)


@pytest.mark.parametrize("tolerance", [1e-4, 1e-9])
def test_a_long_state_is_saved_as_a_short_one(tolerance: float):
    wide = Wide(torch.tensor([1.0, 2.5], dtype=torch.float64), copies=_LONG)
    assert off(wide, [0.0, 0.1, 0.25, 0.5], tolerance) < 100 * tolerance


@quickly
@settings(max_examples=8)
@given(
    st.lists(st.floats(1e-3, 3), min_size=1, max_size=6, unique=True),
    st.floats(0.05, 4),
    st.floats(0.1, 4),
)
def test_whatever_the_times_and_the_break(times: list[float], turn: float, omega: float):
    assert off(known(omega, turn=turn), sorted(times), 1e-8) < 3e-7


def test_times_and_tolerances_that_cannot_be_are_refused():
    system = known(1.0)
    for times in ([], [-1.0, 1.0], [1.0, 1.0], [2.0, 1.0], [0.0, math.inf], [math.nan]):
        with pytest.raises(InputError, match=r"^the saved times must be increasing, finite and "):
            integrate(system, system.start(), times, print)
    for tolerance in (0.0, -1e-9, 1.0, math.nan):
        with pytest.raises(InputError, match=r"^the tolerance must be between 0 and 1, got"):
            integrate(system, system.start(), [1.0], print, tolerance)


class Ending(Known):
    """From time 1 on the field is no number."""

    def field(self, time: Tensor, state: Tensor) -> Tensor:
        rate = torch.where(time < 1, 1.0, torch.nan).to(state.dtype)
        return rate[:, None] * torch.ones_like(state)


@quickly
@pytest.mark.parametrize("tolerance", [1e-4, 1e-9])
def test_a_trajectory_that_ends_is_told_and_not_tried_for_ever(tolerance: float):
    system = Ending(torch.ones(1, dtype=torch.float64))
    with pytest.raises(InputError, match=r"^a trajectory cannot be followed to this tolerance"):
        integrate(system, system.start(), [2.0], lambda *_: None, tolerance)


@pytest.mark.parametrize("tolerance", [1e-4, 1e-9])
def test_nothing_is_made_on_another_device(tolerance: float, elsewhere: None):
    """`known` itself asks for none, so the systems are made on the CPU by hand."""
    with torch.device("cpu"):
        system = known(1.0, 2.5, turn=1.0)
        start, times = system.start(), torch.tensor([0.0, 0.5, 1.1])
    states: list[Tensor] = []
    integrate(system, start, times, lambda _number, _rows, found: states.append(found), tolerance)
    assert {each.device.type for each in states} == {"cpu"}


class Jumping(Known):
    """y' = −sign y: from 1 it arrives at 0 and then jumps from side to side."""

    def field(self, time: Tensor, state: Tensor) -> Tensor:
        return -state.sign()


@quickly
def test_what_does_not_come_to_an_end_is_told(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("headgauge.particles.integrate._MOST_STEPS", 200)
    system = Jumping(known(1.0).omega)
    with pytest.raises(InputError, match=r"^after 200 steps a trajectory is at t = \S+ of 4: "):
        integrate(system, torch.ones_like(system.start()), [4.0], lambda *saved: None, 1e-5)
