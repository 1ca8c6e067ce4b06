import pytest
import torch
from scipy.integrate import DOP853
from torch import Tensor

from headgauge.particles.tableaus import EIGHTH, FIFTH, Tableau, combine
from particles.known import Known, known

TABLEAUS = pytest.mark.parametrize("tableau", [FIFTH, EIGHTH], ids=["fifth", "eighth"])
BEGIN = 0.4


def step(tableau: Tableau, system: Known, size: float) -> tuple[Tensor, Tensor, Tensor]:
    """One step from `BEGIN`: the state before, the state after, and h·k of every stage."""
    before = system.exact(BEGIN)
    changes: list[Tensor] = []

    def stage(row: Tensor, share: float) -> None:
        point = before + sum((c * k for c, k in zip(row, changes, strict=False)), torch.zeros(()))
        time = torch.full((len(before),), BEGIN + share * size, dtype=torch.float64)
        changes.append(size * system.field(time, point))

    for place in range(tableau.stages):
        stage(torch.tensor(tableau.a[place][:place]), float(tableau.c[place]))
    stage(torch.tensor(tableau.b), 1.0)
    for row, share in tableau.extra:
        stage(torch.tensor(row), share)
    after = before + combine(tableau.b, torch.stack(changes))
    return before, after, torch.stack(changes)


def off(tableau: Tableau, size: float) -> float:
    system = known(1.3)
    return float((step(tableau, system, size)[1] - system.exact(BEGIN + size)).abs().max())


@TABLEAUS
def test_a_step_is_of_its_order(tableau: Tableau):
    """One step of order p is off by h^{p+1}."""
    ratio = off(tableau, 0.4) / off(tableau, 0.2)
    assert ratio == pytest.approx(2 ** (tableau.order + 1), rel=0.35)


@TABLEAUS
@pytest.mark.parametrize("size", [0.3, 0.2, 0.1])
def test_the_estimate_covers_the_error_and_shrinks_with_it(tableau: Tableau, size: float):
    def estimate(h: float) -> float:
        changes = step(tableau, known(1.3), h)[2]
        return float(tableau.error(changes, lambda error: error.abs().amax(-1)))

    assert off(tableau, size) < 2 * estimate(size)
    order = {5: 5, 8: 8}[tableau.order]  # what the next step's size is computed with
    assert estimate(size) / estimate(size / 2) == pytest.approx(2**order, rel=0.6)


@TABLEAUS
@pytest.mark.parametrize("share", [0.1, 0.37, 0.5, 0.9])
def test_dense_output_is_of_its_order(tableau: Tableau, share: float):
    """Order 4 beside the method of order 5, order 7 beside that of order 8."""

    def error(size: float) -> float:
        system = known(1.3)
        before, after, changes = step(tableau, system, size)
        moved = tableau.dense(changes, after - before, torch.tensor([share]).double())
        return float((before + moved - system.exact(BEGIN + share * size)).abs().max())

    assert error(0.2) < {5: 1e-5, 8: 1e-8}[tableau.order]
    assert error(0.4) / error(0.2) > 0.5 * 2**tableau.order


@TABLEAUS
def test_dense_output_meets_both_ends(tableau: Tableau):
    before, after, changes = step(tableau, known(1.3, 0.6), 0.3)
    ends = [
        tableau.dense(changes, after - before, torch.full((2,), at).double()) for at in (0.0, 1.0)
    ]
    assert torch.equal(ends[0], torch.zeros_like(before))
    assert torch.allclose(ends[1], after - before, rtol=1e-13)


def test_a_still_system_has_no_error_and_no_nan():
    still = torch.zeros(13, 2, 3, dtype=torch.float64)
    error = EIGHTH.error(still, lambda each: each.abs().amax(-1))
    assert torch.equal(error, torch.zeros(2, dtype=torch.float64))


def test_the_estimate_of_order_eight_is_hairers():
    """e₅²/√(e₅² + .01e₃²) of the two embedded estimates."""
    changes = step(EIGHTH, known(1.3, 0.6), 0.4)[2]
    found = EIGHTH.error(changes, lambda error: error.abs().amax(-1))
    fifth, third = (
        torch.einsum("s,sbm->bm", torch.tensor(each), changes[:13]).abs().amax(-1)
        for each in (DOP853.E5, DOP853.E3)
    )
    assert torch.allclose(found, fifth**2 / (fifth**2 + 0.01 * third**2).sqrt(), rtol=1e-12)
