"""Rules as users write them."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from headgauge import normalizers
from headgauge.errors import InputError
from headgauge.normalizers import AskedRule, asked_rules

ONE_OF_EACH = "softmax:temperature=fit,ssmax:s=fit/head:b=0.1,entmax:alpha=1.5,sparsemax,topk:k=16"


def test_commas_between_rules_colons_before_parameters() -> None:
    assert asked_rules(ONE_OF_EACH) == (
        AskedRule("softmax", {}, {"temperature": "model"}),
        AskedRule("ssmax", {"b": 0.1}, {"s": "head"}),
        AskedRule("entmax", {"alpha": 1.5}),
        AskedRule("sparsemax"),
        AskedRule("topk", {"k": 16}),
    )
    assert asked_rules(ONE_OF_EACH.split(",")) == asked_rules(ONE_OF_EACH)
    assert asked_rules(" ssmax : s = fit/layer , sparsemax ") == asked_rules(
        "ssmax:s=fit/layer,sparsemax"
    )


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("ssmax:b=.10:s=2.0", "ssmax:s=2:b=0.1"),
        ("ssmax:b=fit/model:s=fit/layer", "ssmax:s=fit/layer:b=fit"),
        ("sink:sink=-1e-20", "sink:sink=-1e-20"),
        ("asentmax:delta=1:gamma=fit", "asentmax:gamma=fit:delta=1"),
        ("lssar:power=3", "lssar:power=3"),
    ],
)
def test_the_canonical_text_is_shortest_and_in_order(written: str, canonical: str) -> None:
    assert [rule.text for rule in asked_rules(written)] == [canonical]


@st.composite
def any_rule(draw: st.DrawFn) -> AskedRule:
    """Any rule with any of its parameters fitted, given or left, in any order."""
    name = draw(st.sampled_from(normalizers.names()))
    facts = normalizers.describe(name)
    numbers, fitted = {}, {}
    for label in draw(st.permutations(list(facts.parameters))):
        ways = ["left", "given", *(["fitted"] if label in facts.fits else [])]
        way = draw(st.sampled_from(ways))
        if way == "fitted":
            fitted[label] = draw(st.sampled_from(["model", "layer", "head"]))
        elif way == "given":
            whole = st.integers(2, 2**53)
            real = st.floats(1, 2, exclude_min=True)
            numbers[label] = draw(whole if label == "k" else real)
    return AskedRule(name, numbers, fitted)


@settings(max_examples=200)
@given(any_rule())
def test_the_text_reads_back_as_the_same_rule(rule: AskedRule) -> None:
    (again,) = asked_rules(rule.text)
    assert again == rule
    assert again.text == rule.text
    assert hash(again) == hash(rule)
    values = dict.fromkeys(rule.fitted, 1.5)
    made = again.rule(**values)
    assert made.name == rule.name
    defaults = normalizers.describe(rule.name).parameters
    assert vars(made) == defaults | rule.parameters | values


def test_whole_numbers_stay_whole() -> None:
    (topk,) = asked_rules("topk:k=16")
    assert isinstance(topk.parameters["k"], int)
    assert (topk.rule()(torch.arange(20.0)) > 0).sum() == 16


def test_fitted_values_are_filled_in_one_for_each_head_too() -> None:
    (asked,) = asked_rules("ssmax:s=fit/head:b=0.5")
    heads = torch.tensor([0.1, 0.4])
    logits = torch.randn(2, 7, generator=torch.Generator().manual_seed(0))
    expected = torch.softmax((heads * math.log(7) + 0.5)[:, None] * logits, -1)
    torch.testing.assert_close(asked.rule(s=heads)(logits), expected)
    with pytest.raises(InputError, match=r"ssmax:s=fit/head:b=0\.5: s has not been fitted"):
        asked.rule()
    with pytest.raises(InputError, match="b was not to be fitted"):
        asked.rule(s=1.0, b=1.0)


def test_rules_made_in_python_stand_among_texts() -> None:
    made = normalizers.get("ssmax", s=np.float32(0.5))
    found = asked_rules(["sparsemax", made, normalizers.get("topk", k=np.int64(3))])
    assert [rule.text for rule in found] == [
        "sparsemax",
        "ssmax:s=0.5:b=0",
        "topk:k=3:temperature=1",
    ]
    assert asked_rules([normalizers.get("sigmoid")]) == (AskedRule("sigmoid"),)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("sofmax", r"no normalizer 'sofmax' \(did you mean softmax.*there are softmax, ssmax"),
        ("softmax:temprature=1", r"'temprature' \(did you mean temperature\?\); it takes temp"),
        ("sparsemax:alpha=fit", "sparsemax has no parameter 'alpha'; it takes none"),
        ("ssmax:s=abc", "ssmax: s must be a number, fit, fit/layer or fit/head; got 'abc'"),
        ("ssmax:s=fit/token", "s must be a number, fit, fit/layer or fit/head; got 'fit/token'"),
        ("topk:k=many", "topk: k must be a number; got 'many'"),
        ("entmax:alpha=2.5", "alpha must be from 1 .* to 2 .*; got 2.5"),
        ("softmax:temperature=nan", "temperature must be a finite number"),
        ("softmax:temperature=inf", "temperature must be a finite number"),
        ("topk:k=2.5", "k must be a whole number from 1; got 2.5"),
        ("topk:k=fit", "topk: k cannot be fitted; only temperature can"),
        ("lssa:dim=fit", "lssa: dim cannot be fitted; none of its parameters can"),
        ("ssmax:fit", r"'fit' in 'ssmax:fit' is no parameter with a value; .* ssmax:s=…:b=…"),
        ("ssmax:s=", "'s=' in 'ssmax:s=' is no parameter with a value"),
        ("ssmax:", "'' in 'ssmax:' is no parameter"),
        ("ssmax:s=1:s=fit", "ssmax: s is given twice"),
        ("ssmax,sparsemax,ssmax", "the same rule twice: ssmax"),
        ("softmax,softmax:temperature=1.0", "the same rule twice: softmax and softmax:temp"),
        ("ssmax,,sparsemax", "no rule between two commas"),
        ("", "no rule was given"),
        ([""], "no rule was given"),
        ([3], "a rule is a text such as ssmax:s=0.2 or a Normalizer; got 3"),
        ([normalizers.get("ssmax", s=torch.ones(3))], r"s is a tensor of shape \(3,\); .*plain"),
    ],
)  # fmt: skip
def test_mistakes_are_told_in_one_line(given, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        asked_rules(given)
    assert "\n" not in str(caught.value)


FITS = [(name, label) for name in normalizers.names() for label in normalizers.describe(name).fits]


@pytest.mark.parametrize(("name", "label"), FITS)
def test_what_can_be_fitted_has_a_range_within_its_limits_and_can_be_learned(name, label) -> None:
    fit = normalizers.describe(name).fits[label]
    assert fit.low < fit.high
    assert fit.scale == "linear" or fit.low > 0
    for value in (fit.low, fit.high, fit.unchanged):
        if value is not None:
            normalizers.get(name, **{label: value})
    logits = torch.randn(2, 3, 7, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    middle = math.sqrt(fit.low * fit.high) if fit.scale == "log" else (fit.low + fit.high) / 2 + 0.1
    heads = torch.full((2, 1), middle, dtype=torch.float32, requires_grad=True)
    weights = normalizers.get(name, **{label: heads})(logits)
    expected = normalizers.get(name, **{label: float(heads.detach()[0, 0])})(logits)
    torch.testing.assert_close(weights, expected)
    weights.square().sum().backward()
    assert heads.grad is not None
    assert heads.grad.isfinite().all()
    assert (heads.grad != 0).all()


def test_the_parameters_that_can_be_fitted() -> None:
    assert FITS == [
        ("softmax", "temperature"), ("ssmax", "s"), ("ssmax", "b"), ("entmax", "alpha"),
        ("asentmax", "beta"), ("asentmax", "gamma"), ("asentmax", "delta"), ("sink", "sink"),
        ("sigmoid", "bias"), ("relu", "exponent"), ("topk", "temperature"),
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["softmax", "ssmax", "entmax", "asentmax", "sink", "topk"])
def test_unchanged_parameters_leave_the_logits_as_they_are(name: str) -> None:
    facts = normalizers.describe(name)
    unchanged = {label: fit.unchanged for label, fit in facts.fits.items()}
    logits = 3 * torch.randn(5, 40, generator=torch.Generator().manual_seed(0))
    plain = {
        "asentmax": normalizers.get("entmax", alpha=1.5),
        "topk": normalizers.get("topk"),
    }.get(name, normalizers.get("softmax"))
    torch.testing.assert_close(
        normalizers.get(name, **unchanged)(logits), plain(logits), rtol=0, atol=1e-6
    )
