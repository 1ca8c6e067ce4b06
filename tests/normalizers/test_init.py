"""Finding a rule by name."""

import numpy as np
import pytest
import torch

from headgauge import normalizers
from headgauge.errors import InputError


def test_every_name_gives_its_rule_with_its_facts() -> None:
    assert len(normalizers.names()) == 19
    for name in normalizers.names():
        rule = normalizers.get(name)
        facts = normalizers.describe(name)
        assert rule.name == facts.name == name
        assert {key: getattr(rule, key) for key in facts.parameters} == facts.parameters
        assert facts.formula
        assert facts.source
        assert facts.jacobian_bound


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("sofmax", {}, r"no normalizer 'sofmax' \(did you mean softmax.*there are softmax, ssmax"),
        ("nothing like it", {}, r"no normalizer 'nothing like it'; there are"),
        ("softmax", {"temprature": 1}, r"'temprature' \(did you mean temperature\?\); it takes"),
        ("sparsemax", {"alpha": 2}, "no parameter 'alpha'; it takes none"),
        ("softmax", {"temperature": 0}, "temperature must be positive; got 0"),
        ("softmax", {"temperature": float("nan")}, "temperature must be a finite number.*got nan"),
        ("softmax", {"temperature": "warm"}, "temperature must be a finite number.*got warm"),
        ("ssmax", {"s": [1.0]}, r"ssmax: s must be a finite number.*got \[1.0\]"),
        ("sink", {"sink": float("inf")}, "sink must be a finite number"),
        ("relu", {"exponent": None}, "exponent must be a finite number"),
        ("relu", {"exponent": -1}, "exponent must be zero or positive; got -1"),
        ("ssmax", {"s": 10**400}, "s must be a finite number.*got an integer of 1329 bits"),
        ("softmax", {"temperature": -(10**5000)}, "must be a finite number.*integer of 16610 bits"),
        ("topk", {"k": 10**400}, "k must be a finite number"),
        ("asentmax", {"beta": torch.tensor([1, 2])}, "beta must be .*; got a tensor of shape"),
        ("topk", {"k": True}, "k must be a finite number"),
        (3, {}, "the name of a normalizer is a string; got 3"),
        ("entmax", {"alpha": 2.5}, "alpha must be from 1 .* to 2 .*; got 2.5"),
        ("entmax", {"alpha": 0.9}, "alpha must be from 1"),
        ("topk", {"k": 0}, "k must be a whole number from 1; got 0"),
        ("topk", {"k": 2.5}, "k must be a whole number from 1; got 2.5"),
        ("softpick", {"epsilon": -1}, "epsilon must be zero or positive"),
        ("lssa", {"dim": 1}, "dim must be greater than 1"),
        ("lssar", {"power": 0.5}, "power must be at least 1"),
        ("log_length_qwen", {"train_length": 1}, "train_length must be greater than 1"),
        ("log_length_yarn", {"scale": 0}, "scale must be positive"),
    ],
)
def test_mistakes_are_told_in_one_line(name, parameters, message) -> None:
    with pytest.raises(InputError, match=message) as caught:
        normalizers.get(name, **parameters)
    assert "\n" not in str(caught.value)


@pytest.mark.usefixtures("unchecked")
def test_a_numpy_integer_is_a_whole_number() -> None:
    weights = normalizers.get("topk", k=np.int64(3))(torch.arange(6.0))
    assert (weights > 0).sum() == 3


@pytest.mark.parametrize(
    ("name", "parameter"),
    [("softmax", "temperature"), ("ssmax", "s"), ("asentmax", "beta"), ("relu", "exponent"),
     ("lssar", "power"), ("lssa", "dim"), ("log_length_su", "train_length"), ("sink", "sink")],
)  # fmt: skip
def test_an_integer_beyond_64_bits_is_a_number_like_others(name, parameter) -> None:
    logits = torch.tensor([0.1, 0.3, 0.2])
    weights = normalizers.get(name, **{parameter: 10**30})(logits)
    expected = normalizers.get(name, **{parameter: 1e30})(logits)
    assert weights.isfinite().all()
    assert torch.equal(weights, expected)


@pytest.mark.parametrize(
    ("name", "parameter"),
    [
        ("ssmax", "s"),
        ("ssmax", "b"),
        ("softmax", "temperature"),
        ("asentmax", "gamma"),
        ("sink", "sink"),
    ],
)
def test_a_parameter_that_does_not_fit_the_rows_is_named(name, parameter) -> None:
    rule = normalizers.get(name, **{parameter: torch.ones(5)})
    with pytest.raises(InputError, match=rf"{name}: {parameter} of shape \(5,\).*\(2, 4\)"):
        rule(torch.zeros(2, 4, 6))
