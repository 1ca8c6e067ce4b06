import polars as pl
import pytest

from headgauge.report.page.heads import head_data, some_ns, words
from headgauge.report.words import MARKS, MEASURES
from report.page.results import (
    CHOICES,
    HEADS,
    LAYERS,
    LENGTH,
    NS,
    TOKENS,
    distance,
    page_content,
    sink_weight,
)


@pytest.fixture
def content():
    return page_content(paper=False)


def data_of(content):
    return head_data(
        content.heads, content.curves, content.samples, content.verdicts, content.head_table
    )


def number(data, layer, head):
    return list(zip(data["layer"], data["head"], strict=True)).index((layer, head))


def test_every_head_has_its_place_and_its_means_over_windows(content):
    data = data_of(content)
    assert data["place"] == [[layer, head] for layer in range(LAYERS) for head in range(HEADS)]
    at = number(data, 1, 2)
    assert data["measures"]["sink_weight"][at] == pytest.approx(0.035)  # of 0.03 and 0.04
    assert data["measures"]["max_logit"][at] == 4  # the largest, not the mean
    by_window = data["windows"]["measures"]["sink_weight"]
    assert [window[at] for window in by_window] == [sink_weight(1, 2, 0), sink_weight(1, 2, 1)]
    assert data["kv"][at] == 1


def test_curves_are_means_over_windows_by_choice_and_n(content):
    curves = data_of(content)["curves"]
    assert [(c["vectors"], c["scale"], c["keys"]) for c in curves] == list(CHOICES)
    at = number(data_of(content), 2, 3)
    for choice, held in enumerate(curves):
        assert held["ns"] == list(NS)
        expected = [(distance(2, 3, n, choice, 0) + distance(2, 3, n, choice, 1)) / 2 for n in NS]
        shown = [of_n[at] for of_n in held["measures"]["distance"]]
        assert shown == pytest.approx(expected, rel=1e-4)
        assert "bound_printed" not in held["measures"]  # nothing but nulls


def test_only_the_models_own_weights_have_curves(content):
    plain = content.curves.drop("rule", strict=False)
    both = pl.concat(
        [
            plain.with_columns(rule=pl.lit("model")),
            plain.with_columns(pl.col("distance") * 9, rule=pl.lit("sparsemax")),
        ]
    )
    tables = (content.samples, content.verdicts, content.head_table)
    without = head_data(content.heads, plain, *tables)
    assert head_data(content.heads, both, *tables)["curves"] == without["curves"]


def test_only_the_longest_length_is_shown(content):
    shorter = content.heads.with_columns(pl.lit(8).cast(pl.Int64).alias("length"))
    more = pl.concat([shorter.with_columns(pl.col("sink_weight") * 0), content.heads])
    tables = (content.curves, content.samples, content.verdicts, content.head_table)
    data = head_data(more, *tables)
    assert data == data_of(content)
    assert data["length"] == LENGTH


def test_a_run_without_curves_and_samples_is_still_a_page(content):
    data = head_data(
        content.heads,
        content.curves.clear(),
        content.samples.clear(),
        content.verdicts,
        content.head_table,
    )
    assert data["curves"] == []
    assert data["samples"] == {"tokens": [], "heads": [[]] * (LAYERS * HEADS)}


def test_samples_hold_each_token_once_and_name_those_without_text(content):
    samples = data_of(content)["samples"]
    assert len(set(samples["tokens"])) == len(samples["tokens"])
    ((window, row, visible, query, keys, tokens, weights),) = samples["heads"][1]
    assert (window, row, visible, samples["tokens"][query]) == (0, 40, 41, TOKENS[1])
    assert [samples["tokens"][each] for each in tokens] == [*TOKENS, "token 7"]
    assert keys == [3 * rank for rank in range(1, 8)]
    assert weights[0] == 0.501


def test_verdicts_and_the_worst_heads_keep_their_order(content):
    data = data_of(content)
    heads = list(zip(data["layer"], data["head"], strict=True))
    assert [heads[each] for each in data["table"]["of"]] == content.head_table.select(
        "layer", "head"
    ).rows()
    told = [
        (heads[of], v)
        for of, v in zip(data["verdicts"]["of"], data["verdicts"]["verdict"], strict=True)
    ]
    assert told == [
        ((a, b), c) for a, b, c in content.verdicts.select("layer", "head", "verdict").rows()
    ]
    assert "sink" in [verdict for head, verdict in told if head == (2, 0)]


def test_many_ns_are_thinned_but_the_ends_and_16_stay():
    chosen = some_ns(list(range(1, 101)), 12)
    assert len(chosen) <= 12
    assert {1, 16, 100} <= set(chosen)
    assert some_ns([3, 5], 12) == [3, 5]


def test_the_words_are_those_of_all_reports():
    told = words()
    assert set(told["measures"]) == set(MEASURES)
    assert told["marks"]["sink"]["colour"] == MARKS["sink"].colour
