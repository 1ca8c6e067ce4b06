"""What is told of heads whose effects are known."""

from typing import Any

import numpy as np
import polars as pl
import pytest

from headgauge.runs import VALIDATION, frame_schema
from headgauge.runs.validation_schema import DEEPER, FIRST
from headgauge.scanning import ScanResult
from headgauge.validation import Validation
from headgauge.validation.limits import LESS, LITTLE, MORE, UNDECIDED, decide
from headgauge.validation.parts import read_part
from headgauge.validation.scores import comparisons, reliability_rows, score_rows
from validation.conftest import NOISE, scan


def validation(scans: dict[str, ScanResult]) -> Validation:
    parts = {name: read_part(each) for name, each in scans.items()}
    rows = {"scores": score_rows(parts, 0), "reliability": reliability_rows(parts), "induction": []}
    tables = {
        name: pl.DataFrame(each, schema=frame_schema(VALIDATION.tables[name]))
        for name, each in rows.items()
    }
    manifest: Any = {"settings": {"how": "mean"}, "notes": []}
    return Validation(manifest, scans, tables)


@pytest.fixture(scope="module")
def found(scans: dict[str, ScanResult]) -> Validation:
    return validation(scans)


def words(result: Validation) -> dict[str, str]:
    return dict(result.decided().select("name", "word").rows())


def test_what_drives_the_effect_is_found_and_nothing_else(found: Validation) -> None:
    told = words(found)
    assert told["output_ratio"] == MORE
    assert told["inactive"] == LESS  # the verdict on a small one
    assert told["unstable"] in (LITTLE, UNDECIDED)  # a verdict on noise
    assert set(told) >= {*NOISE}
    assert {told[name] for name in NOISE} <= {LITTLE, UNDECIDED}
    assert "entropy" not in told or told["entropy"] == UNDECIDED  # the same for every head


def test_layer_0_stands_alone(found: Validation) -> None:
    """There it is the other way round, and one layer has no interval."""
    ratios = found.scores.filter(name="output_ratio", part="judging")
    deeper, first = (ratios.filter(where=where).to_dicts()[0] for where in (DEEPER, FIRST))
    assert deeper["auc"] < 0.05
    assert deeper["correlation"] > 0.9
    assert first["auc"] > 0.7
    assert first["correlation"] < -0.6
    assert first["auc_low"] is None
    assert deeper["heads"] == 24 * 9
    assert first["heads"] == 9


def test_layers_are_not_mixed(found: Validation) -> None:
    """Over all heads at once their layers' sizes hide what is there."""
    row = found.scores.filter(name="output_ratio", part="judging", where=DEEPER).to_dicts()[0]
    assert abs(row["pooled"]) < 0.5 * abs(row["correlation"])


def test_a_line_is_chosen_on_one_part_and_judged_on_others(found: Validation) -> None:
    rows = found.scores.filter(name="output_ratio", where=DEEPER)
    assert rows["line"].n_unique() == 1
    assert rows["direction"].unique().to_list() == ["below"]
    part = read_part(found.parts["judging"])
    here = part.there(DEEPER)
    told = part.scores["measure", "output_ratio"][here] < rows["line"][0]
    label = part.label[here]
    balanced = (told[label].mean() + (~told[~label]).mean()) / 2
    judged = rows.filter(part="judging")["line_accuracy"].item()
    assert judged == pytest.approx(balanced)  # all layers have as many heads
    assert judged > 0.7
    # The verdict's own measure is the same one, so it is told the same line.
    verdict = found.scores.filter(name="inactive", where=DEEPER, part="judging")
    assert verdict["line"].item() == rows["line"][0]
    noise = found.scores.filter(name=NOISE[0], where=DEEPER, part="judging")["line_accuracy"].item()
    assert abs(noise - 0.5) < 0.1


def test_the_named_beside_random_heads_of_their_layers(found: Validation) -> None:
    row = found.scores.filter(name="inactive", where=DEEPER, part="judging").to_dicts()[0]
    assert row["control"] == 0  # no random set has less
    assert row["effect_named"] < row["effect_others"]
    random = found.scores.filter(name="unstable", where=DEEPER, part="judging").to_dicts()[0]
    assert 0.01 < random["control"] < 0.99


def test_comparisons_are_counted_and_widen_the_intervals(found: Validation) -> None:
    judged = found.scores.filter((pl.col("part") != "choosing") & (pl.col("where") == DEEPER))
    seen = sum(judged[each].is_not_null().sum() for each in ("correlation", "auc", "smaller"))
    assert found.comparisons() == comparisons(found.scores) == seen > 20
    known = judged.drop_nulls("auc")
    assert (known["auc_adjusted_low"] <= known["auc_low"]).all()
    inner = known.filter(pl.col("auc_adjusted_low") > 0)
    assert (inner["auc_adjusted_low"] < inner["auc_low"]).all()


def test_how_far_effects_agree(found: Validation, scans: dict[str, ScanResult]) -> None:
    table = found.tables["reliability"].filter(where=DEEPER)
    assert table["correlation"][0] is None
    assert table["correlation"][1] > 0.8
    assert table["sure_by_chance"][0] == pytest.approx(0.295, abs=0.001)  # t with one degree
    one = read_part(scan(1, windows=1))
    assert np.isnan(one.error).all()
    assert reliability_rows({"choosing": one})[0]["sure"] is None


def test_one_text_and_one_layer(scans: dict[str, ScanResult]) -> None:
    one_text = validation({name: scans[name] for name in ("choosing", "judging")})
    assert words(one_text)["output_ratio"] == MORE
    assert one_text.decided()["second text"].is_null().all()
    one_layer = validation({name: scan(seed, layers=1) for seed, name in enumerate(scans, 1)})
    assert one_layer.decided().is_empty()
    assert one_layer.comparisons() == 0
    assert one_layer.scores.filter(name="output_ratio", where=FIRST)["auc"].is_not_null().all()


@pytest.mark.parametrize(
    ("intervals", "word"),
    [
        ([(0.6, 0.9), (0.51, 0.7)], LESS),
        ([(0.1, 0.4), (0.2, 0.49)], MORE),
        ([(0.35, 0.6), (0.4, 0.65)], LITTLE),
        ([(0.6, 0.9), (0.45, 0.7)], UNDECIDED),
        ([(0.6, 0.9), (0.1, 0.4)], UNDECIDED),
        ([(0.2, 0.6), (0.4, 0.6)], UNDECIDED),
        ([(0.6, 0.9), (None, None)], UNDECIDED),
        ([], UNDECIDED),
    ],
)
def test_words(intervals: list[Any], word: str) -> None:
    assert decide(intervals) == word
