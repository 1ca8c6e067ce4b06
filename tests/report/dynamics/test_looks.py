"""One look for each scheme, and no two alike, with colours or without."""

from headgauge.particles.schemes import SCHEMES, VARIANTS
from headgauge.report.dynamics.looks import SCHEME_LOOKS, line_of, scheme_handles, schemes_in


def test_every_scheme_has_a_look_of_its_own_under_its_own_title():
    for name, scheme in (SCHEMES | VARIANTS).items():
        assert SCHEME_LOOKS[name].label == scheme.title
    for sign in ("colour", "line", "marker"):
        assert len({getattr(look, sign) for look in SCHEME_LOOKS.values()}) == len(SCHEME_LOOKS)


def test_a_marker_is_drawn_where_there_are_few_points():
    assert line_of("peri_ln", 8)["marker"] == "^"
    assert line_of("peri_ln", 9)["marker"] == ""


def test_schemes_are_in_one_order_whatever_that_of_the_table(whole):
    assert schemes_in(whole["curves"].reverse())[:2] == ["post_ln", "pre_ln"]


def test_the_legend_has_what_the_frame_has(whole):
    some = whole["curves"].filter(scheme="ngpt")
    (handle,) = scheme_handles(some)
    assert (handle.get_label(), handle.get_marker()) == ("nGPT", "")
    assert scheme_handles(some.head(3))[0].get_marker() == "p"
