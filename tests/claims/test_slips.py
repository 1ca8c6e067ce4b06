"""Plausible slips in the second paper's formulas and in what simulates them."""

import math
from dataclasses import replace

import pytest

from claims.mutants import instead, power, scaled, with_argument
from headgauge.particles import schemes

ATTEND = "particles.equiangular.Equiangular.attend"
THEOREMS = "theory.dynamics.theorems"
BOUND, SIZE = f"{THEOREMS}.attention_bound_stated", f"{THEOREMS}.attention_size"
RATES, SCALE = f"{THEOREMS}.cone_rates", f"{THEOREMS}.cone_scale"
GAIN, LIMIT = "theory.dynamics.schemes.PeriLn.gain", "theory.dynamics.long_context.limit"
COSINE = "theory.dynamics.long_context.output_cosine"


def scale_of(kind: type, change):
    """Another scale for one scheme."""

    def slip(original):
        return lambda scheme, time: (
            change(original(scheme, time)) if isinstance(scheme, kind) else original(scheme, time)
        )

    return slip


SLIPS = {
    "D1 pull": (ATTEND, scaled(2.0, part=1)),
    "D1 radial": (ATTEND, scaled(0.5, part=2)),
    "D1 norm not squared": (ATTEND, power(2.0, part=3)),
    "D1 n for n-1": (ATTEND, with_argument("self", lambda s: replace(s, tokens=s.tokens + 1))),
    "D2 Post-LN": ("theory.dynamics.schemes.PostLn.initial_velocity", "half"),
    "D2 Pre-LN without r": (
        "theory.dynamics.schemes.PreLn.initial_velocity",
        with_argument("radius", lambda _: 1.0),
    ),
    "D2 Mix-LN with r": (
        "theory.dynamics.schemes.MixLn.initial_velocity",
        instead(lambda self, tokens, beta, radius: 2 / (math.exp(beta) + tokens - 1) / radius),
    ),
    "D2 Peri-LN with n": (
        "theory.dynamics.schemes.PeriLn.initial_velocity",
        with_argument("tokens", lambda n: n + 1),
    ),
    "D2 nGPT without alpha": (
        "theory.dynamics.schemes.NGpt.initial_velocity",
        with_argument("self", lambda s: replace(s, alpha=1.0)),
    ),
    "D3 Pre-LN's r/t": ("theory.dynamics.schemes.PreLn.gain", "double"),
    "D3 LN-Scaling's root": ("theory.dynamics.schemes.LnScaling.clock", power(2.0)),
    "D3 nGPT's integral": (
        "theory.dynamics.schemes.NGpt.clock",
        with_argument("self", lambda s: replace(s, decay=0.0)),
    ),
    "D4 1/r^2": ("theory.dynamics.schemes.rates", power(2.0, part=0)),
    "D4 LN-Scaling fades": ("theory.dynamics.schemes.LnScaling.gain", power(4.0)),
    "D4 attention repels": ("particles.attention.Attention.output", lambda f: lambda *a: -f(*a)),
    "D5 stated": ("theory.dynamics.theorems.radial_rate_stated", "double"),
    "D5 stated, n for n-1": (
        "theory.dynamics.theorems.radial_rate_stated",
        instead(lambda n, beta: (math.exp(beta) - n) / (n * math.exp(beta))),
    ),
    "D5 stated without 1/n": (
        "theory.dynamics.theorems.radial_rate_stated",
        instead(lambda n, beta: 1 - (n - 1) * math.exp(-beta)),
    ),
    "D5 least, nan": ("theory.dynamics.theorems.least_radial_rate", "nan"),
    "D5 least, n for n-1": (
        "theory.dynamics.theorems.least_radial_rate",
        with_argument("tokens", lambda n: n + 1),
    ),
    "D5 allowed without beta": (
        "theory.dynamics.theorems.tokens_allowed",
        instead(lambda beta: 1 + math.exp(beta + 1)),
    ),
    "D5 attained elsewhere": ("theory.dynamics.theorems.least_radial_cosine", "half"),
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
    "D7 moves": ("theory.dynamics.schemes.rates", scaled(2.0, part=0)),
    "D7 nGPT's scale": (SCALE, scale_of(schemes.NGpt, lambda scale: 1 / scale)),
    "D7 LN-Scaling's scale": (SCALE, scale_of(schemes.LnScaling, lambda scale: scale**2)),
    "D8 gain": ("theory.dynamics.schemes.LnScaling.gain", "double"),
    "D8 gain without a root": ("theory.dynamics.schemes.LnScaling.gain", power(2.0)),
    "D8 does not grow": (
        "theory.dynamics.schemes.LnScalingPre.grows",
        lambda grows: lambda *a: ~grows(*a),
    ),
    "D8 clock": ("theory.dynamics.schemes.LnScalingPre.clock", "double"),
    "D9 factor, nan": ("theory.dynamics.clocks.peri_over_pre", "nan"),
    "D9 factor with e^beta": (
        "theory.dynamics.clocks.peri_over_pre",
        instead(lambda n, b: (math.exp(b) + n - 1) / math.sqrt(math.exp(b) + n - 1)),
    ),
    "D9 root of the norm": (GAIN, power(0.5)),
    "D9 Peri-LN is Pre-LN": (GAIN, power(0.0)),
    "D9 time of Peri-LN": ("theory.dynamics.clocks.times_to", scaled(1.1, part=1)),
    "D10 exact": (COSINE, "half"),
    "D10 exact, nan": (COSINE, "nan"),
    "D10 exact, n for n-1": (COSINE, with_argument("tokens", lambda n: n + 1)),
    "D10 limit at the threshold": (
        LIMIT,
        instead(lambda rho, gamma: 2 * rho / (1 + rho) if gamma * (1 - rho) == 1 else rho),
    ),
    "D10 limit": (LIMIT, with_argument("gamma", lambda gamma: gamma / 2)),
    "D10 threshold": ("theory.dynamics.long_context.threshold", "double"),
    "D10 stated": ("theory.dynamics.long_context.limit_stated", "half"),
    "D11 root of the norm": (GAIN, power(0.5)),
    "D11 square of the norm": (GAIN, power(2.0)),
    "D11 lead": ("theory.dynamics.clocks.lead", "double"),
    "D11 time of Pre-LN": ("theory.dynamics.clocks.times_to", scaled(1.1, part=0)),
    "D11 LN-Scaling's clock": ("theory.dynamics.clocks.post_ln_time", "half"),
    "D11 LN-Scaling's gain": ("theory.dynamics.schemes.LnScaling.gain", power(2.0)),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_is_noticed(ledger_notices, slip):
    assert ledger_notices(slip.split()[0], *SLIPS[slip])
