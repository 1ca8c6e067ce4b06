import pytest
import torch

from headgauge.errors import InputError
from headgauge.particles import schemes
from headgauge.particles.schemes import MixLn, PostLn, PreLn, SchemeBatch
from headgauge.theory.dynamics.schemes import rates
from particles import reference


def test_the_six_in_the_papers_order():
    assert schemes.names() == ("post_ln", "pre_ln", "mix_ln", "peri_ln", "ngpt", "ln_scaling")
    titles = [schemes.get(name).title for name in schemes.names()]
    assert titles == ["Post-LN", "Pre-LN", "Mix-LN", "Peri-LN", "nGPT", "LN-Scaling"]


@pytest.mark.parametrize("name", [*schemes.SCHEMES, *schemes.VARIANTS])
def test_a_scheme_is_found_by_its_name_and_says_its_law(name: str):
    scheme = schemes.get(name)
    assert scheme.name == name
    assert all((scheme.velocity_text, scheme.final_text, scheme.clock_text))


@pytest.mark.parametrize("written", ["Peri-LN", " peri_ln ", "PERI_LN"])
def test_a_title_is_a_name_too(written: str):
    assert schemes.get(written) == schemes.PeriLn()


def test_options_arrive():
    assert schemes.get("ngpt", alpha=0.6, decay=0.1) == schemes.NGpt(0.6, 0.1)
    assert schemes.get("mix_ln", switch=3.0).breaks() == (3.0,)


def test_equal_fields_do_not_make_two_schemes_one():
    assert schemes.PostLn() != schemes.PreLn()
    assert schemes.LnScaling() != schemes.LnScalingPre()


def test_an_unknown_name_is_told_with_the_known_ones():
    with pytest.raises(InputError, match=r"^no scheme 'sandwich'; there are post_ln, .*ln_scaling"):
        schemes.get("sandwich")


def test_an_unknown_option_is_told():
    with pytest.raises(InputError, match=r"^post_ln has no such option: alpha$"):
        schemes.get("post_ln", alpha=1.0)


@pytest.mark.parametrize(("name", "wrong"), [("ngpt", {"alpha": 0.0}), ("mix_ln", {"switch": 0.0})])
def test_a_wrong_option_is_a_users_mistake(name: str, wrong: dict[str, float]):
    with pytest.raises(InputError, match=r"above 0|after 0"):
        schemes.get(name, **wrong)


def drawn(*shape: int) -> torch.Tensor:
    return torch.rand(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) + 0.1


@pytest.mark.parametrize("tokens", [(), (3,)], ids=["reduced", "particles"])
def test_each_trajectory_has_the_rates_of_its_own_scheme(tokens: tuple[int, ...]):
    """All schemes twice, in a mixed order, each at its own time."""
    order = [*reference.ALL, *reversed(reference.ALL)]
    radius, radial, norm = drawn(3, len(order), *tokens)
    time = torch.linspace(0, 5, len(order), dtype=torch.float64)
    pace, growth = SchemeBatch.of(order, len(order)).rates(time, radius, radial, norm)
    for place, scheme in enumerate(order):
        at = time[place].expand_as(norm[place])
        gain, grows = scheme.gain(at, norm[place]), scheme.grows(at)
        own = rates(gain, grows, radius[place], radial[place])
        assert torch.equal(pace[place], own[0])
        assert torch.equal(growth[place], own[1])


def test_rows_keep_their_schemes():
    batch = SchemeBatch.of([PostLn(), PreLn(), MixLn(1.0), PreLn()], 4)
    assert batch.only(torch.tensor([3, 0])).schemes == (PreLn(), PostLn())


def test_one_scheme_serves_all():
    batch = SchemeBatch.of(PreLn(), 3)
    radius = torch.tensor([1.0, 2.0, 4.0], dtype=torch.float64)
    one = torch.ones(3, dtype=torch.float64)
    pace, growth = batch.rates(0 * one, radius, one, one)
    assert pace.tolist() == [1, 0.5, 0.25]
    assert growth.tolist() == [1, 1, 1]


def test_breaks_are_everyones_and_between_them_nothing_jumps():
    batch = SchemeBatch.of([MixLn(3.0), PostLn(), MixLn(1.5), MixLn(3.0)], 4)
    assert batch.breaks() == {1.5, 3.0}
    between = batch.between(1.5, 3.0)
    assert not between.breaks()
    assert between.schemes == (PostLn(), PostLn(), PreLn(), PostLn())


def test_as_many_schemes_as_trajectories():
    with pytest.raises(InputError, match=r"^2 schemes for 3 trajectories$"):
        SchemeBatch.of([PostLn(), PreLn()], 3)
