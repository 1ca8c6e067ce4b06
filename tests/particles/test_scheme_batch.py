import pytest
import torch

from headgauge.errors import InputError
from headgauge.particles.scheme_batch import SchemeBatch
from headgauge.particles.schemes import MixLn, PostLn, PreLn
from particles import reference

CPU = torch.device("cpu")


def drawn(*shape: int) -> torch.Tensor:
    return torch.rand(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) + 0.1


@pytest.mark.parametrize("tokens", [(), (3,)], ids=["reduced", "particles"])
def test_each_trajectory_has_the_rates_of_its_own_scheme(tokens: tuple[int, ...]):
    """All schemes twice, in a mixed order, each at its own time."""
    order = [*reference.ALL, *reversed(reference.ALL)]
    radius, radial, norm = drawn(3, len(order), *tokens)
    time = torch.linspace(0, 5, len(order), dtype=torch.float64)
    slowness, growth = SchemeBatch.of(order, len(order), CPU).rates(time, radius, radial, norm)
    for place, scheme in enumerate(order):
        at = time[place].expand_as(norm[place])
        factor = scheme.speed_factor(at, radius[place], norm[place])
        assert torch.allclose(slowness[place], 1 / factor, rtol=1e-15)
        assert torch.equal(growth[place], scheme.radial_rate(at, radial[place], norm[place]))


def test_rows_keep_their_schemes():
    batch = SchemeBatch.of([PostLn(), PreLn(), MixLn(1.0), PreLn()], 4, CPU)
    some = batch.rows(torch.tensor([3, 0]))
    assert [some.schemes[place] for place in some.which.tolist()] == [PreLn(), PostLn()]


def test_one_scheme_serves_all():
    batch = SchemeBatch.of(PreLn(), 3, CPU)
    radius = torch.tensor([1.0, 2.0, 4.0], dtype=torch.float64)
    one = torch.ones(3, dtype=torch.float64)
    slowness, growth = batch.rates(0 * one, radius, one, one)
    assert slowness.tolist() == [1, 0.5, 0.25]
    assert growth.tolist() == [1, 1, 1]


def test_breaks_are_everyones_and_between_them_nothing_jumps():
    batch = SchemeBatch.of([MixLn(3.0), PostLn(), MixLn(1.5), MixLn(3.0)], 4, CPU)
    assert batch.breaks() == (1.5, 3.0)
    between = batch.between(1.5, 3.0)
    assert between.breaks() == ()
    found = [between.schemes[place] for place in between.which.tolist()]
    assert found == [PostLn(), PostLn(), PreLn(), PostLn()]


def test_as_many_schemes_as_trajectories():
    with pytest.raises(InputError, match=r"^2 schemes for 3 trajectories$"):
        SchemeBatch.of([PostLn(), PreLn()], 3, CPU)
