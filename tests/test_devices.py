import re
from dataclasses import replace
from typing import Any

import pytest
import torch

from headgauge import devices
from headgauge.devices import check_device, chosen, whole_products
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
    monkeypatch.setattr(devices, "_mps_ranks", lambda: True)
    assert chosen("auto") == device
    assert chosen("auto", double=True) == in_double
    assert chosen("cpu") == "cpu"
    # What is kept of a model's source, and with that in a run, is the device that was meant.
    assert ModelSource("default").device == device
    assert ModelSource("default") == ModelSource("default", device=device)
    assert ModelSource("default", "float64").device == in_double
    double = ModelSource("default", double=True)
    assert double == ModelSource("default", device=in_double)
    assert replace(double, revision="v1").device == in_double


def test_a_torch_without_running_extrema_on_mps_is_left_on_the_cpu(monkeypatch):
    def missing(*_):
        raise NotImplementedError("aten::cummin.out is not implemented for the MPS device")

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    monkeypatch.setattr(torch, "ones", lambda size, device: torch.full((size,), 1.0))
    probe = devices._mps_ranks.__wrapped__
    monkeypatch.setattr(devices, "_mps_ranks", probe)
    assert chosen("auto") == "mps"
    monkeypatch.setattr(torch.Tensor, "cummin", missing)
    assert chosen("auto") == "cpu"


BACKENDS: Any = torch.backends
PRECISIONS = BACKENDS, BACKENDS.cuda.matmul, BACKENDS.mkldnn.matmul


@pytest.mark.parametrize("given", PRECISIONS, ids=["all", "cuda", "mkldnn"])
def test_products_are_whole_also_where_one_backend_was_allowed_less(given):
    for each in PRECISIONS:  # the older name, where it was used, leaves "ieee" in the backends
        each.fp32_precision = "none"
    given.fp32_precision = "tf32"
    try:
        before = [each.fp32_precision for each in PRECISIONS]
        with whole_products(torch.device("cpu")):
            assert [each.fp32_precision for each in PRECISIONS[1:]] == ["ieee", "ieee"]
        assert [each.fp32_precision for each in PRECISIONS] == before
    finally:
        given.fp32_precision = "none"
    # What was put back for one backend is not in the way of what is set for all.
    assert [each.fp32_precision for each in PRECISIONS] == ["none"] * 3
    assert torch.get_float32_matmul_precision() == "highest"


def test_where_a_model_is_named_the_device_is_asked_for(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr("headgauge.measure.plan.begin", lambda: None)
    assert source_of("default", None, None, "auto").device == "cuda"  # pyright: ignore
    assert source_of("default", None, None, "cpu").device == "cpu"  # pyright: ignore
