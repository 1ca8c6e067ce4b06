import math
from dataclasses import replace

import pytest
import torch

from headgauge.paper import literal, make_reproduction, reproducing
from headgauge.paper.choices import Choice
from headgauge.theory.normalization.selection import top_n


def _plan(model, tokens, settings):
    source = reproducing.source_of(model, None, None, None)
    return make_reproduction(source, tokens, settings).first


def test_times_are_positive_and_from_a_part(model, tokens, settings, unchecked):
    threads = torch.get_num_threads()
    found = literal.literal_times(_plan(model, tokens, settings), settings, 8)
    assert [each.algorithm for each in found] == ["1", "2", "3", "4", "5"]
    for each in found:
        assert math.isfinite(each.seconds)
        assert each.seconds > 0
        assert 0 < each.share < 1
    assert torch.get_num_threads() == threads
    whole = 110 * 8
    grid = 5 * 3  # temperatures and ε
    assert found[4].share == pytest.approx(literal.ROWS * literal._TIMES / (whole * grid))
    assert found[3].share == pytest.approx(literal.ROWS / whole)
    assert found[2].share == pytest.approx(literal.ROWS / whole * 10 / 100)


def test_twice_the_heads_take_twice_the_share(model, tokens, settings, unchecked):
    plan = _plan(model, tokens, settings)
    few, many = (literal.literal_times(plan, settings, heads) for heads in (8, 16))
    for one, other in zip(few, many, strict=True):
        assert one.share == pytest.approx(2 * other.share)


@pytest.mark.parametrize("choice", [Choice("final"), Choice("value", "raw", "visible")])
def test_the_captured_rows_are_the_models(model, tokens, settings, attended, choice):
    chosen = replace(settings, choice=choice)
    head = literal._capture(_plan(model, tokens, chosen), chosen)
    assert head is not None
    places = [int((at + 0.5) * 110 / literal.ROWS) for at in range(literal.ROWS)]
    seen = attended(0, 110)
    wanted = seen.weights[1, 3, places]  # the last head of the middle layer
    assert torch.allclose(head.weights, wanted, rtol=1e-4, atol=1e-7)
    assert head.visible.sum(-1).tolist() == [place + 1 for place in places]
    if choice.vectors == "final":
        assert torch.allclose(head.vectors, seen.final, atol=1e-5)
    else:
        assert head.vectors.shape == (110, 8)
        lengths = head.vectors.norm(dim=-1)
        assert not torch.allclose(lengths, torch.ones_like(lengths), atol=1e-2)
    for everything, keys in ((True, 110), (False, places[2] + 1)):
        a, x, selected = literal._selected(head, 2, 4, everything)
        assert (len(a), len(x)) == (keys, keys)
        assert torch.equal(selected, top_n(a, 4))
