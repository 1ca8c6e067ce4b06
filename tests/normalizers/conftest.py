"""The one list of rules that every generic test runs over."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from hypothesis import note

from headgauge import kernels, normalizers
from headgauge.normalizers import Normalizer


@dataclass(frozen=True)
class Case:
    rule: Normalizer
    compiled: bool = True

    @property
    def label(self) -> str:
        parameters = [f"{key}={value}" for key, value in vars(self.rule).items()]
        path = [] if self.compiled else ["torch"]
        return "-".join([self.rule.name, *parameters, *path])


RULES = [
    normalizers.get("softmax"),
    normalizers.get("softmax", temperature=0.5),
    normalizers.get("ssmax", s=0.43, b=0.1),
    normalizers.get("sparsemax"),
    normalizers.get("entmax", alpha=1.0),
    normalizers.get("entmax", alpha=1.33),
    normalizers.get("entmax", alpha=1.5),
    normalizers.get("asentmax", beta=0.5, gamma=0.8, delta=1.2),
    normalizers.get("sa_softmax"),
    normalizers.get("sa_softmax_normalized"),
    normalizers.get("softmax_one"),
    normalizers.get("sink", sink=1.3),
    normalizers.get("sigmoid"),
    normalizers.get("sigmoid", bias=-1.0),
    normalizers.get("relu"),
    normalizers.get("softpick"),
    normalizers.get("topk", k=3),
    normalizers.get("adaptive_temperature"),
    normalizers.get("lssa"),
    normalizers.get("lssar"),
    normalizers.get("lssar", power=3),
    normalizers.get("log_length_su"),
    normalizers.get("log_length_qwen", train_length=4),
    normalizers.get("log_length_yarn", scale=8),
]
COMPILED = ("sparsemax", "entmax", "asentmax")
CASES = [Case(rule) for rule in RULES] + [
    Case(rule, compiled=False) for rule in RULES if rule.name in COMPILED
]


# A rule without an instance here would pass every generic test by not taking it.
assert {rule.name for rule in RULES} == set(normalizers.names())


def every_rule() -> Iterator[Normalizer]:
    """The same in one loop, for tests that draw their rows: a failure notes the rule."""
    for case in CASES:
        note(case.label)
        with kernels.use_compiled(case.compiled):
            yield case.rule


@pytest.fixture(params=CASES, ids=lambda case: case.label)
def rule(request: pytest.FixtureRequest) -> Iterator[Normalizer]:
    """Every rule; those with a compiled kernel a second time without it."""
    with kernels.use_compiled(request.param.compiled):
        yield request.param.rule


@pytest.fixture(params=[True, False], ids=["compiled", "torch"])
def path(request: pytest.FixtureRequest) -> Iterator[bool]:
    """Both implementations of α-entmax."""
    with kernels.use_compiled(request.param):
        yield request.param
