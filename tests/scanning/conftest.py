"""Small models with random weights, and their tokens."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from model_families import Case, case

LENGTH = 24


@pytest.fixture
def build() -> Callable[..., Case]:
    """A small model by the name of its family, eager unless said otherwise."""
    return lambda name, implementation="eager": case(name, implementation)


@pytest.fixture
def llama(build: Callable[..., Case]) -> Any:
    return build("llama", "sdpa").model


def three_windows() -> Tensor:
    """Tokens that the small models know."""
    return torch.randint(3, 50, (3, LENGTH), generator=torch.Generator().manual_seed(5))


@pytest.fixture
def ids() -> Tensor:
    return three_windows()
