"""Shapes unchecked for a while: in whole runs and many steps the checks are most of the time."""

from collections.abc import Iterator
from contextlib import contextmanager

from jaxtyping import config


@contextmanager
def shapes_unchecked() -> Iterator[None]:
    before = config.jaxtyping_disable
    config.update("jaxtyping_disable", True)
    try:
        yield
    finally:
        config.update("jaxtyping_disable", before)
