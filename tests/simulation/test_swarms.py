import math
from dataclasses import replace

import pytest
import torch

from headgauge.errors import InputError
from headgauge.particles import schemes, sphere
from headgauge.particles.attention import Attention
from headgauge.particles.integrate import states_at
from headgauge.particles.systems import Particles
from headgauge.runs.dynamics_schema import CollapseRow, SwarmRow
from headgauge.runs.schema import frame_schema
from headgauge.simulation.swarms import SwarmKind, Swarms, swarms
from headgauge.theory.dynamics import observables

TIMES = torch.linspace(0, 2.4, 4, dtype=torch.float64)
SOME = [schemes.get("post_ln"), schemes.get("peri_ln")]


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("weights", ["identity", "random", "layers"])
def test_a_swarm_is_its_particles(weights):
    kind = SwarmKind(tokens=6, dim=8, beta=2.0, weights=weights, radius=1.5, seeds=(3, 5))
    found = swarms(SOME, kind, TIMES, 1e-8).seen
    for place, seed in enumerate(kind.seeds):
        directions = sphere.uniform(6, 8, 7_919 + seed).expand(2, 6, 8)
        system, state = Particles.of(directions, kind.attention(2, seed, "cpu"), SOME, 1.5)
        for at, states in enumerate(states_at(system, state, TIMES, 1e-9).unbind(1)):
            gaps, tokens = system.see(float(TIMES[at]), states)
            expected = {name: values.mean(-1) for name, values in tokens.items()}
            expected |= {"mean_cosine": 1 - observables.pair_values(gaps).mean(-1)}
            for name, values in expected.items():
                torch.testing.assert_close(found[name][:, place, at], values, rtol=1e-5, atol=1e-6)


@pytest.mark.usefixtures("unchecked")
def test_seeds_do_not_depend_on_their_company():
    both = swarms(SOME, SwarmKind(tokens=5, dim=6, weights="random", seeds=(0, 1)), TIMES, 1e-7)
    alone = swarms(SOME[1:], SwarmKind(tokens=5, dim=6, weights="random", seeds=(1,)), TIMES, 1e-7)
    torch.testing.assert_close(
        both.seen["mean_cosine"][1, 1], alone.seen["mean_cosine"][0, 0], rtol=1e-5, atol=1e-6
    )
    assert not torch.allclose(both.seen["mean_cosine"][:, 0], both.seen["mean_cosine"][:, 1])


@pytest.mark.usefixtures("unchecked")
def test_seeds_that_go_together_are_each_alone(monkeypatch: pytest.MonkeyPatch):
    """To the last digit, however many go together."""
    kind = SwarmKind(tokens=18, dim=6, seeds=(3, 0, 7))
    whole = swarms(SOME, kind, TIMES).seen
    monkeypatch.setattr("headgauge.simulation.swarms._AT_ONCE", len(SOME) * (18**2 + 18) * 2)
    pairs = swarms(SOME, kind, TIMES).seen
    for at, seed in enumerate(kind.seeds):
        alone = swarms(SOME, replace(kind, seeds=(seed,)), TIMES).seen
        for name, values in whole.items():
            assert torch.equal(values, pairs[name]), name
            assert torch.equal(values[:, [at]], alone[name]), name


@pytest.mark.usefixtures("unchecked")
def test_rows_have_the_tables_columns_and_the_bands():
    found = swarms(SOME, SwarmKind(tokens=5, dim=6, seeds=tuple(range(5))), TIMES, 1e-4)
    rows = found.rows()
    assert len(rows) == len(SOME) * len(TIMES)
    assert all(row.keys() == frame_schema(SwarmRow).keys() | {"radius"} for row in rows)
    last = rows[len(TIMES) - 1]
    values = found.seen["mean_cosine"][0, :, -1]
    assert last["mean_cosine"] == pytest.approx(float(values.mean()))
    assert last["low"] == pytest.approx(float(values.quantile(0.05)))
    assert last["high"] == pytest.approx(float(values.quantile(0.95)))
    assert last["seeds"] == 5


def made(least: list[list[float]]) -> Swarms:
    seen = {"least_cosine": torch.tensor([least], dtype=torch.float64)}
    kind = SwarmKind(seeds=tuple(range(len(least))))
    times = torch.arange(len(least[0]), dtype=torch.float64)
    return Swarms(kind, (SOME[0],), times, seen)


def test_collapse_says_how_many_and_when():
    gone = [0.0, 0.9, 1 - 1e-5]  # log of the gap falls from −1 to −5: .001 is half way
    (row,) = made([gone, gone, [0.0, 0.1, 0.2]]).collapse()
    assert row.keys() == frame_schema(CollapseRow).keys()
    assert row["collapsed"] == pytest.approx(2 / 3)
    assert row["time"] == pytest.approx(1.5)
    assert row["low"] == pytest.approx(1.5)
    assert row["high"] is None
    sooner = [0.0, 1 - 1e-5, 1 - 1e-5]  # from 0 to −5: at .6
    (row,) = made([gone, sooner]).collapse()
    assert (row["low"], row["time"], row["high"]) == pytest.approx((0.6, 1.05, 1.5))
    (row,) = made([gone, [0.0] * 3, [0.0] * 3]).collapse()
    assert row["time"] is None
    assert row["low"] == pytest.approx(1.5)
    (row,) = made([[0.0] * 3]).collapse()
    assert (row["collapsed"], row["time"], row["low"], row["high"]) == (0, None, None, None)


@pytest.mark.usefixtures("unchecked")
def test_progress_ends_at_one():
    told = []
    swarms(SOME, SwarmKind(tokens=4, dim=4, seeds=(0, 1)), TIMES, progress=told.append)
    assert told[-1] == 1.0
    assert min(told) > 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"tokens": 1}, "2 tokens and 2 dimensions or more: 1"),
        ({"seeds": ()}, "at least one seed"),
        ({"beta": 0.0}, "β must be above 0 and at most 300, got 0"),
        ({"beta": math.nan}, "β must be above 0 and at most 300, got nan"),
    ],
)
def test_bad_kinds_are_refused(options, said):
    with pytest.raises(InputError, match=said):
        SwarmKind(**options)


@pytest.mark.usefixtures("unchecked")
def test_rules_other_than_softmax_reach_the_attention():
    kind = SwarmKind(tokens=5, dim=6, rule="sparsemax", beta=4.0, seeds=(0,))
    assert isinstance(kind.attention(1, 0, "cpu"), Attention)
    sparse = swarms(SOME[:1], kind, TIMES).seen["mean_cosine"]
    soft = swarms(SOME[:1], SwarmKind(tokens=5, dim=6, beta=4.0, seeds=(0,)), TIMES)
    assert not torch.allclose(sparse, soft.seen["mean_cosine"], atol=1e-3)
