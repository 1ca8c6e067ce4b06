import pytest
import torch

from headgauge.particles import schemes, sphere
from headgauge.particles.attention import Attention
from headgauge.particles.integrate import states_at
from headgauge.particles.systems import Particles
from headgauge.runs.dynamics_schema import PhaseRow
from headgauge.runs.schema import frame_schema
from headgauge.simulation import phase
from headgauge.theory.dynamics.observables import gaps_of, observe

TIMES = torch.tensor([0.0, 2.0, 5.0, 9.0], dtype=torch.float64)
CHOSEN = [schemes.get("post_ln"), schemes.get("mix_ln", switch=1.0), schemes.get("ngpt")]
BETAS = [0.5, 4.0]


@pytest.fixture(scope="module")
def rows():
    return phase.phase_diagram(CHOSEN, 6, [2, 8], BETAS, TIMES, seeds=3)


def test_every_combination_is_there_once(rows):
    assert all(row.keys() == frame_schema(PhaseRow).keys() for row in rows)
    named = {(row["scheme"], row["dim"], row["beta"], row["time"]) for row in rows}
    assert len(named) == len(rows) == 3 * 2 * 2 * 4


@pytest.mark.usefixtures("unchecked")
def test_the_shares_are_those_of_the_particles(rows):
    directions = torch.stack([sphere.uniform(6, 2, seed) for seed in range(3)])
    for scheme in CHOSEN:
        for beta in BETAS:
            attention = Attention(torch.full((3,), beta, dtype=torch.float64))
            system, state = Particles.of(directions, attention, scheme)
            kept = states_at(system, state, TIMES, 1e-8)
            for number, time in enumerate(TIMES.tolist()):
                gaps = gaps_of(system.directions(kept[:, number]))
                wanted = float(observe(gaps).together.mean())
                mine = next(
                    row["probability"]
                    for row in rows
                    if (row["scheme"], row["dim"], row["beta"], row["time"])
                    == (scheme.name, 2, beta, time)
                )
                assert mine == pytest.approx(wanted, abs=1e-9), (scheme.name, beta, time)
    assert any(0 < row["probability"] < 1 for row in rows)


@pytest.mark.usefixtures("unchecked")
def test_batches_do_not_change_the_result(rows, monkeypatch):
    monkeypatch.setattr(phase, "_AT_ONCE", 1)
    told = []
    alone = phase.phase_diagram(CHOSEN, 6, [2, 8], BETAS, TIMES, seeds=3, progress=told.append)
    assert alone == rows
    assert told[-1] == 1.0
    assert len(told) == 12
