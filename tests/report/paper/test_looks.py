"""No two lines of a panel look alike, with colours or without."""

from headgauge.report.paper.looks import (
    CRITICAL_LOOKS,
    DISTANCE_LOOKS,
    SEPARABILITY_LOOKS,
    rule_looks,
)


def test_every_line_of_a_figure_has_its_own_colour_style_and_marker():
    for looks in (CRITICAL_LOOKS, DISTANCE_LOOKS, SEPARABILITY_LOOKS):
        for signs in ("colour", "line", "marker"):
            assert len({getattr(look, signs) for look in looks.values()}) == len(looks)


def test_many_rules_stay_apart_and_the_models_own_comes_first():
    looks = rule_looks([f"rule {number}" for number in range(20)] + ["model"])
    assert next(iter(looks)) == "model"
    assert len({(look.colour, look.line, look.marker) for look in looks.values()}) == 21
    assert len({(look.line, look.marker) for look in list(looks.values())[:11]}) == 11


def test_without_the_models_own_there_is_no_line_for_it():
    assert list(rule_looks(["topk"])) == ["topk"]
