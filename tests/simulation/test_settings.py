import pytest

from headgauge.errors import InputError
from headgauge.particles import schemes
from headgauge.simulation import SimulationSettings


def test_the_usual_settings_are_those_of_the_paper():
    usual = SimulationSettings()
    assert usual.schemes == schemes.names()
    identity, random = usual.kinds()
    assert (identity.tokens, identity.dim, identity.beta) == (256, 512, 5.0)
    assert random.beta == pytest.approx(512**0.5)
    assert identity.seeds == tuple(range(20))
    assert usual.phase_dims == (8, 128, 1024)


def test_options_reach_the_schemes_and_the_swarms():
    chosen = SimulationSettings(
        schemes=("ngpt", "mix_ln"), alpha=0.5, decay=0.1, switch=3.0, random_beta=2.0, seed=4,
        seeds=2, weights=("layers",), heads=2, causal=True, rule="entmax", radius=1.5,
    )  # fmt: skip
    assert chosen.chosen() == [schemes.NGpt(0.5, 0.1), schemes.MixLn(3.0)]
    (kind,) = chosen.kinds()
    assert (kind.beta, kind.seeds, kind.weights) == (2.0, (4, 5), "layers")
    assert (kind.heads, kind.causal, kind.rule, kind.radius) == (2, True, "entmax", 1.5)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"schemes": ("rms",)}, "no scheme 'rms'; there are post_ln, pre_ln"),
        ({"weights": ("zero",)}, "no weights named 'zero'; there are identity, random, layers"),
        ({"weights": ()}, "weights: at least one, and each once, got ''"),
        ({"schemes": ("ngpt", "ngpt")}, "schemes: at least one, and each once, got 'ngpt, ngpt'"),
        ({"schemes": ()}, "schemes: at least one"),
        ({"phase_seeds": 0}, "phase_seeds must be in 1 to 100000, got 0"),
        ({"phase_betas": 0}, "phase_betas must be in 1 to 100000, got 0"),
        ({"sphere_particles": 0}, "sphere_particles must be in 1 to 100000, got 0"),
        ({"phase_tokens": 1}, "phase_tokens must be in 2 to 9223372036854775807, got 1"),
        ({"phase_dims": ()}, "a phase diagram needs 2 dimensions"),
        ({"beta": 1000.0}, "β must be above 0 and at most 300, got 1000"),
        ({"radius": -1.0}, "a token needs a length above 0, got -1"),
        ({"parts": ("all",)}, "no part named 'all'; there are curves"),
        ({"rule": "softmaxx"}, "softmaxx"),
        ({"horizon": 0.0}, "horizon must be above 0 and at most 1e.06, got 0"),
        ({"seeds": 0}, "seeds must be in 1 to 100000, got 0"),
        ({"heads": 3}, "512 dimensions cannot be split among 3 heads"),
        ({"tolerance": 0.5}, "tolerance must be in 1e-12 to 1e-2, got 0.5"),
        ({"tokens": 1}, "tokens must be in 2 to 9223372036854775807, got 1"),
        ({"alpha": -1.0}, "nGPT needs alpha above 0"),
        ({"switch": 0.0}, "Mix-LN switches at a time after 0"),
    ],
)
def test_mistakes_are_told_in_one_line(options, said):
    with pytest.raises(InputError, match=said) as caught:
        SimulationSettings(**options)
    assert "\n" not in str(caught.value)
