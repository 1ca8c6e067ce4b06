"""Every measure that is drawn has words, every verdict a letter, every line signs of its own."""

import json

import polars as pl

from headgauge.registry import as_json, glossary, measures, names
from headgauge.registry.measures import number
from headgauge.runs.columns import Keys, Scale, Vectors
from headgauge.runs.schema import CurveRow, HeadRow, frame_schema


def numbers_of(row):
    return {name for name, kind in frame_schema(row).items() if kind == pl.Float64}


def test_every_number_of_a_head_and_of_a_curve_has_words():
    assert numbers_of(HeadRow) <= set(measures.HEAD_MEASURES)
    assert numbers_of(CurveRow) - {"separable_count"} == set(measures.CURVES)
    assert set(measures.CURVE_MEASURES) <= set(frame_schema(CurveRow))


def test_every_measure_of_a_head_but_its_effect_is_in_one_group():
    together = [name for names in measures.GROUPS.values() for name in names]
    assert sorted([*together, "effect"]) == sorted(measures.HEAD_MEASURES)


def test_every_choice_has_words():
    for field, words in (("vectors", Vectors), ("scale", Scale), ("keys", Keys)):
        assert set(names.CHOICES[field]) == set(words.__args__)


def test_diverging_colours_only_around_a_meaningful_middle():
    diverging = {name for name, each in measures.MEASURES.items() if each.colour_map != "viridis"}
    assert diverging == {"output_ratio", "first_value_ratio", "ov_copying", "effect"}


def test_no_two_verdicts_look_the_same_and_ink_is_readable_on_each():
    verdicts = list(names.VERDICTS.values())
    assert len({each.letter for each in verdicts}) == len(verdicts)
    assert len({each.look.colour for each in verdicts}) == len(verdicts)
    assert names.mark("a verdict of tomorrow").letter not in {each.letter for each in verdicts}
    assert names.mark("idle sink").look.ink == "white"
    assert names.mark("healthy").look.ink == "black"


def test_every_line_of_a_panel_has_its_own_colour_style_and_marker():
    curves = measures.CURVES.values()
    together = [
        [each for each in curves if each.name.startswith(("distance", "expected", "bound"))],
        [each for each in curves if each.name.startswith("separability")],
        list(measures.WEIGHTS.values()),
        [measures.WEIGHTS["largest_weight"], *measures.WEIGHT_BOUNDS.values()],
    ]
    for entries in together:
        looks = [each.look for each in entries]
        assert len({look.colour for look in looks}) == len(looks)
        assert len({look.marker for look in looks}) == len(looks)
    for looks in (measures.STEP_LOOKS, [each.look for each in names.SCHEMES.values()]):
        assert len({(look.line, look.marker) for look in looks}) == len(looks)
        assert len({look.colour for look in looks}) == len(looks)


def test_many_rules_stay_apart_and_the_models_own_comes_first():
    looks = names.rules([f"rule {number}" for number in range(20)] + ["model"])
    assert next(iter(looks)) == "model"
    assert len({each.look for each in looks.values()}) == 21
    first = [each.look for each in looks.values()][:10]
    assert len({(look.line, look.marker) for look in first}) == 10
    assert list(names.rules(["topk"])) == ["topk"]


def test_a_rule_looks_the_same_in_figures_with_and_without_the_guidelines_rules():
    asked = ["entmax:alpha=1.3", "softmax_one", "ssmax", "topk:k=8"]
    guidelines = ["softmax T=0.01", "softmax T=0.1", "ssmax from n=256"]
    alone, among = names.rules(asked), names.rules(["model", *sorted(asked + guidelines)])
    assert {name: among[name] for name in asked} == alone
    assert len({each.look for each in among.values()}) == len(among)


def test_what_must_be_known_of_a_rule_is_said_once():
    said = names.rule_notes(["lssa:dim=32", "lssar", "ssmax:s=0.2", "topk"])
    assert said == ["lssa and lssar are made for cosines, and get the model's logits here"]
    assert len(names.rule_notes(["ssmax", "ssmax from n=256"])) == 2


def test_numbers_keep_their_digits():
    for value, name, text in [
        (0.12345, "sink_weight", "0.12"),
        (0.12345, "jacobian_norm", "0.123"),
        (0.00004, "sink_weight", "4e-05"),
        (0.0, "sink_weight", "0.00"),
        (None, "sink_weight", "–"),
        (float("nan"), "sink_weight", "–"),
        (391.72, "effective_n", "391.7"),
    ]:
        assert number(value, name) == text


def test_the_page_gets_titles_limits_and_looks_as_json():
    held = json.loads(json.dumps(as_json()))
    assert held["measures"]["jacobian_norm"]["high"] == 0.5
    assert held["measures"]["distance"]["look"]["marker"] == "circle"
    sink = held["verdicts"]["idle sink"]
    assert (sink["letter"], sink["look"]["ink"]) == ("S", "white")
    assert held["keys"]["visible"]["title"] == "visible to the query"
    assert set(held["schemes"]) == set(names.SCHEMES)


def test_every_head_has_a_name_of_its_own_and_lists_read_as_sentences():
    assert names.head_name(18, 0, 7) == "L18H7"
    assert names.head_name(18, 1, 7) == "L18H7-call-2"
    assert [names.listed("abc"[:end]) for end in range(4)] == ["", "a", "a and b", "a, b and c"]


def test_a_page_of_every_kind_is_introduced_and_its_letters_are_explained():
    held = {kind: [each.term for each in glossary.terms(kind)] for kind in glossary.INTRODUCTION}
    needed = ["L", "N", "final vectors", "s", "distance d̃", "N_s/N", "eq. 24", "sandwich"]
    for kind in ("scan", "reproduction"):
        assert [term for term in held[kind] if term in needed] == needed
    assert {"n, d", "t", "β", "γ", "scheme"} <= set(held["simulation"])
    assert all(len(set(there)) == len(there) for there in held.values())
