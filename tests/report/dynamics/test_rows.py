"""Theory beside measured, and when all are one."""

import polars as pl

from headgauge.report.dynamics.rows import collapse_figure, rates_figure
from report.conftest import panels

from .conftest import ALL, SCHEMES


def test_markers_stand_at_their_numbers_in_the_row_of_their_scheme(whole):
    figure = rates_figure(whole["rates"].reverse(), "")
    for panel in panels(figure):
        rows = whole["rates"].filter(quantity=panel.title)
        ticks = [words for _, words in panel.y.ticks]
        assert ticks[:2] == ["Post-LN", "Pre-LN"]
        for series in panel.series:
            own = {row["scheme"]: row[series.name] for row in rows.iter_rows(named=True)}
            assert list(series.x) == [own[scheme] for scheme in SCHEMES]
            assert list(series.y) == list(range(6))


def test_the_numbers_and_the_laws_are_written_beside(whole):
    final = panels(rates_figure(whole["rates"], ""))[1]
    told = [mark.label for mark in final.marks]
    for word in ("√(t+1)", "log t", "−4.008", "−3.96", "particles", "against", "1 − γ ~ C/t^2"):
        assert word in told
    assert told.count("–") == 1
    inside = [place for place, _ in final.x.ticks]
    assert max(inside) < min(mark.values[0] for mark in final.marks) < final.x.high
    one = panels(rates_figure(whole["rates"].filter(quantity="final rate"), ""))[0]
    assert one.empty == "no initial velocity in this run"
    assert not one.series


def own_series(panel, scheme):
    return [(list(each.x), list(each.y)) for each in panel.series if each.name == scheme]


def test_a_bar_from_the_earliest_to_the_latest_and_the_median_upon_it(whole):
    own = whole["collapse"].filter(weights="identity")
    (panel,) = panels(collapse_figure(own.reverse(), ""))
    row = own.filter(scheme="ngpt").row(0, named=True)
    bar = [row["low"], row["time"], row["high"]]
    assert own_series(panel, "ngpt") == [(bar, [4] * 3), ([row["time"]], [4])]
    assert [words for _, words in panel.y.ticks][ALL.index("ngpt")] == "nGPT"
    assert "20 seeds" in " ".join(each.text for each in collapse_figure(own, "").caption)


def test_without_a_median_the_seeds_that_got_there_are_counted(whole):
    own = whole["collapse"].filter(weights="identity")
    (panel,) = panels(collapse_figure(own, ""))
    assert own_series(panel, "unnormalised") == []
    assert {mark.label for mark in panel.marks} == {"5 of 20 seeds collapsed"}
    assert len(panel.marks) == own["time"].is_null().sum()
    nulls = [pl.lit(None, pl.Float64).alias(name) for name in ("time", "low", "high")]
    (never,) = panels(collapse_figure(own.with_columns(nulls), ""))
    assert never.x.ticks == ()
    assert len(never.marks) == len(ALL)


def test_a_bar_without_an_end_is_an_arrow(whole):
    some = whole["collapse"].filter(weights="identity", scheme="post_ln")
    some = some.with_columns(collapsed=pl.lit(0.6), high=pl.lit(None, pl.Float64))
    (panel,) = panels(collapse_figure(some, ""))
    row = some.row(0, named=True)
    bar, _, on, tip = own_series(panel, "post_ln")
    assert bar[0] == [row["low"], row["time"]]
    assert on[0][0] == row["time"] < on[0][1] == tip[0][0]
    assert panel.series[-1].look.marker == "right"


def test_collapse_times_can_be_compared_across_kinds(whole):
    panels = collapse_figure(whole["collapse"], "").panels
    assert len(panels) == 3
    assert len({(panel.x.low, panel.x.high) for panel in panels}) == 1
