import math
from dataclasses import replace

import pytest

from claims.mutants import instead, power, scaled, with_argument

ATTEND = "particles.equiangular.Equiangular.attend"
SLIPS = {
    "D1 pull": (ATTEND, scaled(2.0, part=1)),
    "D1 radial": (ATTEND, scaled(0.5, part=2)),
    "D1 norm not squared": (ATTEND, power(2.0, part=3)),
    "D1 n for n-1": (ATTEND, with_argument("self", lambda s: replace(s, tokens=s.tokens + 1))),
    "D2 Post-LN": ("particles.schemes.PostLn.initial_velocity", "half"),
    "D2 Pre-LN without r": (
        "particles.schemes.PreLn.initial_velocity",
        with_argument("radius", lambda _: 1.0),
    ),
    "D2 Mix-LN with r": (
        "particles.schemes.MixLn.initial_velocity",
        instead(lambda self, tokens, beta, radius: 2 / (math.exp(beta) + tokens - 1) / radius),
    ),
    "D2 Peri-LN with n": (
        "particles.schemes.PeriLn.initial_velocity",
        with_argument("tokens", lambda n: n + 1),
    ),
    "D2 nGPT without alpha": (
        "particles.schemes.NGpt.initial_velocity",
        with_argument("self", lambda s: replace(s, alpha=1.0)),
    ),
    "D3 Pre-LN's r/t": ("particles.schemes.PreLn.gain", "double"),
    "D3 LN-Scaling's root": ("particles.schemes.LnScaling.clock", power(2.0)),
    "D3 nGPT's integral": (
        "particles.schemes.NGpt.clock",
        with_argument("self", lambda s: replace(s, decay=0.0)),
    ),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_is_noticed(ledger_notices, slip):
    assert ledger_notices(slip.split()[0], *SLIPS[slip])
