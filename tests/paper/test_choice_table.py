import math
from typing import Any

import polars as pl
import pytest

from headgauge.paper.choice_table import choice_table, closest
from headgauge.paper.choices import CHOICES, Choice
from headgauge.paper.figures import longest
from headgauge.registry.published import CRITICAL_SHARE
from headgauge.runs.schema import PaperCurveRow, frame_schema

CHOICE = {"vectors": "final", "scale": "unit", "keys": "all"}
OTHER = {"vectors": "value", "scale": "raw", "keys": "visible"}
# Levels off after N = 20: a rise of 19, then less than 15 % of it.
DISTANCE = {1: 1.0, 16: 15.0, 20: 20.0, 64: 21.0, 100: 22.8}
SETTLED = {1: 1.0, 16: 0.85, 20: 0.8, 64: 0.75, 100: 0.70}


def _curves(choice=CHOICE, separability=SETTLED, distance=DISTANCE, **more) -> list[dict]:
    """Four heads around the given means; numbers that binary fractions can hold."""
    return [
        dict.fromkeys(frame_schema(PaperCurveRow))
        | choice
        | {
            "window": 0, "length": 1000, "layer": head // 2, "occurrence": 0, "module": "m",
            "head": head % 2, "top_n": n, "rule": "model", "rows": 128,
            "separability": separability[n] + shift, "distance": distance[n],
        }
        | more
        for n in separability
        for head, shift in enumerate((-0.125, -0.0, 0.0, 0.125))
    ]  # fmt: skip


def _frame(frames, *curves, critical: Any = 60, in_full=None) -> pl.DataFrame:
    critical = critical if isinstance(critical, list) else [(CHOICE, critical), (OTHER, critical)]
    rows = [
        choice | {"critical_n": n, "expected": expected}
        for choice, n in critical
        for expected in ("printed", "appendix")
    ]
    table = frames.curves([row for each in curves for row in each])
    return choice_table(table.filter(length=longest(table)), frames.critical(*rows), in_full)


def _table(frames, *curves, **more) -> list[dict]:
    return _frame(frames, *curves, **more).to_dicts()


def test_a_choice_that_meets_all_three_numbers(frames):
    (row,) = _table(frames, _curves())
    assert row["agrees"] == 3
    assert (row["critical_n"], row["critical_share"], row["critical_n_corrected"]) == (60, 0.06, 60)
    assert row["separability_at_16"] == pytest.approx(0.85)
    assert (row["plateau_low"], row["plateau_high"]) == pytest.approx((0.70, 0.85))
    assert row["heads_in_band"] == 0.5  # the mean of N ≥ 16 is .775: two of the heads are on it
    assert row["closest"]
    assert not row["measured"]
    assert row["rows"] == 128.0


@pytest.mark.parametrize(
    ("change", "meets"),
    [
        ({"critical": 30}, 3),
        ({"critical": 29}, 2),
        ({"critical": 70}, 3),
        ({"critical": 71}, 2),
        ({"critical": None}, 2),
        ({"separability": SETTLED | {100: 0.69}}, 2),
        ({"separability": SETTLED | {16: 0.86}}, 2),
        ({"separability": SETTLED | {1: 0.1}}, 3),  # only N of 16 and more
        ({"distance": DISTANCE | {100: 22.86}}, 2),  # .15 of 19 is 2.85
        ({"distance": DISTANCE | {100: 17.2}}, 3),
        ({"distance": DISTANCE | {100: 17.1}}, 2),
        ({"distance": dict.fromkeys(DISTANCE, 1.0)}, 2),  # no rise
    ],
)
def test_each_number_has_its_limits(frames, change, meets):
    critical = {"critical": change.pop("critical")} if "critical" in change else {}
    (row,) = _table(frames, _curves(**change), **critical)
    assert row["agrees"] == meets


def _names(rows: list[dict]) -> list[str]:
    return ["/".join(row[name] for name in CHOICE) for row in rows]


def test_the_closest_is_the_one_that_meets_most(frames):
    better, third = _curves(OTHER), CHOICE | {"vectors": "hidden"}
    worse = _curves(third, SETTLED | {100: 0.1})
    given = (better, worse, _curves(separability=SETTLED | {100: 0.1}))
    table = _frame(frames, *given, in_full=Choice(**CHOICE))
    rows = table.to_dicts()
    assert _names(rows) == ["value/raw/visible", "final/unit/all", "hidden/unit/all"]
    assert [row["agrees"] for row in rows] == [3, 2, 1]
    assert [row["closest"] for row in rows] == [True, False, False]
    assert [row["measured"] for row in rows] == [False, True, False]
    assert rows[2]["critical_n"] is None  # no critical row for it
    assert closest(table) == Choice(**OTHER)


@pytest.mark.parametrize("best", [vars(CHOICES[0]), vars(CHOICES[-3])])
def test_any_choice_may_be_the_closest(frames, best):
    """Nothing is closest by its name: here all but one have a plateau far from the paper's."""
    far = {n: value / 4 for n, value in SETTLED.items()}
    curves = [_curves(vars(choice), SETTLED if vars(choice) == best else far) for choice in CHOICES]
    table = _frame(frames, *curves, critical=[(vars(each), 60) for each in CHOICES])
    assert len(table) == 16
    assert closest(table) == Choice(**best)


def test_of_equals_the_one_that_is_least_off(frames):
    """By the critical N in doublings from .06, and by the middle of the plateau."""
    flat = dict.fromkeys(SETTLED, 0.775)  # the middle of the band
    near = [(CHOICE, 50), (OTHER, 60)]
    rows = _table(frames, _curves(separability=flat), _curves(OTHER, flat), critical=near)
    assert _names(rows) == ["value/raw/visible", "final/unit/all"]
    assert rows[0]["off"] == pytest.approx(0.0, abs=1e-12)
    assert rows[1]["off"] == pytest.approx(abs(math.log2(50 / 60)))
    low = dict.fromkeys(SETTLED, 0.71)
    rows = _table(frames, _curves(separability=flat), _curves(OTHER, low), critical=60)
    assert _names(rows) == ["final/unit/all", "value/raw/visible"]
    assert rows[1]["off"] == pytest.approx((0.775 - 0.71) / 0.075)
    none = _table(frames, _curves(separability=flat), critical=None)[0]["off"]
    assert none == pytest.approx(math.log2(1 / CRITICAL_SHARE))
    both = _table(frames, _curves(OTHER, flat), _curves(separability=flat))
    assert _names(both) == ["final/unit/all", "value/raw/visible"]  # a tie: the order of CHOICES


def test_with_more_heads_than_the_paper_had_the_draws_decide(frames):
    rows = [
        CHOICE | {"critical_n": 90, "few_heads": 60, "few_found": 1.0},
        CHOICE | {"critical_n": 80, "few_heads": None, "few_found": 0.2, "expected": "appendix"},
    ]
    table = choice_table(frames.curves(_curves()), frames.critical(*rows), None)
    (row,) = table.to_dicts()
    assert (row["critical_n"], row["critical_share"]) == (60, 0.06)
    assert row["critical_n_corrected"] is None


def test_only_the_models_rule_the_longest_l_and_the_first_window(frames):
    off = dict.fromkeys(SETTLED, 0.0)
    (row,) = _table(
        frames,
        _curves(),
        _curves(separability=off, rule="sparsemax"),
        _curves(separability=off, length=500),
        _curves(separability=off, window=1),
    )
    assert row["agrees"] == 3
    far = [each | {"top_n": 500, "separability": 0.0} for each in _curves() if each["top_n"] == 1]
    (row,) = _table(frames, _curves(), far)
    assert row["plateau_low"] == pytest.approx(0.70)


def test_the_order_of_the_curves_does_not_show(frames):
    """The same data, the same bytes: a run in memory and one from its folder."""
    curves = _curves()
    for row, value in zip(curves, (0.1, 0.2, 0.3, 0.0) * 5, strict=True):
        row["separability"] = value
    first = _table(frames, curves)
    assert first == _table(frames, curves[::-1])
    assert first == _table(frames, curves[7:], curves[:7])


def test_a_choice_without_numbers_has_none(frames):
    nothing = _curves()
    for row in nothing:
        row["separability"] = None
    (row,) = _table(frames, nothing)
    for name in ("separability_at_16", "plateau_low", "plateau_high", "heads_in_band"):
        assert row[name] is None, name
    assert row["agrees"] == 2


def test_the_critical_n_is_that_of_the_longest_l(frames):
    critical = frames.critical(
        {"critical_n": 5, "length": 100}, {"critical_n": 60}, {"critical_n": 9, "level": 0.05},
        {"critical_n": 8, "rule": "ssmax"},
    )  # fmt: skip
    (row,) = choice_table(frames.curves(_curves()), critical, None).to_dicts()
    assert (row["critical_n"], row["critical_share"]) == (60, 0.06)
    assert row["critical_n_corrected"] is None


def test_the_run_has_every_choice(kept):
    table = kept.paper["choices"]
    assert len(table) == 16
    assert table["closest"].to_list() == [True] + [False] * 15
    assert table["agrees"].is_sorted(descending=True)
    measured = table.filter("measured")
    assert measured.select(*CHOICE).rows() == [tuple(CHOICE.values())]
    fig3 = kept.paper["fig3"].filter(rule="model", measure="separability", top_n=16, windows=1)
    for row in fig3.iter_rows(named=True):
        mine = table.filter(**{name: row[name] for name in CHOICE})
        assert mine["separability_at_16"][0] == pytest.approx(row["mean"], rel=1e-12)
