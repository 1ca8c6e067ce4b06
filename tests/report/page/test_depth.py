import pytest

from headgauge.report.page.depth import depth_data
from report.page.dynamics_frames import (
    BETA,
    LAYERS,
    SIX,
    WINDOWS,
    depth_cosine,
    depth_curves_frame,
    depth_frame,
    predicted_cosine,
)


def data():
    found = depth_data(
        depth_frame().sample(fraction=1.0, shuffle=True, seed=1),
        depth_curves_frame().sample(fraction=1.0, shuffle=True, seed=1),
    )
    assert found is not None
    return found


def test_layers_are_means_over_the_windows_of_the_longest_length():
    layers = data()["layers"]
    assert (data()["length"], data()["windows"]) == (64, WINDOWS)
    assert layers["layer"] == list(range(LAYERS + 1))
    expected = [
        sum(depth_cosine(layer, window) for window in range(WINDOWS)) / WINDOWS
        for layer in range(LAYERS + 1)
    ]
    assert layers["mean_cosine"] == pytest.approx(expected, rel=1e-4)
    assert layers["scheme"] == ["other", *["pre_ln"] * (LAYERS - 1), None]


def test_what_a_layer_does_is_null_after_the_last():
    layers = data()["layers"]
    for name in ("attention_norm", "other_norm", "speed", "attention_speed", "effective_n"):
        assert layers[name][-1] is None
        assert None not in layers[name][:-1]


def test_predictions_stand_by_scheme_with_the_recognised_one_told():
    predicted = data()["predicted"]
    assert [group["fixed"]["scheme"] for group in predicted] == SIX
    own = [group for group in predicted if group["fixed"]["recognised"]]
    assert [group["fixed"]["scheme"] for group in own] == ["pre_ln"]
    assert own[0]["fixed"]["beta"] == BETA
    expected = [predicted_cosine("pre_ln", layer) for layer in range(LAYERS + 1)]
    assert own[0]["lists"]["gamma"] == pytest.approx(expected, rel=1e-4)


def test_without_predictions_or_layers_there_is_less_to_show():
    found = depth_data(depth_frame(), None)
    assert found is not None
    assert found["predicted"] == []
    assert depth_data(depth_frame(), depth_curves_frame().clear()) == found
    assert depth_data(depth_frame().clear(), None) is None
