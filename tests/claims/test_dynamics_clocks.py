import math

import pytest

from claims.mutants import instead, power, scaled, with_argument

GAIN, LIMIT = "particles.schemes.PeriLn.gain", "theory.dynamics.long_context.limit"
COSINE = "theory.dynamics.long_context.output_cosine"
SLIPS = {
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
    "D11 LN-Scaling's gain": ("particles.schemes.LnScaling.gain", power(2.0)),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_is_noticed(ledger_notices, slip):
    assert ledger_notices(slip.split()[0], *SLIPS[slip])
