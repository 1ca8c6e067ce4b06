"""Every entrance of the engine with what it cannot take: a line in words, and no memory touched."""

from typing import Any

import numpy as np
import pytest
import torch

from headgauge import engine
from headgauge.errors import InputError

WEIGHTS = torch.tensor([[0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4]])
SEEN = torch.ones(2, 4, dtype=torch.bool)
ADDITIVE = torch.zeros(2, 4).masked_fill(~SEEN.tril(2), -torch.inf)
VECTORS = torch.eye(4)
GIVEN: dict[str, dict[str, Any]] = {
    "row_measures": {
        "weights": WEIGHTS, "visible": SEEN, "logits": WEIGHTS.log(), "uncapped": WEIGHTS.log(),
    },
    "curves": {
        "weights": WEIGHTS, "geometry": engine.Geometry.of(VECTORS), "top_ns": [1, 2],
        "visible": SEEN, "keys": "all",
    },
    "sensitivity": {
        "logits": WEIGHTS.log(), "visible": SEEN, "temperatures": [1.0], "epsilons": [0.1],
        "direction": 0.5 * torch.ones(2, 4),
    },
    "Geometry": {"vectors": VECTORS, "unit": True, "precision": "float64"},
    "Geometry.of": {"vectors": VECTORS, "precision": "float64"},
}  # fmt: skip

_REAL = {
    "numbers of no tensor": (WEIGHTS.numpy(), "must be a torch tensor, got ndarray"),
    "whole numbers": (WEIGHTS.int(), "must be floating point, got torch.int32"),
    "complex numbers": (WEIGHTS.to(torch.complex64), "must be floating point, got torch.complex64"),
}
_ROWS = {
    "one row": (WEIGHTS[0], r"must be \(rows, keys\) with at least one key, got \(4,\)"),
    "heads": (WEIGHTS[None], r"must be \(rows, keys\).*got \(1, 2, 4\)"),
    "no keys": (WEIGHTS[:, :0], r"must be \(rows, keys\) with at least one key, got \(2, 0\)"),
}
_LIKE = {
    "fewer keys": (WEIGHTS[:, 1:], r"must be \(2, 4\) like the (weights|logits), got \(2, 3\)"),
    "more rows": (WEIGHTS.repeat(2, 1), r"must be \(2, 4\) like the .*, got \(4, 4\)"),
}
_VISIBLE = {
    "additive": (ADDITIVE, "must be boolean, .* got torch.float32: `mask == 0` makes one"),
    "thousands": (1000 * torch.ones(2, 4), "must be boolean"),
    "zeros and ones": (SEEN.int(), "must be boolean, .* got torch.int32: .*`mask.bool.*` of zeros"),
    "bytes": (SEEN.byte(), "must be boolean, .* got torch.uint8"),
    "no tensor": (SEEN.numpy(), "must be boolean, .* got ndarray"),
    "narrow": (SEEN[:, 1:], r"must be \(2, 4\) like .*, or one row for all, got \(2, 3\)"),
    "many": (SEEN.repeat(2, 1), r"must be \(2, 4\) like the .*, got \(4, 4\)"),
    "one row": (SEEN[0], r"must be \(2, 4\) like the .*, got \(4,\)"),
}
_VECTORS = _REAL | {
    "one vector": (VECTORS[0], r"must be \(keys, dim\), got \(4,\)"),
    "none": (VECTORS[:0], r"must be \(keys, dim\), got \(0, 4\)"),
    "no dimension": (VECTORS[:, :0], r"must be \(keys, dim\), got \(4, 0\)"),
    "infinite": (VECTORS / 0, "contain NaN or infinity"),
}
_POSITIVE = {
    "none": ([], "must be finite numbers above 0, at least one, got "),
    "zero": ([1.0, 0.0], "must be finite numbers above 0"),
    "negative": ([-1.0], "must be finite numbers above 0"),
    "infinite": ([float("inf")], "must be finite numbers above 0"),
    "nan": ([float("nan")], "must be finite numbers above 0"),
    "one": (1.0, "must be finite numbers above 0"),
    "words": (["warm"], "must be finite numbers above 0"),
}
_TOP_NS = {
    str(given): (given, "needs at least one N, each a whole number from 1 to 2.*, got")
    for given in ([], [0, 2], [-1], [1.5], [float("nan")], [True], [2**70], ["1"], 3, "12", [[1]])
}
_PRECISION = {"half": ("half", 'must be "float64" or "float32", got \'half\'')}
WRONG: dict[tuple[str, str], dict[str, tuple[Any, str]]] = {
    ("row_measures", "weights"): _REAL | _ROWS,
    ("row_measures", "visible"): _VISIBLE,
    ("row_measures", "logits"): _REAL | _LIKE,
    ("row_measures", "uncapped"): _REAL | _LIKE,
    ("curves", "weights"): _REAL
    | _ROWS
    | {"too wide": (torch.ones(2, 5), r"must be \(rows, 4\) or narrower for these vectors, got")},
    ("curves", "visible"): _VISIBLE,
    ("curves", "top_ns"): _TOP_NS,
    ("curves", "keys"): {"some": ("some", 'must be "visible" or "all", got \'some\'')},
    ("curves", "geometry"): {"vectors": (VECTORS, "by Geometry.of, got Tensor")},
    ("sensitivity", "logits"): _REAL
    | _ROWS
    | {"other rows": (torch.ones(3, 4), r"visible must be \(3, 4\) like the logits")},
    ("sensitivity", "visible"): _VISIBLE
    | {"blind": (SEEN & torch.tensor([[True], [False]]), "see a key, but row 1 sees none")},
    ("sensitivity", "direction"): _REAL | _LIKE,
    ("sensitivity", "temperatures"): _POSITIVE,
    ("sensitivity", "epsilons"): _POSITIVE,
    ("Geometry", "vectors"): _VECTORS,
    ("Geometry", "precision"): _PRECISION,
    ("Geometry.of", "vectors"): _VECTORS,
    ("Geometry.of", "precision"): _PRECISION,
}


def call(entrance: str, given: dict[str, Any]) -> Any:
    if entrance == "Geometry.of":
        return engine.Geometry.of(**given)
    return getattr(engine, entrance)(**given)


def test_what_is_right_is_taken(path):
    for entrance, given in GIVEN.items():
        assert call(entrance, given) is not None


@pytest.mark.parametrize(("entrance", "name"), WRONG)
def test_what_is_wrong_is_told_in_a_line(unchecked, entrance, name):
    for kind, (wrong, message) in WRONG[entrance, name].items():
        with pytest.raises(InputError, match=message) as caught:
            call(entrance, GIVEN[entrance] | {name: wrong})
        assert "\n" not in str(caught.value), kind


def test_no_rows_are_none_to_measure(path):
    nothing: dict[str, Any] = {"weights": WEIGHTS[:0], "visible": SEEN[:0]}
    assert len(engine.row_measures(**nothing).entropy) == 0
    geometry = engine.Geometry.of(VECTORS)
    assert engine.curves(geometry=geometry, top_ns=[1], **nothing).distance.shape == (0, 1)
    none: dict[str, Any] = {"logits": WEIGHTS[:0], "visible": SEEN[:0], "direction": WEIGHTS[:0]}
    with pytest.raises(InputError, match="there are no rows"):
        engine.sensitivity(temperatures=[1.0], epsilons=[0.1], **none)


def test_more_than_there_is_is_no_mistake(path):
    """Of N: a row that is too short says so by a NaN."""
    found = engine.curves(WEIGHTS, engine.Geometry.of(VECTORS), [2, 2**63 - 1, 5])
    assert np.isnan(found.distance).tolist() == [[False, True, True]] * 2


def test_a_true_may_be_any_byte(path):
    """What `view` makes of bytes is boolean to torch, whatever they hold."""
    bytes_of = torch.tensor([[255, 255, 0, 255]] * 2, dtype=torch.uint8)
    seen = bytes_of.view(torch.bool)
    found = engine.row_measures(WEIGHTS, seen, logits=WEIGHTS.log())
    wanted = engine.row_measures(WEIGHTS, bytes_of != 0, logits=WEIGHTS.log())
    for name, numbers in vars(found).items():
        assert np.allclose(numbers, vars(wanted)[name], rtol=1e-6, equal_nan=True), name


def test_means_take_blocks_only(unchecked):
    block: Any = WEIGHTS
    with pytest.raises(InputError, match="what curves gave, got Tensor"):
        engine.Means().add(block)
