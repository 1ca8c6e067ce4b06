"""Verdicts on hand-made tables: every one, together, unseen, flipping."""

import math
from dataclasses import replace
from itertools import combinations, product

import polars as pl
import pytest

from headgauge.errors import InputError
from headgauge.runs.columns import columns, error_of
from headgauge.runs.schema import CurveRow, HeadRow, frame_schema
from headgauge.scanning.summary import head_table
from headgauge.scanning.thresholds import DEFAULT, HEALTHY, INCOMPLETE, VERDICTS, Threshold
from headgauge.scanning.verdicts import (
    LARGEST_MARGIN,
    judge,
    near_a_line,
    not_judged,
    numbers,
    rest_entropy_share,
    verdicts,
)

# A head without a fault: 32 keys, little on the first, most of the selected tokens separable.
WELL = (
    dict.fromkeys(("window", "layer", "occurrence", "head", "kv_head"), 0)
    | {"length": 64, "module": "layers.0", "cross": False, "seen": "qkv", "rows": 64}
    | {"entropy": 1.0, "entropy_share": 0.3, "effective_n": 3.0, "sink_weight": 0.1}
    | {"max_logit": 9.0, "jacobian_norm": 0.2, "sharpness": 1.0, "sharp_rows": 0.5}
    | {"output_norm": 1.0, "output_ratio": 1.0, "first_value_ratio": 0.0}
)
CURVE = {"top_n": 16, "vectors": "value", "scale": "unit", "keys": "off_sink", "rows": 48}
# What pushes the well head over each threshold, in the order of the verdicts.
FAULTS = {
    "saturated": {"separability": 0.25},
    "diffuse": {"entropy": 3.0, "entropy_share": 0.9, "sink_weight": 0.0},
    "idle sink": {"sink_weight": 0.6},
    "unstable": {"jacobian_norm": 0.45},
    "inactive": {"output_ratio": 0.28},
}


def tables(*changes: dict) -> tuple[pl.DataFrame, pl.DataFrame]:
    """One row of heads and curves per change of the well head."""
    heads, curves = [], []
    for change in changes:
        row = {**WELL, **change}
        heads.append({name: row.get(name) for name in frame_schema(HeadRow)})
        place = {name: row[name] for name in ("window", "length", "layer", "occurrence", "head")}
        measured = {"separability": row.get("separability", 0.8), "distance": 1.0}
        curves.append({**place, "module": row["module"], **CURVE, **measured})
    curve_schema = frame_schema(CurveRow)
    filled = [{name: row.get(name) for name in curve_schema} for row in curves]
    return (
        pl.DataFrame(heads, schema=frame_schema(HeadRow)),
        pl.DataFrame(filled, schema=curve_schema),
    )


def named(found: pl.DataFrame) -> list[str]:
    return found["verdict"].to_list()


def test_a_well_head_is_healthy():
    found = verdicts(*tables({}))
    assert named(found) == [HEALTHY]
    row = found.row(0, named=True)
    # Its nearest verdicts: jacobian .2/.3, output .68/1, separability .5/.8.
    assert row["margin"] == pytest.approx(0.68)
    assert row["source"] == (
        "none of: saturated, diffuse, idle sink, broadcast sink, unstable, inactive"
    )
    assert (row["number"], row["spread"], row["flips"], row["windows"]) == (None, None, None, 1)


@pytest.mark.parametrize(
    ("change", "verdict", "measure", "number", "margin"),
    [
        ({"separability": 0.25}, "saturated", "separability", 0.25, 2.0),
        (FAULTS["diffuse"], "diffuse", "rest_entropy_share", 0.9, 0.9 / 0.65),
        ({"sink_weight": 0.6}, "idle sink", "idle_weight", 0.6, 2.0),
        (
            {"sink_weight": 0.3, "first_value_ratio": 0.8},
            "broadcast sink",
            "sink_carry",
            0.24,
            1.2,
        ),
        ({"max_logit": 150.0}, "unstable", "max_logit", 150.0, 1.5),
        ({"jacobian_norm": 0.45}, "unstable", "jacobian_norm", 0.45, 1.5),
        ({"output_ratio": 0.28}, "inactive", "output_ratio", 0.28, 0.68 / 0.28),
    ],
)
def test_each_verdict_alone(change, verdict, measure, number, margin):
    found = verdicts(*tables(change))
    assert named(found) == [verdict]
    row = found.row(0, named=True)
    threshold = next(t for t in DEFAULT if t.name == f"{verdict}.{measure}")
    assert row["measure"] == measure
    assert row["number"] == pytest.approx(number)
    assert row["margin"] == pytest.approx(margin)
    assert row["threshold"] == threshold.value
    assert row["direction"] == threshold.direction
    assert (row["source"], row["remedy"]) == (threshold.source, threshold.remedy)


@pytest.mark.parametrize("threshold", DEFAULT, ids=lambda threshold: threshold.name)
def test_the_threshold_itself_is_not_beyond(threshold: Threshold):
    if threshold.measure == "rest_entropy_share":
        at = {"entropy": 3.0, "entropy_share": threshold.value, "sink_weight": 0.0}
    elif threshold.measure == "idle_weight":
        at = {"sink_weight": threshold.value}
    elif threshold.measure == "sink_carry":
        at = {"sink_weight": threshold.value, "first_value_ratio": 1.0}
    else:
        at = {threshold.measure: threshold.value}
    assert named(verdicts(*tables(at))) == [HEALTHY]


def test_any_combination():
    names = ("saturated", "diffuse", "unstable", "inactive")
    several = [set(some) for n in range(5) for some in combinations(names, n)]
    changes = [
        {"head": head} | {name: value for fault in faults for name, value in FAULTS[fault].items()}
        for head, faults in enumerate(several)
    ]
    found = verdicts(*tables(*changes))
    for head, faults in enumerate(several):
        expected = [name for name in VERDICTS if name in faults] or [HEALTHY]
        assert named(found.filter(head=head)) == expected


def test_all_at_once():
    # Most on the sink and the rest as flat as can be: H = h(.8) + .2 log 63.
    entropy = -0.8 * math.log(0.8) - 0.2 * math.log(0.2) + 0.2 * math.log(63)
    change = {
        "sink_weight": 0.8,
        "first_value_ratio": 0.3,
        "entropy": entropy,
        "entropy_share": entropy / math.log(64),
        "separability": 0.1,
        "jacobian_norm": 0.4,
        "output_ratio": 0.1,
    }
    assert named(verdicts(*tables(change))) == list(VERDICTS)


def test_the_measure_farthest_beyond_speaks_for_its_verdict():
    found = verdicts(*tables({"max_logit": 300.0, "jacobian_norm": 0.4}))
    assert named(found) == ["unstable"]
    assert found["measure"].item() == "max_logit"
    found = verdicts(*tables({"max_logit": 110.0, "jacobian_norm": 0.4}))
    assert found["measure"].item() == "jacobian_norm"


@pytest.mark.parametrize(("sink", "others"), [(0.0, 64), (0.3, 63), (0.7, 63), (0.89, 10)])
def test_what_is_not_on_the_sink_keeps_its_entropy(sink, others):
    # Equal weights on `others` keys beside the sink.
    parting = -sum(a * math.log(a) for a in (sink, 1 - sink) if a > 0)
    entropy = parting + (1 - sink) * math.log(others)
    row = {"entropy": entropy, "entropy_share": entropy / math.log(64), "sink_weight": sink}
    heads, _ = tables(row)
    share = heads.select(rest_entropy_share()).item()
    assert share == pytest.approx(math.log(others) / math.log(64), rel=1e-12)


@pytest.mark.parametrize("sink", [0.91, 1.0])
def test_a_pure_sink_is_not_diffuse(sink):
    heads, _ = tables({"entropy": 0.6, "entropy_share": 0.15, "sink_weight": sink})
    assert heads.select(rest_entropy_share()).item() == 0


def test_the_share_of_the_rest_is_a_share():
    shares = (0.0, 1e-300, 1e-9, 0.1, 0.5, 0.9, 1 - 1e-12, 1.0)
    rows = [
        {"entropy": share * log_n, "entropy_share": share, "sink_weight": sink}
        for share, sink, log_n in product(shares, shares, (0.5, 2.0, 8.0))
    ]
    heads, _ = tables(*rows)
    found = heads.select(rest_entropy_share()).to_series()
    assert found.is_between(0, 1).all()


def test_the_mean_of_the_windows_is_judged_with_spread_and_flips():
    weights = [0.2, 0.35, 0.4, 0.45]
    found = verdicts(*tables(*({"window": i, "sink_weight": w} for i, w in enumerate(weights))))
    row = found.row(0, named=True)
    assert row["verdict"] == "idle sink"
    assert row["number"] == pytest.approx(0.35)
    assert row["spread"] == pytest.approx(math.sqrt((0.15**2 + 0.05**2 + 0.1**2) / 3))
    assert row["flips"] == 0.25
    assert row["windows"] == 4


def test_a_healthy_head_shows_its_worst_flips():
    changes = [
        {"window": 0, "sink_weight": 0.35, "output_ratio": 0.6},
        {"window": 1, "output_ratio": 0.6},
        {"window": 2},
    ]
    row = verdicts(*tables(*changes)).row(0, named=True)
    assert row["verdict"] == HEALTHY
    assert row["flips"] == pytest.approx(2 / 3)
    assert row["windows"] == 3


def test_the_largest_logit_is_the_largest_of_all_windows():
    found = verdicts(*tables(*({"window": i, "max_logit": m} for i, m in enumerate([10.0, 120.0]))))
    row = found.row(0, named=True)
    assert (row["verdict"], row["number"], row["flips"]) == ("unstable", 120.0, 0.5)


def test_a_tapped_head_gets_what_it_can_and_is_never_healthy():
    unseen = {"seen": "softmax", "max_logit": None, "output_norm": None, "output_ratio": None}
    unseen["first_value_ratio"] = None
    heads, curves = tables(unseen, {**unseen, "head": 1, "jacobian_norm": 0.45})
    found = verdicts(heads, curves.clear())
    told = found.select("head", "verdict").rows()
    assert told == [(0, INCOMPLETE), (1, "unstable"), (1, INCOMPLETE)]
    row = found.row(0, named=True)
    assert row["measure"] == (
        "separability at N = 16 (value, unit, off_sink), idle_weight, sink_carry, max_logit, "
        "output_ratio"
    )
    assert row["source"] == "not measured"


def test_an_unseen_measure_is_not_missed_where_another_gave_the_verdict():
    found = verdicts(*tables({"max_logit": None, "jacobian_norm": 0.45}))
    assert named(found) == ["unstable"]


def test_each_number_is_needed():
    names = ("entropy_share", "sink_weight", "max_logit", "jacobian_norm", "output_ratio")
    cases = [*product((*names, "separability"), (None, math.nan))]
    changes = [{"head": head, measure: nothing} for head, (measure, nothing) in enumerate(cases)]
    found = verdicts(*tables(*changes))
    assert HEALTHY not in named(found)
    assert found.filter(verdict=INCOMPLETE)["head"].to_list() == [*range(len(cases))]


def test_a_window_without_the_number_does_not_count():
    found = verdicts(
        *tables({"window": 0, "sink_weight": 1.0, "separability": None}, {"window": 1})
    )
    assert named(found) == ["idle sink"]
    assert found["windows"].item() == 2
    heads, curves = tables({"separability": 0.1}, {"window": 1, "separability": None})
    row = verdicts(heads, curves).row(0, named=True)
    assert (row["verdict"], row["windows"], row["flips"]) == ("saturated", 1, None)


def test_what_the_run_was_not_asked_for_is_said_once():
    heads, curves = tables({}, {"head": 1, "sink_weight": 0.6})
    others = curves.with_columns(vectors=pl.lit("hidden"))
    found = verdicts(heads, others)
    assert named(found) == [HEALTHY, "idle sink"]
    assert found["source"][0] == ("none of: diffuse, idle sink, broadcast sink, unstable, inactive")
    assert not_judged(curves) == []
    assert not_judged(others) == [
        "saturated is not judged by separability at N = 16 (value, unit, off_sink): "
        "the run did not measure it"
    ]
    assert len(not_judged(curves.with_columns(pl.col("top_n") + 1))) == 1


def test_a_head_without_the_curve_that_others_have_is_incomplete():
    heads, curves = tables({}, {"head": 1})
    found = verdicts(heads, curves.filter(pl.col("head") == 0))
    assert named(found) == [HEALTHY, INCOMPLETE]


def test_the_longest_length_is_judged_unless_another_is_asked_for():
    tabled = tables({"length": 64, "sink_weight": 0.6}, {"length": 128})
    assert named(verdicts(*tabled)) == [HEALTHY]
    assert verdicts(*tabled)["length"].item() == 128
    assert named(verdicts(*tabled, length=64)) == ["idle sink"]
    with pytest.raises(InputError, match="no length 32 in the tables, only 64, 128"):
        verdicts(*tabled, length=32)


def test_other_thresholds():
    changed = tuple(replace(t, value=0.05) if t.verdict == "idle sink" else t for t in DEFAULT)
    assert named(verdicts(*tables({}), changed)) == ["idle sink"]
    at_eight = tuple(replace(t, top_n=8) if t.verdict == "saturated" else t for t in DEFAULT)
    heads, curves = tables({"separability": 0.1})
    assert named(verdicts(heads, curves, at_eight)) == [HEALTHY]
    eight = curves.with_columns(top_n=pl.lit(8, pl.Int64))
    assert named(verdicts(heads, pl.concat([curves, eight]), at_eight)) == ["saturated"]


def test_margins_stay_finite():
    assert verdicts(*tables({"output_ratio": 0.0}))["margin"].item() == LARGEST_MARGIN
    judged = judge(*tables({"max_logit": -3.0}), DEFAULT)
    assert judged.filter(pl.col("measure") == "max_logit")["margin"].item() == 0


def test_every_head_of_the_table_and_no_other_in_a_fixed_order():
    changes = [
        {"layer": layer, "module": f"layers.{layer}", "occurrence": occurrence, "head": head}
        for layer in (1, 0)
        for occurrence in (1, 0)
        for head in (2, 0, 1)
    ]
    heads, curves = tables(*changes, {"layer": 9, "module": "layers.9"})
    heads = heads.filter(pl.col("layer") < 9)
    found = verdicts(heads, curves)
    order = found.select("layer", "occurrence", "head").rows()
    assert order == sorted(order)
    assert len(order) == 12
    assert found.equals(verdicts(heads.reverse(), curves.sample(fraction=1, shuffle=True, seed=1)))


def test_nothing_to_judge():
    heads, curves = tables({})
    with pytest.raises(InputError, match="the table of heads is empty"):
        verdicts(heads.clear(), curves.clear())
    with pytest.raises(InputError, match="no thresholds"):
        verdicts(heads, curves, ())


def test_numbers_come_from_the_heads_or_from_the_chosen_curve():
    heads, curves = tables({"separability": 0.7})
    other = curves.with_columns(top_n=pl.lit(4, pl.Int64), separability=pl.lit(0.9))
    choice = DEFAULT[0].choice
    found = numbers(heads, pl.concat([curves, other]), [("entropy", {}), ("separability", choice)])
    assert found.select("place", "number").rows() == [(0, 1.0), (1, 0.7)]


def test_a_saturated_head_says_up_to_which_n_it_is_not():
    """The mean over windows decides, N by N, until it is below for the first time."""
    heads, curves = tables(
        {"separability": 0.2}, {"separability": 0.3, "window": 1}, {"head": 1, "sink_weight": 0.6}
    )
    over_n = {1: (1.0, 1.0), 2: (0.9, 0.3), 4: (0.6, 0.3), 8: (0.9, 0.9)}  # by window

    def at(n, window, value, **choice):
        one = curves.filter(head=0, window=window)
        change = {"top_n": n, "separability": value} | choice
        return one.with_columns(**{name: pl.lit(each) for name, each in change.items()})

    more = [at(n, w, value) for n, both in over_n.items() for w, value in enumerate(both)]
    aside = [at(4, w, 0.9, vectors="hidden") for w in (0, 1)]
    both = pl.concat([curves, *more, *aside], how="vertical_relaxed").sort("top_n", descending=True)
    found = verdicts(heads, both)
    saturated = found.filter(verdict="saturated").row(0, named=True)
    assert saturated["holds_up_to"] == 2
    assert found.filter(verdict="idle sink")["holds_up_to"].to_list() == [None]
    # Below from the first N that was measured.
    assert verdicts(heads, curves)["holds_up_to"].is_null().all()


def sampled(*changes: dict) -> tuple[pl.DataFrame, pl.DataFrame]:
    """`tables` with sampling errors: .001 each, or what a change has for it."""
    found = []
    for frame, row in zip(tables(*changes), (HeadRow, CurveRow), strict=True):
        means = [name for name, column in columns(row).items() if column.over_rows]
        errors = {
            error_of(name): [each.get(error_of(name), 0.001) for each in changes] for name in means
        }
        frame = frame.with_columns(
            pl.Series(name, values, dtype=pl.Float64) for name, values in errors.items()
        )
        found.append(frame)
    return found[0], found[1]


def near(*changes: dict) -> list[bool]:
    """Of each head whether one of its numbers is unsure."""
    heads, curves = sampled(*({"head": i} | change for i, change in enumerate(changes)))
    return near_a_line(judge(heads, curves, DEFAULT)).sort("head")["unsure"].to_list()


def test_a_number_near_its_threshold_is_unsure_whatever_else_the_head_has():
    """A faulty head that nearly has, or nearly lacks, a second verdict, and the second measure of
    one verdict."""
    close, other = {"sink_weight": 0.29, "sink_weight_error": 0.006}, {"separability": 0.25}
    surely = close | {"sink_weight_error": 0.004}
    assert near(close, surely, close | other, surely | other) == [True, False, True, False]
    second = {"max_logit": 400.0, "jacobian_norm": 0.29, "jacobian_norm_error": 0.006}
    assert near(second, second | {"jacobian_norm_error": 0.004}) == [True, False]
    both = sampled(close | other)
    row = verdicts(*both).row(0, named=True)
    assert head_table(*both, verdicts(*both))["unsure"].to_list() == [True]
    assert (row["verdict"], row["error"], row["unsure"]) == ("saturated", 0.001, False)
    assert verdicts(*sampled(close))["unsure"].to_list() == [True]


def test_a_sampled_number_without_an_error_is_unsure():
    assert near({}, {"separability_error": None}) == [False, True]
    assert near({"max_logit": 99.9}, {"separability": None}) == [False, False]
    windows = [{"window": i, "separability_error": None if i else 0.1} for i in range(2)]
    found = judge(*sampled(*windows), DEFAULT).filter(measure="separability")
    assert found.select("error", "unsure").row(0) == (None, True)


def test_the_error_over_windows_is_divided_by_the_windows_with_a_number():
    windows = [{"window": i, "jacobian_norm_error": 0.3} for i in range(3)]
    windows[2] |= {"jacobian_norm": None, "jacobian_norm_error": None}
    found = judge(*sampled(*windows), DEFAULT).filter(measure="jacobian_norm")
    assert found["error"].item() == pytest.approx(0.3 / 2**0.5)
