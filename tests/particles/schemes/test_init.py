import pytest

from headgauge.errors import InputError
from headgauge.particles import schemes


def test_the_six_in_the_papers_order():
    assert schemes.names() == ("post_ln", "pre_ln", "mix_ln", "peri_ln", "ngpt", "ln_scaling")
    titles = [schemes.get(name).title for name in schemes.names()]
    assert titles == ["Post-LN", "Pre-LN", "Mix-LN", "Peri-LN", "nGPT", "LN-Scaling"]


@pytest.mark.parametrize("name", [*schemes.SCHEMES, *schemes.VARIANTS])
def test_a_scheme_is_found_by_its_name_and_says_its_law(name: str):
    scheme = schemes.get(name)
    assert scheme.name == name
    texts = (scheme.step_text, scheme.speed_text, scheme.velocity_text, scheme.final_text)
    assert all((*texts, scheme.clock_text))


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
