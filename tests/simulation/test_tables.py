import math
from dataclasses import replace

import pytest
import torch

from headgauge.particles import Attention, Particles, sphere
from headgauge.particles.integrate import states_at
from headgauge.runs.dynamics_schema import PhaseRow, RateRow, SphereRow
from headgauge.runs.schema import frame_schema
from headgauge.simulation import SimulationSettings, tables
from headgauge.theory.dynamics.observables import gaps_of, observe

PHASE = SimulationSettings(
    schemes=("post_ln", "mix_ln", "ngpt"), switch=1.0, horizon=4.0, phase_tokens=6,
    phase_dims=(2, 8), phase_betas=3, phase_seeds=3,
)  # fmt: skip
PAIR = ("post_ln", "pre_ln")

pytestmark = pytest.mark.usefixtures("unchecked")


def phase(settings: SimulationSettings = PHASE) -> tuple[list[dict], list[float]]:
    told = []
    return tables.phase_rows(settings, "cpu", told.append), told


@pytest.fixture(scope="module")
def rows():
    return phase()[0]


def test_every_combination_is_there_once(rows):
    assert all(row.keys() == frame_schema(PhaseRow).keys() for row in rows)
    named = {(row["scheme"], row["dim"], row["beta"], row["time"]) for row in rows}
    assert len(named) == len(rows) == 3 * 2 * 3 * 61
    assert {row["beta"] for row in rows} == {4.0, 8.0, 12.0}
    assert max(row["time"] for row in rows) == 12.0


def test_the_shares_are_those_of_the_particles(rows):
    directions = torch.stack([sphere.uniform(6, 2, seed) for seed in range(3)])
    times = [0.0, 2.4, 6.0, 12.0]
    schemes = [scheme for scheme in PHASE.chosen() for _ in range(3)]
    attention = Attention(torch.full((9,), 4.0, dtype=torch.float64))
    system, state = Particles.of(directions.repeat(3, 1, 1), attention, schemes)
    kept = states_at(system, state, times, 1e-8)
    for number, time in enumerate(times):
        together = observe(gaps_of(system.directions(kept[:, number])))["together"]
        for place, scheme in enumerate(PHASE.schemes):
            wanted = together[3 * place : 3 * place + 3].mean()
            (share,) = (
                row["probability"]
                for row in rows
                if (row["scheme"], row["dim"], row["beta"]) == (scheme, 2, 4.0)
                and math.isclose(row["time"], time)
            )
            assert share == pytest.approx(float(wanted), abs=1e-9), (scheme, time)
    assert any(0 < row["probability"] < 1 for row in rows)


def test_batches_do_not_change_the_result(monkeypatch):
    """None of these jumps, as Mix-LN does: all of a batch stop there, and go on by other steps."""
    smooth = replace(PHASE, schemes=("post_ln", "pre_ln", "ngpt"))
    rows, _ = phase(smooth)
    monkeypatch.setattr(tables, "_AT_ONCE", 5 * 3 * 36)
    again, told = phase(smooth)
    assert again == rows
    assert told == [5 / 18, 10 / 18, 15 / 18, 1.0]


def test_all_start_together_on_the_sphere_and_move():
    settings = SimulationSettings(
        schemes=PAIR, sphere_particles=7, beta=1.0, horizon=30.0, seed=2, radius=2.0
    )
    rows = tables.sphere_rows(settings)
    assert len(rows) == 2 * 61 * 7
    assert all(row.keys() == frame_schema(SphereRow).keys() for row in rows)
    for row in rows:
        assert row["x"] ** 2 + row["y"] ** 2 + row["z"] ** 2 == pytest.approx(1, abs=1e-12)

    def at(scheme: str, time: float, name: str) -> list[float]:
        return [row[name] for row in rows if (row["scheme"], row["time"]) == (scheme, time)]

    assert at("post_ln", 0.0, "x") == at("pre_ln", 0.0, "x")
    last = at("post_ln", 30.0, "x")
    assert max(last) - min(last) < 1e-6
    assert set(at("post_ln", 30.0, "radius")) == {2.0}
    assert min(at("pre_ln", 30.0, "radius")) > 10


def test_what_has_not_set_off_has_no_final_rate():
    settings = SimulationSettings(schemes=("pre_ln",), tokens=4, beta=25.0)
    assert [row["quantity"] for row in tables.rate_rows(settings)] == ["initial velocity"]


def test_rows_have_theory_beside_the_measured():
    settings = SimulationSettings(schemes=PAIR, tokens=6, beta=1.0, radius=2.0)
    found = [RateRow(**row) for row in tables.rate_rows(settings)]
    assert [(row.scheme, row.quantity) for row in found] == [
        ("post_ln", "initial velocity"),
        ("post_ln", "final rate"),
        ("pre_ln", "initial velocity"),
        ("pre_ln", "final rate"),
    ]
    for row in found:
        assert row.reduced == pytest.approx(row.theory, rel=1e-3)
        assert row.particles == pytest.approx(row.theory, rel=1e-3)
    assert found[2].theory == pytest.approx(2 / (2.0 * (math.e + 5)))
    assert [row.against for row in found] == ["t", "t", "t", "log t"]
    assert found[3].law == "1 − γ ~ C/t²"
