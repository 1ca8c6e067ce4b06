"""Which heads a remedy is tried on, and which are their control."""

from collections import Counter

import numpy as np

from headgauge.remedies.trials import groups, layers_of, others, remedy_name, written
from headgauge.scanning import ScanResult
from headgauge.scanning.thresholds import VERDICTS

EVERY = tuple((layer, head) for layer in range(3) for head in range(4))


def test_random_heads_are_as_many_others_of_the_same_layers() -> None:
    named = ((0, 1), (0, 3), (2, 2))
    for seed in range(20):
        drawn = others(EVERY, named, np.random.default_rng(seed))
        assert not set(drawn) & set(named)
        assert Counter(layer for layer, _ in drawn) == {0: 2, 2: 1}
    seen = {each for i in range(50) for each in others(EVERY, named, np.random.default_rng(i))}
    assert seen == {(0, 0), (0, 2), (2, 0), (2, 1), (2, 3)}


def test_a_layer_with_too_few_others_gives_those_it_has() -> None:
    named = ((1, 0), (1, 1), (1, 2), (2, 0))
    drawn = others(EVERY, named, np.random.default_rng(0))
    assert [layer for layer, _ in drawn] == [1, 2]
    assert (1, 3) in drawn
    assert others(EVERY, EVERY, np.random.default_rng(0)) == ()


def test_groups_are_the_verdicts_that_heads_have(scan: ScanResult) -> None:
    found = {each.verdict: each for each in groups(scan, VERDICTS, 3, 0)}
    held = scan.verdicts()
    assert len(found) == 3
    for verdict, group in found.items():
        rows = held.filter(verdict=verdict).select("layer", "head").rows()
        assert group.heads == tuple(sorted(rows))
        assert 0 < len(rows) < 12
        assert len(group.sets) == 4
        for drawn in group.sets[1:]:
            assert not set(drawn) & set(group.heads)
            assert set(layers_of(drawn)) <= set(group.layers)
    again = groups(scan, VERDICTS, 3, 0)
    assert [each.sets for each in again] == [each.sets for each in found.values()]
    # Another choice of verdicts leaves the draws of the others as they are.
    assert groups(scan, ["inactive"], 3, 0) == [found["inactive"]]


def test_words() -> None:
    assert remedy_name(("softmax:temperature=0.9", "softmax:temperature=0.5")) == "softmax"
    assert remedy_name(("mean",)) == "mean"
    assert written(((18, 7), (0, 1))) == "L18H7, L0H1"
