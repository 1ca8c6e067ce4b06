"""What heads are worth: the order of the worst, and what was measured of each verdict's heads."""

from typing import Any

import pytest

from headgauge.runs.schema import HEAD
from headgauge.scanning.overview import remedies
from headgauge.scanning.summary import head_table, worst_first
from headgauge.scanning.verdicts import verdicts
from scanning.test_summary import head, tables


def judged(*rows):
    heads, curves = tables(*rows)
    found = verdicts(heads, curves)
    return found, head_table(heads, curves, found)


def named(table):
    return table.select("layer", "head").rows()


INACTIVE: Any = {"output_ratio": 0.1}


def test_a_fault_of_a_head_that_matters_comes_first_and_effects_count_before_what_it_adds():
    rows = [
        head(0, 0, effect=0.9, contribution=0.1),  # no fault
        head(0, 1, effect=0.01, contribution=0.9, **INACTIVE),
        head(1, 0, effect=0.02, contribution=0.2, output_ratio=0.5),
        head(1, 1, effect=-0.01, contribution=0.8, output_ratio=0.4),
        head(1, 2, effect=None, contribution=None, output_ratio=0.3),
    ]
    table = judged(*rows)[1]
    assert named(table)[0] == (0, 1)  # the farthest beyond its threshold
    order, by = worst_first(table)
    assert (by, named(order)) == ("effect", [(1, 0), (0, 1), (1, 1), (1, 2), (0, 0)])
    order, by = worst_first(judged(*(row | {"effect": None} for row in rows))[1])
    assert (by, named(order)) == ("contribution", [(0, 1), (1, 1), (1, 0), (1, 2), (0, 0)])
    nothing = {"effect": None, "contribution": None}
    order, by = worst_first(judged(*(row | nothing for row in rows))[1])
    assert (by, named(order)) == ("output_ratio", [(1, 0), (1, 1), (1, 2), (0, 1), (0, 0)])


def test_remedies_have_the_median_effect_beside_that_of_the_same_layers():
    rows = [
        *(head(0, number, effect=0.1 * number, **INACTIVE) for number in (1, 2, 6)),
        *(head(0, number, effect=0.1 * number) for number in (3, 5)),
        head(1, 0, effect=100.0),  # in a layer without an inactive head
    ]
    found, table = judged(*rows)
    worth = {row["verdict"]: row for row in remedies(found, table).iter_rows(named=True)}
    inactive = worth["inactive"]
    assert (inactive["effect"], inactive["others_effect"]) == pytest.approx((0.2, 0.4))
    alone = remedies(*judged(*(head(0, number, effect=0.1, **INACTIVE) for number in range(2))))
    assert alone.filter(verdict="inactive")["effect"].item() == pytest.approx(0.1)
    assert alone.filter(verdict="inactive")["others_effect"].item() is None
    unknown = remedies(*judged(head(0, 0, **INACTIVE), head(0, 1)))
    assert unknown["effect"].is_null().all()


def test_effects_of_two_windows_have_an_error():
    table = judged(*(head(0, 0, window, effect=0.1 * (1 + window)) for window in (0, 1)))[1]
    known = table.select(*HEAD, "effect", "effect_error").row(0, named=True)
    assert (known["effect"], known["effect_error"]) == pytest.approx((0.15, 0.05))
