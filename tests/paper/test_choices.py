import pytest
import torch

from headgauge.errors import InputError
from headgauge.models import VECTOR_KINDS
from headgauge.normalizers import get
from headgauge.paper.choices import (
    CHOICES,
    GUIDELINE_RULES,
    RULES,
    Choice,
    rule,
    rule_labels,
)


def test_every_reading_is_there_once():
    assert len(set(CHOICES)) == len(CHOICES) == 4 * 2 * 2
    assert {choice.vectors for choice in CHOICES} == set(VECTOR_KINDS)
    assert Choice("final", "unit", "all").name == "final/unit/all"


@pytest.mark.parametrize(
    ("wrong", "line"),
    [
        (
            {"vectors": "query"},
            "no vectors named 'query'; there are embedding, hidden, final, value",
        ),
        ({"scale": "long"}, "no scale named 'long'; there are unit, raw"),
        ({"keys": "some"}, "no keys named 'some'; there are all, visible"),
    ],
)
def test_an_unknown_name_is_refused_in_a_line(wrong, line):
    with pytest.raises(InputError) as error:
        Choice(**wrong)
    assert str(error.value) == line


@pytest.mark.parametrize("name", RULES | GUIDELINE_RULES)
def test_a_rule_is_the_normalizer_under_its_name(name):
    logits = torch.randn(3, 9, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    weights = rule(name)(logits, torch.ones(3, 9, dtype=torch.bool))
    assert torch.allclose(weights.sum(-1), torch.ones(3, dtype=torch.float64))
    if name.startswith("softmax T="):
        temperature = float(name.removeprefix("softmax T="))
        assert torch.allclose(weights, torch.softmax(logits / temperature, -1))
    else:
        assert not torch.allclose(weights, torch.softmax(logits, -1))


@pytest.mark.parametrize(
    ("written", "labels"),
    [
        (tuple(RULES), tuple(RULES)),
        (tuple(RULES.values()), tuple(RULES)),
        (tuple(GUIDELINE_RULES.values()), tuple(GUIDELINE_RULES)),
        ("entmax, softmax:temperature=2.0,ssmax:b=0", ("1.5-entmax", "softmax T=2", "ssmax")),
        ("1.5-entmax,softmax T=2", ("1.5-entmax", "softmax T=2")),
        ("entmax:alpha=1.3,ssmax:b=1:s=.2", ("entmax:alpha=1.3", "ssmax:s=0.2:b=1")),
        ([get("topk", k=4), get("entmax")], ("topk:k=4:temperature=1", "1.5-entmax")),
        ((), ()),
    ],
)
def test_a_usual_rule_has_its_label_and_any_other_is_called_as_it_is_written(written, labels):
    assert rule_labels(written) == labels
    assert rule_labels(labels) == labels


def test_a_rule_without_a_label_is_what_it_says():
    made = rule("ssmax:s=0.2:b=1")
    assert (made.name, vars(made)) == ("ssmax", {"s": 0.2, "b": 1})


@pytest.mark.parametrize(
    ("written", "line"),
    [
        ("hardmax", "there is no normalizer 'hardmax'"),
        ("softmax T=3", r"there is no normalizer 'softmax T=3' \(did you mean softmax"),
        ("ssmax:s=fit/head", "ssmax:s=fit/head: s needs a number: nothing is fitted here"),
        ("1.5-entmax,entmax", "the same rule twice"),
    ],
)
def test_a_mistake_in_a_rule_is_told_in_a_line(written, line):
    with pytest.raises(InputError, match=line) as error:
        rule_labels(written)
    assert "\n" not in str(error.value)


def test_the_length_aware_rule_is_softmax_at_256_and_sharper_beyond():
    source = torch.Generator().manual_seed(1)
    for keys, sharper in ((256, False), (255, None), (1024, True)):
        logits = torch.randn(keys, dtype=torch.float64, generator=source)
        weights = rule("ssmax from n=256")(logits, torch.ones(keys, dtype=torch.bool))
        plain = torch.softmax(logits, -1)
        assert torch.allclose(weights, plain, rtol=1e-12) == (sharper is False)
        if sharper is not None:
            assert (weights.max() > plain.max() * (1 + 1e-9)) == sharper
