"""Break one formula and see whether the ledger notices: a check must be able to fail."""

from collections.abc import Callable

import jaxtyping
import pytest

from claims.mutants import broken, owner_of
from claims.remembered import remember
from headgauge import claims


@pytest.fixture
def disagrees(monkeypatch: pytest.MonkeyPatch):
    """Whether a claim disagrees after something was done to a function.

    Shapes are not checked meanwhile, which takes most of the time: they are where the check runs as
    it is (`test_ledger`), and in the tests of theory and particles.
    """

    def call(claim_id: str, function: object, break_it: Callable[[], None]) -> bool:
        monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)
        remember(monkeypatch, function)
        break_it()
        try:
            return not next(claims.run([claims.find(claim_id)])).agrees
        except ValueError:  # refused on the way: noticed too
            return True

    return call


@pytest.fixture
def ledger_notices(disagrees, monkeypatch: pytest.MonkeyPatch):
    """Whether the claim disagrees once a function of theory or particles is broken in this way."""

    def call(claim_id: str, target: str, how: str | Callable) -> bool:
        owner, name = owner_of(target)

        def break_it() -> None:
            monkeypatch.setattr(owner, name, broken(getattr(owner, name), how))

        return disagrees(claim_id, getattr(owner, name), break_it)

    return call
