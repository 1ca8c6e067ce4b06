import pytest
import torch

import headgauge
from headgauge.training import TrainingLog, cost
from headgauge.training.cost import Clock, Interval

from .conftest import batches, llama, plain_loss


def test_it_logs_less_often_where_it_costs_more_than_its_budget():
    interval = Interval(50, 0.02)
    interval.paid(9.0)  # the first loads what it needs
    assert interval.adapt(0.1) is None
    interval.paid(0.3)
    said = interval.adapt(0.1)  # 0.3 s in 5 s
    assert interval.every == 150
    assert said == (
        "every 150 steps from here: it costs 300 ms, 6.00% of the time of 50 steps, above its "
        "budget of 2.00%"
    )
    assert interval.share(0.1) == pytest.approx(0.02)
    assert interval.adapt(0.1) is None
    assert interval.adapt(0.13) is None  # a little cheaper: no going to and fro
    assert interval.adapt(1.0) is not None
    assert interval.every == 50
    assert interval.adapt(10.0) is None  # never more often than asked


def test_without_a_budget_it_stays():
    interval = Interval(5, None)
    for _ in range(3):
        interval.paid(100.0)
    assert interval.adapt(0.1) is None
    assert interval.share(0.1) == pytest.approx(200)


def test_a_step_is_timed_without_our_own_part(monkeypatch):
    now = iter([0.0, *(1.0, 1.5, 2.0), *(10.0, 12.0, 20.0), *(30.0, 31.0, 40.0), 50.0])
    monkeypatch.setattr(cost, "perf_counter", lambda: next(now))
    clock, own = Clock(torch.device("cpu")), []
    for _ in range(3):
        with clock.ours():
            pass
        own.append(clock.step())
    assert own == [0.5, 2.0, 1.0]
    assert clock.typical == 19.0  # the first two steps load and compile
    clock.step()
    assert clock.typical == 14.5


def test_a_monitor_stays_within_its_budget_and_says_so(tmp_path):
    """A small model's statistics cost more than its steps."""
    model, (ids,) = llama(), batches(1)
    with headgauge.Monitor(model, every=1, budget=0.05, out=tmp_path) as monitor:
        logged = []
        for _ in range(12):
            plain_loss(model, ids)
            logged.append(monitor.step())
    assert logged[0]
    assert sum(logged) < 8
    assert monitor.every > 1
    assert monitor.notes[0].startswith("logging every ")
    assert TrainingLog.load(tmp_path).header["budget"] == 0.05
    assert "logging every" in (tmp_path / "log.jsonl").read_text()
