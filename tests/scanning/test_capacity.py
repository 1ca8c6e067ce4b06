"""Trends over the length: exact laws, intervals, and what cannot be fitted."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from headgauge.errors import InputError
from headgauge.runs.schema import CurveRow, HeadRow, frame_schema
from headgauge.scanning.capacity import LAWS, _trend, capacity, outlook

LENGTHS: tuple[int, ...] = (128, 256, 512, 1024)


def tables(
    lengths=LENGTHS, windows: int = 1, **laws: Callable[[int, int], float | None]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """One head whose measures are functions of length and window."""
    choice = {"top_n": 16, "vectors": "value", "scale": "unit", "keys": "off_sink"}
    plain = {
        "entropy": 1.0,
        "entropy_share": 0.3,
        "effective_n": 3.0,
        "sink_weight": 0.1,
        "max_logit": 9.0,
        "jacobian_norm": 0.2,
        "sharpness": 1.0,
        "output_ratio": 1.0,
        "first_value_ratio": 0.0,
        "separability": 0.8,
        "distance": 5.0,
    }
    frames = []
    for kind, extra in ((HeadRow, {}), (CurveRow, choice)):
        schema = frame_schema(kind)
        rows = []
        for window in range(windows):
            for length in lengths:
                place = {"window": window, "length": length, "layer": 0, "occurrence": 0}
                named = {"module": "m", "head": 0, "kv_head": 0, "cross": False, "seen": "qkv"}
                measured = {name: law(length, window) for name, law in laws.items()}
                row = {**place, **named, "rows": length, **plain, **extra, **measured}
                rows.append({name: row.get(name) for name in schema})
        frames.append(pl.DataFrame(rows, schema=schema))
    return frames[0], frames[1]


def heads_of(*pieces: tuple[pl.DataFrame, pl.DataFrame]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Tables of one head each as heads 0, 1, … of one layer."""
    numbered = [
        [frame.with_columns(head=pl.lit(i, pl.Int64)) for i, frame in enumerate(side)]
        for side in zip(*pieces, strict=True)
    ]
    return pl.concat(numbered[0]), pl.concat(numbered[1])


def trend(measure: str, target: int, *frames: pl.DataFrame) -> dict:
    table = capacity(frames[0], frames[1], target)
    return table.row(by_predicate=pl.col("measure") == measure, named=True)


@settings(max_examples=20)
@given(st.floats(0.01, 3.0), st.floats(-1.5, 0.9), st.integers(1, 3))
def test_a_power_law_is_recovered(scale, slope, windows):
    found = trend(
        "distance", 4096, *tables(windows=windows, distance=lambda L, _: scale * L**slope)
    )
    assert found["law"] == "power"
    assert found["slope"] == pytest.approx(slope, rel=1e-9, abs=1e-9)
    assert found["prediction"] == pytest.approx(scale * 4096**slope, rel=1e-9)
    assert found["lower"] == pytest.approx(found["prediction"], rel=1e-6)
    assert found["upper"] == pytest.approx(found["prediction"], rel=1e-6)
    assert found["value"] == pytest.approx(scale * 1024**slope, rel=1e-12)
    assert (found["longest"], found["target"], found["reach"]) == (1024, 4096, 4.0)
    assert found["slope_error"] == pytest.approx(0, abs=1e-9)


def test_a_share_is_straight_in_the_logarithm():
    found = trend(
        "sink_weight", 2048, *tables(sink_weight=lambda L, _: 0.9 - 0.1 * math.log2(L / 128))
    )
    assert found["law"] == "straight"
    assert found["slope"] == pytest.approx(-0.1 / math.log(2), rel=1e-9)
    assert found["prediction"] == pytest.approx(0.5, rel=1e-9)
    assert found["r2"] == pytest.approx(1)
    assert found["clipped"] is False
    assert found["note"] is None


def test_one_window_has_the_textbook_interval():
    y = np.array([0.5, 0.56, 0.58, 0.66])
    found = trend("sink_weight", 2048, *tables(sink_weight=lambda L, _: y[LENGTHS.index(L)]))
    x = np.log(LENGTHS)
    line: Any = stats.linregress(x, y)
    residual = y - line.intercept - line.slope * x
    x0 = math.log(2048)
    reach = 1 + 1 / 4 + (x0 - x.mean()) ** 2 / ((x - x.mean()) ** 2).sum()
    half = stats.t.ppf(0.95, 2) * math.sqrt(residual @ residual / 2 * reach)
    assert found["prediction"] == pytest.approx(line.intercept + line.slope * x0, rel=1e-12)
    assert found["upper"] - found["prediction"] == pytest.approx(half, rel=1e-9)
    assert found["prediction"] - found["lower"] == pytest.approx(half, rel=1e-9)
    assert found["slope_error"] == pytest.approx(line.stderr, rel=1e-9)
    assert found["r2"] == pytest.approx(line.rvalue**2, rel=1e-9)
    assert (found["lengths"], found["windows"]) == (4, 1)


def test_beyond_one_doubling_the_interval_grows_like_a_bend():
    y = np.array([0.5, 0.53, 0.51, 0.52])
    frames = tables(sink_weight=lambda L, _: y[LENGTHS.index(L)])

    def half(target: int) -> float:
        found = trend("sink_weight", target, *frames)
        return found["upper"] - found["prediction"]

    # Lengths at −1.5 … 1.5 doublings, targets at 2.5, 3.5 and 4.5: the textbook's ratio times 2, 3.
    def textbook(x: float) -> float:
        return math.sqrt(1.25 + x**2 / 5)

    assert half(4096) / half(2048) == pytest.approx(2 * textbook(3.5) / textbook(2.5), rel=1e-9)
    assert half(8192) / half(2048) == pytest.approx(3 * textbook(4.5) / textbook(2.5), rel=1e-9)
    assert half(1536) < half(2048)


def test_windows_that_differ_widen_the_interval():
    # Exact lines of slopes 0, .01 and .02 per unit: the residual is zero, only the spread is left.
    frames = tables(windows=3, sink_weight=lambda L, w: 0.3 + 0.01 * w * math.log(L / 128))
    found = trend("sink_weight", 2048, *frames)
    predictions = [0.3 + 0.01 * w * math.log(16) for w in range(3)]
    half = stats.t.ppf(0.95, 2) * math.sqrt(np.var(predictions, ddof=1) / 3)
    assert found["prediction"] == pytest.approx(np.mean(predictions), rel=1e-12)
    assert found["upper"] - found["prediction"] == pytest.approx(half, rel=1e-6)
    assert found["slope_error"] == pytest.approx(0.01 / math.sqrt(3), rel=1e-9)
    assert found["windows"] == 3


@pytest.mark.parametrize(("windows", "noise"), [(1, 0.02), (4, 0.02), (4, 0.0)])
def test_nine_intervals_in_ten_hold_the_truth(windows, noise, unchecked):
    """Lines that differ from window to window, with noise at each length, the target included."""
    random = np.random.default_rng(5)
    tilts = random.normal(0, 0.01 * (windows > 1), (200, windows))
    # What a window of no tilt would show: departures from the law are common to all windows.
    laws = 0.4 + 0.02 * np.arange(5) + random.normal(0, noise, (200, 5))
    held = 0
    for law, tilt in zip(laws, tilts, strict=True):
        y = law[:4] + tilt[:, None] * np.arange(4)
        found = _trend(np.array(LENGTHS), y, "sink_weight", 2048)
        held += found["lower"] <= law[4] <= found["upper"]
    assert 0.84 <= held / 200 <= 0.95


def test_two_lengths_give_a_line_and_no_interval():
    found = trend("effective_n", 1024, *tables((256, 512), 3, effective_n=lambda L, _: L**0.5))
    assert found["prediction"] == pytest.approx(32)
    assert [found[name] for name in ("lower", "upper", "r2", "slope_error")] == [None] * 4
    assert found["note"] == "two lengths: no residual, no interval"


@pytest.mark.parametrize(
    ("measure", "law", "edge"),
    [
        ("sink_weight", lambda L, _: 0.2 * math.log2(L / 64), 1.0),
        ("sink_weight", lambda L, _: 0.9 - 0.3 * math.log2(L / 128), 0.0),
        ("effective_n", lambda L, _: L**1.5 / 40, 4096.0),
        ("effective_n", lambda L, _: 1 + 1e3 * L**-2.0, 1.0),
        ("jacobian_norm", lambda L, _: 0.3 * (L / 512) ** 0.5, 0.5),
    ],
)
def test_a_prediction_out_of_range_is_put_to_the_edge_and_says_so(measure, law, edge):
    found = trend(measure, 4096, *tables(**{measure: law}))
    assert found["clipped"] is True
    assert found["prediction"] == pytest.approx(edge, rel=1e-3)
    assert found["lower"] <= found["prediction"] <= found["upper"]


def test_an_interval_out_of_range_is_clipped_too():
    y = dict(zip(LENGTHS, (0.8, 0.99, 0.8, 0.99), strict=True))
    found = trend("sink_weight", 2048, *tables(sink_weight=lambda L, _: y[L]))
    assert (found["upper"], found["clipped"]) == (1.0, True)
    assert found["prediction"] < 1


def test_the_largest_logit_is_followed_over_the_windows():
    frames = tables(windows=2, max_logit=lambda L, w: w * math.log2(L))
    found = trend("max_logit", 2048, *frames)
    assert (found["windows"], found["value"]) == (1, 10.0)
    assert found["prediction"] == pytest.approx(11)


def test_what_cannot_be_fitted_says_why():
    frames = tables(
        windows=2,
        output_ratio=lambda L, w: None,
        sharpness=lambda L, w: 0.0 if L == 128 else 1.0,
        separability=lambda L, w: 0.5 if L == 1024 else None,
        max_logit=lambda L, w: math.nan,
        distance=lambda L, w: None if w == 1 and L == 256 else float(L),
        entropy_share=lambda L, w: None if L == 128 else 0.4,
    )
    notes = {row["measure"]: row for row in capacity(*frames, 2048).iter_rows(named=True)}
    for name in ("output_ratio", "max_logit"):
        assert (notes[name]["note"], notes[name]["value"]) == ("not measured", None)
    assert notes["sharpness"]["note"] == "not positive: no power law"
    assert (notes["sharpness"]["value"], notes["sharpness"]["prediction"]) == (1.0, None)
    assert notes["separability"]["note"] == "one length: no trend"
    assert notes["separability"]["value"] == 0.5
    assert (notes["distance"]["windows"], notes["distance"]["lengths"]) == (1, 4)
    assert (notes["entropy_share"]["windows"], notes["entropy_share"]["lengths"]) == (2, 3)


def test_a_flat_curve_explains_nothing():
    found = trend("sink_weight", 2048, *tables(sink_weight=lambda L, _: 0.3))
    assert found["r2"] is None
    assert found["prediction"] == pytest.approx(0.3)


def test_a_target_and_two_lengths_are_needed():
    with pytest.raises(InputError, match="the target 1024 must exceed the longest length 1024"):
        capacity(*tables(), 1024)
    with pytest.raises(InputError, match="at least two lengths"):
        capacity(*tables((64,)), 1024)


def test_one_row_per_head_measure_and_choice_of_a_threshold():
    table = capacity(*tables(windows=2), 2048)
    assert table["measure"].to_list() == list(LAWS)
    assert table["top_n"].to_list() == [None] * 10 + [16, 16]


def test_the_outlook_counts_now_then_certainly_and_possibly():
    rough = dict(zip(LENGTHS, (0.2, 0.35, 0.2, 0.35), strict=True))
    frames = heads_of(
        tables(sink_weight=lambda L, _: 0.8),  # stays a sink
        tables(sink_weight=lambda L, _: 0.05 + 0.05 * math.log2(L / 64)),  # will be one: .3 + …
        tables(sink_weight=lambda L, _: 0.35 - 0.02 * math.log2(L / 256)),  # ceases to be one
        tables(sink_weight=lambda L, _: rough[L], jacobian_norm=lambda L, _: 0.4),
        tables(sink_weight=lambda L, _: None, output_ratio=lambda L, _: 0.5),
    )
    found = outlook(capacity(*frames, 4096))
    rows = {row["verdict"]: row for row in found.iter_rows(named=True)}
    assert list(rows) == [
        "saturated",
        "diffuse",
        "idle sink",
        "broadcast sink",
        "unstable",
        "inactive",
    ]
    # Now: .8, .25, .31, .35. At 4096: .8, .35, .27, rough about .36 with a wide interval.
    assert {**rows["idle sink"], "verdict": None} == {
        "verdict": None,
        "heads": 4,
        "now": 3,
        "target": 3,
        "certainly": 2,
        "possibly": 3,
        "unknown": 0,
    }
    assert [rows["unstable"][name] for name in ("heads", "now", "certainly")] == [5, 1, 1]
    assert [rows["inactive"][name] for name in ("heads", "now", "certainly")] == [5, 1, 1]
    assert [rows["saturated"][name] for name in ("heads", "now", "possibly")] == [5, 0, 0]


def test_without_an_interval_the_outlook_knows_neither():
    frames = tables((128, 256), sink_weight=lambda L, _: 0.8, separability=lambda L, _: None)
    found = outlook(capacity(*frames, 512))
    rows = {row["verdict"]: row for row in found.iter_rows(named=True)}
    assert [rows["idle sink"][name] for name in ("now", "target", "certainly", "possibly")] == [
        1,
        1,
        0,
        0,
    ]
    assert rows["idle sink"]["unknown"] == 1
    assert [rows["saturated"][name] for name in ("heads", "unknown")] == [0, 0]


def _wavy(length: int, window: int) -> float:
    """A law that is off by turns, and windows that differ."""
    return length**0.5 * math.exp(0.1 * (-1) ** int(math.log2(length)) + 0.02 * window)


@pytest.mark.parametrize(("lengths", "freedom"), [((128, 256, 512), 1), ((64, 128, 256, 512), 2)])
def test_one_window_has_what_the_lengths_leave(lengths: tuple[int, ...], freedom: int) -> None:
    found = trend("distance", 1024, *tables(lengths, distance=_wavy))
    assert found["freedom"] == pytest.approx(freedom)
    # The interval is that many degrees' t: of a deviation that more degrees would keep.
    half = math.log(found["upper"] / found["lower"]) / 2
    x = [math.log(length) for length in lengths]
    y = [math.log(_wavy(length, 0)) for length in lengths]
    fit: Any = stats.linregress(x, y)
    s2 = sum((b - fit.intercept - fit.slope * a) ** 2 for a, b in zip(x, y, strict=True)) / freedom
    centre = sum(x) / len(x)
    S = sum((a - centre) ** 2 for a in x)
    deviation = math.sqrt(s2 * (1 + 1 / len(x) + (math.log(1024) - centre) ** 2 / S))
    assert half == pytest.approx(stats.t.ppf(0.95, freedom) * deviation, rel=1e-9)


def test_windows_add_to_them() -> None:
    found = trend("distance", 1024, *tables((128, 256, 512), windows=5, distance=_wavy))
    assert 1 < found["freedom"] < 1 + 4


def test_what_does_not_vary_has_none() -> None:
    frame = capacity(*tables((128, 256, 512)), 1024)
    assert frame.filter(pl.col("measure") == "max_logit")["freedom"].to_list() == [None]
