import math

import pytest

from claims.mutants import instead, power, scaled, with_argument
from headgauge.particles import schemes

BOUND, SIZE = "theory.dynamics.theorems.attention_bound_stated", "theory.dynamics.theorems.attention_size"
RATES, SCALE = "theory.dynamics.theorems.cone_rates", "theory.dynamics.theorems.cone_scale"


def scale_of(kind: type, change):
    """Another scale for one scheme."""

    def slip(original):
        return lambda scheme, time: (
            change(original(scheme, time)) if isinstance(scheme, kind) else original(scheme, time)
        )

    return slip


SLIPS = {
    "D6 bound": (BOUND, "double"),
    "D6 bound without a root": (BOUND, instead(lambda n, d: math.log(n) / n + math.log(n) / d)),
    "D6 bound over d^2": (
        BOUND,
        instead(lambda n, d: math.sqrt(math.log(n) / n) + math.log(n) / d**2),
    ),
    "D6 bound over root d": (
        BOUND,
        instead(lambda n, d: math.sqrt(math.log(n) / n) + math.log(n) / math.sqrt(d)),
    ),
    "D6 across": ("theory.dynamics.theorems.across_bound", "half"),
    "D6 across, double": ("theory.dynamics.theorems.across_bound", "double"),
    "D6 size": (SIZE, "double"),
    "D6 size without d": (SIZE, with_argument("beta", lambda _: 0.0)),
    "D6 size over root d": (SIZE, instead(lambda n, d: math.hypot(n**-0.5, d**-0.5))),
    "D7 a quarter of delta": (RATES, with_argument("width", lambda width: width / 4)),
    "D7 twice delta": (RATES, with_argument("width", lambda width: width * 2)),
    "D7 half of beta": (RATES, with_argument("beta", lambda beta: beta / 2)),
    "D7 twice beta": (RATES, with_argument("beta", lambda beta: beta * 2)),
    "D7 rates, wide": (RATES, "wide"),
    "D7 moves": ("particles.schemes.Scheme.rates", scaled(2.0, part=0)),
    "D7 nGPT's scale": (SCALE, scale_of(schemes.NGpt, lambda scale: 1 / scale)),
    "D7 LN-Scaling's scale": (SCALE, scale_of(schemes.LnScaling, lambda scale: scale**2)),
    "D8 gain": ("particles.schemes.LnScaling.gain", "double"),
    "D8 gain without a root": ("particles.schemes.LnScaling.gain", power(2.0)),
    "D8 does not grow": (
        "particles.schemes.LnScalingPre.grows",
        lambda grows: lambda *a: ~grows(*a),
    ),
    "D8 clock": ("particles.schemes.LnScalingPre.clock", "double"),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_is_noticed(ledger_notices, slip):
    assert ledger_notices(slip.split()[0], *SLIPS[slip])
