"""Rows that belong together, and what is said of them."""

import polars as pl

from headgauge.report.dynamics.selecting import (
    baseline_words,
    every_table,
    kinds_of,
    of_kind,
    one_setup,
    setup_words,
)


def test_a_table_that_is_not_there_is_empty(whole):
    tables = every_table({"curves": whole["curves"]})
    assert tables["curves"].height
    assert tables["phase"].schema == whole["phase"].schema
    assert tables["phase"].is_empty()


def test_a_panel_has_the_setup_of_its_first_row(whole):
    curves = whole["curves"]
    both = pl.concat([curves, curves.with_columns(beta=pl.lit(1.0))])
    assert one_setup(both).equals(curves)
    assert one_setup(curves.clear()).is_empty()


def test_softmax_goes_before_another_rule(whole):
    swarms = whole["swarms"].filter(weights="random")
    sparse = swarms.with_columns(rule=pl.lit("sparsemax"))
    assert of_kind(pl.concat([sparse, swarms]), "random").equals(swarms)
    assert of_kind(sparse, "random").equals(sparse)


def test_the_plainest_weights_come_first(whole):
    assert kinds_of(whole["swarms"].reverse()) == ["identity", "random", "layers"]


def test_the_words_are_those_of_the_columns(whole):
    swarms = of_kind(whole["swarms"], "random")
    told = "n = 64 tokens, d = 512, 1 head, β = 22.63, 20 seeds"
    assert setup_words(swarms) == told
    more = swarms.with_columns(causal=pl.lit(True), rule=pl.lit("sparsemax"))
    assert setup_words(more) == told + ", causal, sparsemax"
    assert setup_words(whole["curves"]) == "n = 256 tokens, β = 5"
    assert setup_words(swarms.clear()) == ""


def test_the_baseline_is_explained_where_it_is_drawn(whole):
    curves = whole["curves"]
    assert baseline_words(curves).startswith("unnormalised: ")
    assert baseline_words(curves.filter(pl.col("scheme") != "unnormalised")) == ""
