"""Theory and rules on real GPT-2 attention, where HEADGAUGE_DATA_DIR has the samples.

An extra beside the random and adversarial rows, which run everywhere.
"""

import os
from pathlib import Path

import numpy as np
import pytest
import torch

from headgauge import normalizers
from headgauge.theory.normalization import (
    distance_bounds,
    expected_distance,
    finite_difference,
    sensitivity,
    separability,
)
from headgauge.theory.normalization.distance import distance
from headgauge.theory.normalization.selection import top_n

SAMPLES = sorted(
    Path(os.environ.get("HEADGAUGE_DATA_DIR", "/nonexistent")).glob("gpt2_attention/*.npz")
)
pytestmark = pytest.mark.skipif(not SAMPLES, reason="HEADGAUGE_DATA_DIR has no GPT-2 attention")


@pytest.fixture(params=SAMPLES, ids=lambda path: path.stem)
def sample(request):
    return np.load(request.param)


def test_softmax_of_the_logits_is_the_models_attention(sample):
    logits = torch.from_numpy(sample["scaled"])
    causal = torch.ones(logits.shape[-2:], dtype=torch.bool).tril()
    stored = torch.from_numpy(sample["softmax"])
    got = normalizers.get("softmax")(logits, causal)
    assert torch.allclose(got, stored, atol=2e-6)
    raw = normalizers.get("softmax", temperature=8.0)(torch.from_numpy(sample["raw"]), causal)
    assert torch.allclose(raw, stored, atol=2e-6)


def test_the_last_rows_obey_every_corrected_bound(sample):
    weights = torch.from_numpy(sample["softmax"])[:, :, -1].reshape(144, -1).double()
    weights = weights / weights.sum(-1, keepdim=True)
    source = torch.Generator().manual_seed(0)
    vectors = torch.randn(weights.shape[-1], 16, dtype=torch.float64, generator=source)
    vectors = vectors / vectors.norm(dim=-1, keepdim=True)
    for n in (1, 2, 4):
        selected = top_n(weights, n)
        d = distance(weights, vectors, selected)
        lower, upper = distance_bounds.sandwich(weights, vectors, selected)
        assert (lower <= d + 1e-12).all()
        assert (d <= upper + 1e-12).all()
        assert (d <= distance_bounds.centroid_bound(weights, vectors, selected) + 1e-12).all()
        exact = expected_distance.exact(weights, vectors, n)
        lower, upper = expected_distance.stratified_sandwich(weights, vectors, n)
        assert (lower <= exact + 1e-12).all()
        assert (exact <= upper + 1e-12).all()
        xi = separability.xi(weights, selected, separability.minimum_separation(vectors))
        counted = separability.deterministic_lower_bound(
            xi, selected, separability.radius(weights, vectors, selected)
        )
        assert (counted <= separability.separability(weights, vectors, selected) + 1e-12).all()


def test_the_last_rows_jacobian_norms(sample):
    logits = torch.from_numpy(sample["scaled"])[:, :, -1].reshape(144, -1).double()
    weights = torch.softmax(logits, -1)
    dense = torch.diag_embed(weights) - weights[..., :, None] * weights[..., None, :]
    norm = torch.linalg.matrix_norm(dense, 2)
    assert torch.allclose(sensitivity.spectral_norm(weights), norm, rtol=1e-10)
    worst = finite_difference.worst_sensitivity(logits, 1e-5)
    assert torch.allclose(worst, norm, rtol=1e-3)
    assert (norm <= sensitivity.corollary_3(1.0)).all()
    assert (norm > sensitivity.corollary_3_printed(1.0)).any()
