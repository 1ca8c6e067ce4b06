"""Every scheme, and a device that shows what was made without asking for one."""

from collections.abc import Iterator
from typing import Any

import pytest
import torch

from headgauge.particles.schemes import Scheme
from headgauge.simulation import Simulation, simulate
from particles.reference import ALL
from shape_checks import shapes_unchecked


@pytest.fixture(params=ALL, ids=lambda scheme: scheme.name)
def scheme(request: pytest.FixtureRequest) -> Scheme:
    """The paper's six and the published LN-Scaling."""
    return request.param


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """A few tokens are nothing to share out: more threads would only wait for each other."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def elsewhere() -> Iterator[None]:
    """Tensors made without `device=` land on a device that nothing else is on.

    Whoever mixes one of them with the state's own fails, as it would with a state on a GPU.
    """
    with torch.device("meta"):
        yield


SMALL: dict[str, Any] = {
    "tokens": 6,
    "dim": 8,
    "beta": 2.0,
    "horizon": 2.0,
    "seeds": 1,
    "phase_tokens": 4,
    "phase_dims": (3,),
    "phase_betas": 3,
    "phase_seeds": 2,
    "sphere_particles": 5,
    "schemes": ("post_ln", "peri_ln"),
}


@pytest.fixture(scope="session")
def small_simulation(tmp_path_factory: pytest.TempPathFactory) -> Simulation:
    """All parts of a simulation, in its folder."""
    with shapes_unchecked():
        return simulate(out=tmp_path_factory.mktemp("simulation") / "run", **SMALL)
