"""Finding a rule by name."""

import pytest

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
        ("softmax", {"temperature": float("nan")}, "temperature must be positive; got nan"),
        ("softmax", {"temperature": "warm"}, "temperature='warm' has a type it cannot have"),
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
