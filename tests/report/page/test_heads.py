import polars as pl
import pytest

from headgauge.report.page.heads import heads_part
from headgauge.scanning.verdicts import rest_entropy_share
from report.page.results import (
    CHOICES,
    HEADS,
    LAYERS,
    LENGTH,
    NS,
    TOKENS,
    curve_rows,
    distance,
    fake_scan,
    head_rows,
    sample_rows,
    sink_weight,
)


@pytest.fixture(scope="module")
def data():
    return heads_part(fake_scan())


def test_every_head_has_its_place_and_its_means_over_windows(data):
    assert data["place"] == [[layer, head] for layer in range(LAYERS) for head in range(HEADS)]
    at = data["names"].index("Layer 1, head 2")
    assert data["measures"]["sink_weight"][at] == pytest.approx(0.035)  # of 0.03 and 0.04
    assert data["measures"]["max_logit"][at] == 4  # the largest, not the mean
    by_window = data["windows"]["measures"]["sink_weight"]
    assert [window[at] for window in by_window] == [sink_weight(1, 2, 0), sink_weight(1, 2, 1)]
    assert data["kv"][at] == 1
    shares = head_rows().filter(layer=1, head=2).select(rest_entropy_share()).to_series()
    off_sink = data["windows"]["measures"]["rest_entropy_share"]
    assert [window[at] for window in off_sink] == pytest.approx(shares.to_list(), rel=1e-4)
    assert data["measures"]["rest_entropy_share"][at] == pytest.approx(shares.mean(), rel=1e-4)


def test_curves_are_means_over_windows_by_choice_and_n(data):
    assert len(data["curves"]) == len(CHOICES)
    at = data["names"].index("Layer 2, head 3")
    for choice, held in enumerate(data["curves"]):
        assert CHOICES[choice][0] in held["words"]
        assert held["ns"] == list(NS)
        expected = [(distance(2, 3, n, choice, 0) + distance(2, 3, n, choice, 1)) / 2 for n in NS]
        shown = [of_n[at] for of_n in held["measures"]["distance"]]
        assert shown == pytest.approx(expected, rel=1e-4)
        assert "bound_printed" not in held["measures"]  # nothing but nulls


def test_only_the_models_own_weights_have_curves(data):
    plain = curve_rows().drop("rule", strict=False)
    both = pl.concat(
        [
            plain.with_columns(rule=pl.lit("model")),
            plain.with_columns(pl.col("distance") * 9, rule=pl.lit("sparsemax")),
        ]
    )
    assert heads_part(fake_scan(curves=both))["curves"] == data["curves"]


def test_only_the_longest_length_is_shown(data):
    shorter = head_rows().with_columns(
        pl.lit(8).cast(pl.Int64).alias("length"), pl.col("sink_weight") * 0
    )
    longer = heads_part(fake_scan(heads=pl.concat([shorter, head_rows()])))
    for name in ("length", "measures", "windows", "place"):
        assert longer[name] == data[name]
    assert data["length"] == LENGTH


def test_a_run_without_curves_and_samples_is_still_a_page():
    bare = heads_part(fake_scan(curves=curve_rows().clear(), samples=sample_rows().clear()))
    assert bare["curves"] == []
    assert bare["figure"] is None
    assert bare["samples"] == {"tokens": [], "heads": [[]] * (LAYERS * HEADS)}


def test_samples_hold_each_token_once_and_name_those_without_text(data):
    samples = data["samples"]
    assert len(set(samples["tokens"])) == len(samples["tokens"])
    ((window, row, visible, query, keys, tokens, weights),) = samples["heads"][1]
    assert (window, row, visible, samples["tokens"][query]) == (0, 40, 41, TOKENS[1])
    assert [samples["tokens"][each] for each in tokens] == [*TOKENS, "token 7"]
    assert keys == [3 * rank for rank in range(1, 8)]
    assert weights[0] == 0.501


def test_verdicts_and_the_worst_heads_keep_their_order(data):
    scan = fake_scan()
    listed = [text for (_, text), *_ in data["table"]["rows"]]
    frame = scan.frame().select("layer", "head").rows()
    assert listed == [f"Layer {layer}, head {head}" for layer, head in frame]
    assert data["names"][data["worst"]] == listed[0]
    words = [data["kinds"]["verdict"][kind] for kind in data["verdicts"]["kind"]]
    told = zip(data["verdicts"]["of"], words, strict=True)
    assert [(data["names"][of], verdict) for of, verdict in told] == [
        (f"Layer {layer}, head {head}", verdict)
        for layer, head, verdict in scan.verdicts().select("layer", "head", "verdict").rows()
    ]
    of_verdict = data["table"]["filter"]["of"]
    last = [of_verdict[listed.index(f"Layer 2, head {head}")] for head in range(HEADS)]
    assert all("idle sink" in each for each in last)
