"""Two tallies add up to the tally of both, also where they are in two processes."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import headgauge
from headgauge.training import TrainingLog
from headgauge.training.attention import MEANS
from headgauge.training.buffers import Layer, Tally, reduce, rows_of
from training import two_processes

from .conftest import batches, llama, plain_loss


def some(seed: int, rows: int) -> dict[str, torch.Tensor]:
    source = torch.Generator().manual_seed(seed)
    found = {name: torch.rand(2, 3, rows, generator=source) for name in (*MEANS, "max_logit")}
    found["entropy"][0, 1, 0] = math.nan
    return found | {"entropy_min": -found["entropy"]}


def test_calls_of_any_shape_add_up_and_nan_is_no_number():
    parts = [some(0, 5), some(1, 2)]
    layer = Layer(3, torch.device("cpu"))
    for part in parts:
        layer.add(part)
    whole = {name: torch.cat([part[name] for part in parts], 2) for name in parts[0]}
    found = rows_of([layer])
    assert found["entropy"][0] == pytest.approx(whole["entropy"].nanmean((0, 2)).tolist())
    assert found["sink_weight"][0] == pytest.approx(whole["sink_weight"].mean((0, 2)).tolist())
    assert found["max_logit"][0] == pytest.approx(whole["max_logit"].amax((0, 2)).tolist())
    least = whole["entropy"].nan_to_num(9.0).amin((0, 2))
    assert found["entropy_min"][0] == pytest.approx(least.tolist())


def test_a_layer_that_did_not_run_and_a_measure_that_was_not_made_have_no_numbers():
    tally = Tally(torch.device("cpu"))
    tally.layer(1, 2).add({"entropy": torch.rand(1, 2, 3)})
    found = rows_of(tally.all([2, 2]))
    assert found["entropy"][0] == [None, None]
    assert set(found) == {"entropy"}
    assert reduce(tally.all([2, 2]), [1.5, 2.5]) == [1.5, 2.5]  # one process alone
    tally.clear()
    assert rows_of(tally.all([2, 2])) == {}


@pytest.fixture(scope="module")
def together(tmp_path_factory) -> tuple[Path, list[dict]]:
    """What two real processes found, this one and another."""
    folder = tmp_path_factory.mktemp("together")
    tests = Path(__file__).parents[1]
    paths = [str(tests), str(Path(headgauge.__file__).parents[1])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "training.two_processes", "1", str(folder)]
    with subprocess.Popen(command, env=environment) as other:
        two_processes.main(0, folder)
    assert other.returncode == 0
    return folder, [json.loads((folder / f"{rank}.json").read_text()) for rank in range(2)]


def test_two_processes_train_as_without_and_share_what_they_see(together):
    folder, both = together
    assert [each["same"] for each in both] == [True, True]
    # One SUM and one MAX on logged steps, whatever the number of measures; else none.
    once = ["step", "SUM", "MAX"]
    assert [each["called"] for each in both] == [[*once, *once, "step"]] * 2
    heads = [each["latest"]["heads"] for each in both]
    assert heads[0] == heads[1]
    assert both[0]["latest"]["every"] == both[1]["latest"]["every"]
    lines = TrainingLog.load(folder / "log")  # which the first alone has written
    assert lines.steps()["step"].to_list() == [1, 2]
    model = llama(attention_dropout=0.0)
    with headgauge.Monitor(model, spectra_every=None) as monitor:
        plain_loss(model, torch.cat(batches(2)))  # the first of both, as one batch
        monitor.step()
    assert monitor.latest is not None
    first = lines.heads().filter(step=1, layer=0).sort("head")  # which no dropout stands before
    for name in ("entropy", "max_logit", "sink_weight"):
        one = monitor.latest["heads"][name][0]
        assert first[name].to_list() == pytest.approx(one, abs=1e-5), name


def test_two_processes_clip_alike(together):
    _, both = together
    assert both[0]["clipped"]["clipped"]
    assert both[0]["clipped"]["clipped"] == both[1]["clipped"]["clipped"]
    assert both[0]["clipped_weights"] == both[1]["clipped_weights"]
    # On the step that is not logged the largest logits alone.
    assert both[0]["clipped_calls"][-2:] == ["step", "MAX"]
