"""Particles over time."""

import polars as pl
import pytest

from headgauge.report.dynamics.selecting import of_kind
from headgauge.report.dynamics.swarms import MEASURES, band_words, draw_swarm, swarm_words


@pytest.mark.parametrize("measure", MEASURES)
def test_only_the_mean_cosine_has_a_band_over_seeds(axes, lines, whole, measure):
    swarms = of_kind(whole["swarms"], "layers")
    draw_swarm(axes, swarms, measure)
    assert lines(axes, "nGPT")[0][1] == swarms.filter(scheme="ngpt")[measure].to_list()
    assert len(axes.collections) == (7 if measure == "mean_cosine" else 0)
    assert axes.get_ylabel() == MEASURES[measure]


def test_cosines_are_never_in_even_ratios(axes, whole):
    swarms = of_kind(whole["swarms"], "identity").filter(pl.col("mean_cosine") > 0)
    draw_swarm(axes, swarms, "mean_cosine")
    assert axes.get_yscale() == "linear"
    draw_swarm(axes, swarms, "speed")
    assert axes.get_yscale() == "log"


def test_the_words_have_every_kind_with_what_it_was_run_with(whole):
    told = swarm_words(whole["swarms"])
    assert "random Q, K, V: n = 64 tokens, d = 512, 1 head, β = 22.63, 20 seeds" in told
    assert "Q = K = V = I: n = 64 tokens, d = 16" in told
    assert "table alone" not in told


def test_runs_that_are_not_drawn_are_told_of(whole):
    swarms = whole["swarms"]
    sparse = swarms.with_columns(rule=pl.lit("sparsemax"))
    told = swarm_words(pl.concat([swarms, sparse]))
    assert told.endswith("runs with other settings are in the table alone")


def test_without_swarms_there_are_no_words_of_a_band(whole):
    assert band_words(whole["swarms"]) == "bands: 5 to 95 % over seeds"
    assert band_words(whole["swarms"].clear()) == ""
