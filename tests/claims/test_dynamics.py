import pytest

BROKEN = [
    ("D1", "dynamics.equiangular.Equiangular.attend", "tight"),
    ("D1", "dynamics.equiangular.Equiangular.attend", "loose"),
    ("D1", "dynamics.equiangular.Equiangular.field", "tight"),
    ("D2", "dynamics.rates.initial_velocity", "nan"),
    ("D2", "dynamics.rates.initial_velocity", "tight"),
    ("D2", "dynamics.rates.initial_velocity", "loose"),
    ("D2", "dynamics.schemes.PostLn.initial_velocity", "nan"),
    ("D2", "dynamics.schemes.PostLn.initial_velocity", "tight"),
    ("D2", "dynamics.schemes.PreLn.initial_velocity", "nan"),
    ("D2", "dynamics.schemes.PreLn.initial_velocity", "tight"),
    ("D2", "dynamics.schemes.MixLn.initial_velocity", "nan"),
    ("D2", "dynamics.schemes.MixLn.initial_velocity", "tight"),
    ("D2", "dynamics.schemes.PeriLn.initial_velocity", "nan"),
    ("D2", "dynamics.schemes.PeriLn.initial_velocity", "tight"),
    ("D2", "dynamics.schemes.NGpt.initial_velocity", "nan"),
    ("D2", "dynamics.schemes.NGpt.initial_velocity", "tight"),
    ("D2", "dynamics.schemes.LnScaling.initial_velocity", "nan"),
    ("D2", "dynamics.schemes.LnScaling.initial_velocity", "tight"),
    ("D3", "dynamics.schemes.PostLn.final_rate", "nan"),
    ("D3", "dynamics.schemes.LnScaling.clock", "tight"),
]


@pytest.mark.parametrize(("claim_id", "target", "how"), BROKEN)
def test_a_broken_formula_is_noticed(ledger_notices, claim_id, target, how):
    assert ledger_notices(claim_id, target, how)
