"""Rows that every result is tried on: random ones and the ones that break careless arithmetic."""

import pytest
import torch
from torch import Tensor

KINDS = (
    "random",
    "sharp",
    "flat",
    "one_hot",
    "tied",
    "sink",
    "near_duplicates",
    "nearly_equal",
    "outlier_norm",
    "identical",
    "cancelling",
)


def make_rows(kind: str, batch: int = 6, length: int = 8, dim: int = 4) -> tuple[Tensor, Tensor]:
    source = torch.Generator().manual_seed(7)
    logits = torch.randn(batch, length, dtype=torch.float64, generator=source)
    vectors = torch.randn(batch, length, dim, dtype=torch.float64, generator=source)
    if kind == "sharp":
        logits *= 20
    elif kind == "flat":
        logits *= 0
    elif kind == "one_hot":
        logits[:, 3] = 1e4
    elif kind == "tied":
        logits = logits.round()
    elif kind == "sink":
        logits[:, 0] += 6
    elif kind == "near_duplicates":
        vectors = vectors[:, :1] + 1e-9 * vectors
    elif kind == "nearly_equal":
        logits *= 0
        vectors = vectors[:, :1] + 1e-8 * vectors
    elif kind == "outlier_norm":
        vectors[:, 2] *= 1e3
    elif kind == "identical":
        vectors = vectors[:, :1].expand(batch, length, dim).contiguous()
    elif kind == "cancelling":
        vectors[:, 1::2] = -vectors[:, ::2]
    return torch.softmax(logits, -1), vectors


@pytest.fixture(scope="session")
def rows() -> tuple[Tensor, Tensor]:
    """(weights, vectors): six rows of each kind, 8 keys, 4 dimensions, float64."""
    weights, vectors = zip(*map(make_rows, KINDS), strict=True)
    return torch.cat(weights), torch.cat(vectors)


def at_most(smaller: Tensor, larger: Tensor, relative: float = 1e-9) -> bool:
    """smaller ≤ larger but for rounding; NaN on either side is False.

    The absolute part is what rounding leaves of vectors of length one (up to 1e3), and far below
    the distances between the nearly equal ones.
    """
    return bool((smaller <= larger * (1 + relative) + 1e-13).all())


@pytest.fixture(name="at_most")
def _at_most():
    return at_most
