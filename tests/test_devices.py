import re

import pytest
import torch

from headgauge.devices import check_device, chosen
from headgauge.errors import InputError
from headgauge.measure.plan import source_of
from headgauge.models import ModelSource


def test_the_cpu_is_there():
    check_device("cpu")


@pytest.mark.parametrize(
    "device", ["abacus", "cpu:x", "", "privateuseone", "vulkan", "meta", "\x1b[31mred\n"]
)
def test_what_is_not_there_is_told_in_one_line(device):
    with pytest.raises(InputError, match=f"^{re.escape(f'no device {device!r} here: ')}.+") as told:
        check_device(device)
    assert str(told.value).isprintable()
    assert len(str(told.value)) < 300


@pytest.mark.parametrize(
    ("cuda", "mps", "device", "in_double"),
    [
        (True, True, "cuda", "cuda"),
        (True, False, "cuda", "cuda"),
        (False, True, "mps", "cpu"),
        (False, False, "cpu", "cpu"),
    ],
)
def test_auto_is_cuda_then_mps_then_the_cpu(monkeypatch, cuda, mps, device, in_double):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)
    assert chosen("auto") == device
    assert chosen("auto", double=True) == in_double
    assert chosen("cpu") == "cpu"
    # What is kept of a model's source, and with that in a run, is the device that was meant.
    assert ModelSource("default").device == device
    assert ModelSource("default") == ModelSource("default", device=device)


def test_where_a_model_is_named_the_device_is_asked_for(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr("headgauge.measure.plan.begin", lambda: None)
    assert source_of("default", None, None, "auto").device == "cuda"  # pyright: ignore
    assert source_of("default", None, None, "cpu").device == "cpu"  # pyright: ignore
