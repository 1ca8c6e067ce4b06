"""What a reader asks first, on tables worked out by hand."""

import math

import polars as pl
import pytest

from headgauge.scanning.overview import COMPARED, finding, remedies, similar
from headgauge.scanning.summary import counts, head_table
from headgauge.scanning.thresholds import DEFAULT
from headgauge.scanning.verdicts import verdicts
from scanning.test_summary import head, tables


def frames(*rows):
    heads, curves = tables(*rows)
    found = verdicts(heads, curves)
    return head_table(heads, curves, found), counts(found), found


def test_similar_heads_are_those_of_a_plain_loop():
    columns = {
        name: [4**place * math.sin(7 * row + place) for row in range(12)]
        for place, name in enumerate(COMPARED)
    }
    columns["max_logit"] = [9.0] * 12  # tells nobody apart
    columns["separability"][3] = columns["output_ratio"][3] = columns["output_ratio"][5] = None
    table = pl.DataFrame(columns, schema=dict.fromkeys(COMPARED, pl.Float64))
    found = similar(table, count=4)
    spread = {name: table[name].std() for name in COMPARED if name != "max_logit"}
    for row, near in enumerate(found):
        far = {}
        for other in set(range(12)) - {row}:
            pairs = [(columns[name][row], columns[name][other], spread[name]) for name in spread]
            known = [((a - b) / s) ** 2 for a, b, s in pairs if None not in (a, b)]
            far[other] = sum(known) / len(known)
        assert near == sorted(far, key=far.__getitem__)[:4]


def test_heads_without_numbers_are_like_nobody():
    nothing = pl.DataFrame({name: [None, 1.0, 2.0] for name in COMPARED})
    assert similar(nothing) == [[], [2], [1]]


def test_remedies_name_the_heads_farthest_beyond_with_their_own_numbers():
    rows = [head(layer, 1, sink_weight=0.35 + layer / 20) for layer in range(5)]
    table, _, judged = frames(*rows, head(5, 0), head(6, 2, separability=0.2))
    found = remedies(judged, table)
    assert found["verdict"].to_list() == ["saturated", "idle sink", "healthy"]
    sink = found.row(1, named=True)
    assert (sink["heads"], sink["threshold"]) == (5, 0.3)
    assert sink["farthest"] == ["L4H1", "L3H1", "L2H1"]
    assert sink["numbers"] == pytest.approx([0.55, 0.5, 0.45])
    assert sink["remedy"] == DEFAULT[2].remedy


def test_a_finding_counts_names_advises_and_says_how_sure():
    rows = [head(0, 3, window, sink_weight=0.9) for window in range(2)]
    rows += [head(1, 0, window, sink_weight=0.1 + 0.25 * window, occurrence=1) for window in (0, 1)]
    rows += [head(2, 0, window, sink_weight=0.35 + window / 10) for window in (0, 1)]
    known = {"verdict": ["idle sink", "diffuse"], "now": [2, 0], "target": [2, 3]}
    ahead = pl.DataFrame(known | {"certainly": [1, 0], "possibly": [3, 4]})
    said = finding(*frames(*rows), (4096, ahead))
    assert "Of 3 heads at L = 64: 2 idle sink and 1 healthy" in said
    assert "L0H3 (idle sink) and L2H0 (idle sink)." in said
    assert "for the most common, idle sink: it rests, but not always: taking all of them" in said
    assert "2 windows; 1 of 3 heads would get another verdict" in said
    outlook = "By their trends 3 heads are diffuse at L = 4096 (90 % interval 0 to 4), now 0."
    assert said.endswith(outlook)
    assert finding(*frames(head(0, 0)), (4096, ahead)).endswith(outlook)


def test_without_a_fault_or_with_one_window_a_finding_says_so():
    said = finding(*frames(head(0, 0), head(0, 1)))
    assert said.startswith("None of the 2 heads has a fault")
    assert "How sure: one window," in said
    assert "For 1 of them a number is missing." in finding(*frames(head(0, 0, separability=None)))


def test_what_is_missing_is_one_row_whatever_it_is():
    rows = [head(0, 0, separability=None), head(0, 1, separability=None, sink_weight=None)]
    table, _, judged = frames(*rows, head(0, 2))
    found = remedies(judged, table)
    assert found["verdict"].to_list() == ["incomplete", "healthy"]
    assert found.select("heads", "share").rows() == [(2, 2 / 3), (1, 1 / 3)]
