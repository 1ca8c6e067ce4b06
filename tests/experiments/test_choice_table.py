import polars as pl
import pytest

from headgauge.experiments.choice_table import choice_table, critical_n, named
from headgauge.experiments.measured import Measured
from headgauge.results.schema import PaperCurveRow, frame_schema

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


def _table(frames, *curves, critical=60, closest=CHOICE) -> list[dict]:
    frame = pl.DataFrame(
        [row for each in curves for row in each], schema=frame_schema(PaperCurveRow)
    )
    rows = [
        choice | {"critical_n": critical, "expected": expected}
        for choice in (CHOICE, OTHER)
        for expected in ("printed", "appendix")
    ]
    measured = Measured(frame, pl.DataFrame(), pl.DataFrame())
    return choice_table(measured, frames.critical(*rows), closest).to_dicts()


def test_a_choice_that_meets_all_three_numbers(frames):
    (row,) = _table(frames, _curves())
    assert row["agrees"] == 3
    assert (row["critical_n"], row["critical_share"], row["critical_n_corrected"]) == (60, 0.06, 60)
    assert row["separability_at_16"] == pytest.approx(0.85)
    assert (row["plateau_low"], row["plateau_high"]) == pytest.approx((0.70, 0.85))
    assert row["heads_in_band"] == 0.5  # the mean of N ≥ 16 is .775: two of the heads are on it
    assert row["closest"]
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


def test_the_closest_comes_first_then_who_meets_more(frames):
    better, third = _curves(OTHER), CHOICE | {"vectors": "hidden"}
    worse = _curves(third, SETTLED | {100: 0.1})
    rows = _table(frames, better, worse, _curves(separability=SETTLED | {100: 0.1}))
    assert [named(row) for row in rows] == [
        "final/unit/all", "value/raw/visible", "hidden/unit/all",
    ]  # fmt: skip
    assert [row["closest"] for row in rows] == [True, False, False]
    assert rows[2]["critical_n"] is None  # no critical row for it


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
    assert critical_n(critical, CHOICE, "printed") == (60, 0.06)
    assert critical_n(critical, CHOICE, "printed", 0.05) == (9, 0.009)
    assert critical_n(critical, CHOICE, "appendix") == (None, None)


def test_the_run_has_every_choice(found):
    table = found.paper["choices"]
    assert len(table) == 16
    assert table["closest"].to_list() == [True] + [False] * 15
    assert table["agrees"][1:].is_sorted(descending=True)
    fig3 = found.paper["fig3"].filter(rule="model", measure="separability", top_n=16, windows=1)
    for row in fig3.iter_rows(named=True):
        mine = table.filter(**{name: row[name] for name in CHOICE})
        assert mine["separability_at_16"][0] == pytest.approx(row["mean"], rel=1e-12)
