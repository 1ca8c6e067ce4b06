import math

import numpy as np
import pytest
import torch

from headgauge import engine
from headgauge.engine.looks import Looks
from headgauge.errors import InputError
from headgauge.theory import roles

KEYS = 430


def _seen(kind: str) -> torch.Tensor:
    query, key = torch.arange(KEYS)[:, None], torch.arange(KEYS)
    holes = torch.rand(KEYS, KEYS, generator=torch.Generator().manual_seed(3)) < 0.7
    return {
        "causal": key <= query,
        "window": (key <= query) & (key > query - 300),
        "encoder": (key >= 0) & (query >= 0),
        "holes": holes & (key <= query) & (query > 0),  # the first query sees nothing
    }[kind]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("kind", ["causal", "window", "encoder", "holes"])
def test_every_row_is_theorys(kind, dtype, path):
    source = torch.Generator().manual_seed(1)
    visible, places = _seen(kind), torch.arange(KEYS)
    logits = 3 * torch.randn(KEYS, KEYS, generator=source)
    weights = torch.softmax(logits.masked_fill(~visible, -math.inf), -1).nan_to_num(0.0).to(dtype)
    ids = torch.randint(40, (KEYS,), generator=source)
    lengths = torch.rand(KEYS, generator=source, dtype=torch.float64)
    exact = weights.double()
    wanted = {
        "self_mass": roles.self_mass(exact, visible, places),
        "previous_mass": roles.previous_mass(exact, visible, places),
        "local_mass": roles.local_mass(exact, visible, places),
        "long_mass": roles.long_mass(exact, visible, places),
        "streaming_mass": roles.streaming_mass(exact, visible, places),
        "mean_distance": roles.mean_distance(exact, visible, places),
        "duplicate_mass": roles.duplicate_mass(exact, visible, places, ids),
        "induction_mass": roles.induction_mass(exact, visible, places, ids),
        "collision_entropy": roles.collision_entropy(exact, visible),
        "sink_output_share": roles.sink_output_share(exact, visible, lengths),
    }
    assert wanted.keys() | {"ahead"} == Looks.__dataclass_fields__.keys()
    for start, stop in ((0, 7), (7, 300), (300, KEYS)):
        # A causal block has only the keys that it needs.
        reach = KEYS if kind == "encoder" else stop
        found = engine.looks(
            weights[start:stop, :reach], visible[start:stop, :reach], start, ids, lengths
        )
        for name, each in wanted.items():
            got = getattr(found, name)
            assert np.allclose(got, each[start:stop], rtol=1e-12, atol=1e-15, equal_nan=True), name
        looks_ahead = kind == "encoder" and stop < KEYS
        assert (np.nanmax(found.ahead) > 0) == (looks_ahead or kind == "encoder")


def test_keys_of_another_sequence_have_no_places(path):
    weights, seen = torch.full((2, 4), 0.25), torch.ones(2, 4, dtype=torch.bool)
    found = engine.looks(weights, seen, 0)
    assert found.collision_entropy == pytest.approx([math.log(4)] * 2)
    for name in set(Looks.__dataclass_fields__) - {"collision_entropy"}:
        assert np.isnan(getattr(found, name)).all(), name


def test_too_few_tokens_are_refused():
    weights, seen = torch.full((2, 4), 0.25), torch.ones(2, 4, dtype=torch.bool)
    with pytest.raises(InputError, match="ids must have at least 6 entries: 5"):
        engine.looks(weights, seen, 4, torch.arange(5))


def test_earlier_places():
    found = engine.earlier_places(torch.tensor([7, 3, 7, 7, 3]))
    assert found.tolist() == [-1, -1, 0, 2, 1]
