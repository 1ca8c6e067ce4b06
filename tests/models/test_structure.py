"""Models in wrappers, without weights, or of another kind."""

from collections.abc import Callable
from typing import Any

import accelerate
import pytest
import torch
import transformers as hf
from torch import nn

import headgauge
from headgauge import models
from headgauge.errors import InputError
from headgauge.scanning import ScanResult
from model_families import case

IDS = torch.randint(3, 50, (1, 24), generator=torch.Generator().manual_seed(1))
Change = Callable[[Any], Any]


def _scan(model: Any, ids: torch.Tensor = IDS) -> ScanResult:
    return headgauge.scan(model, ids, top_n=[1, 4], threads=1, vectors=["value", "final"])


@pytest.fixture(scope="module")
def plain() -> ScanResult:
    return _scan(case("llama", "sdpa").model)


def _in_place(model: Any) -> Any:
    model.compile(backend="eager")
    return model


def _by_layer(model: Any) -> Any:
    for place, layer in enumerate(model.model.layers):
        model.model.layers[place] = torch.compile(layer, backend="eager")
    return model


def _checkpointed(model: Any) -> Any:
    model.gradient_checkpointing_enable()
    return model.train()


@pytest.mark.parametrize(
    "change",
    [
        lambda model: torch.compile(model, backend="eager"),
        _in_place,
        _by_layer,
        nn.DataParallel,
        lambda model: torch.compile(nn.DataParallel(model), backend="eager"),
        _checkpointed,
    ],
    ids=["compiled", "in place", "by layer", "parallel", "both", "checkpointed"],
)
def test_a_wrapped_model_gives_the_tables_of_the_plain_one(
    build: Callable[[str, str], Any], plain: ScanResult, change: Change
) -> None:
    model = change(build("llama", "sdpa").model)
    training = [module.training for module in model.modules()]
    found = _scan(model)
    assert found.manifest["model"]["facts"] == plain.manifest["model"]["facts"]  # type: ignore[index]
    assert found.heads.drop("module").equals(plain.heads.drop("module"))
    assert found.curves.drop("module").equals(plain.curves.drop("module"))
    assert [module.training for module in model.modules()] == training


def test_half_precision_on_the_cpu(build: Callable[[str, str], Any], plain: ScanResult) -> None:
    half = _scan(build("llama", "sdpa").model.to(torch.half))
    assert half.heads["entropy"].to_list() == pytest.approx(plain.heads["entropy"], rel=0.02)
    assert half.curves["distance"].null_count() == 0


def _mamba(model: Any) -> nn.Module:
    config = hf.MambaConfig(vocab_size=50, hidden_size=32, num_hidden_layers=1)
    return hf.MambaForCausalLM(config)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda model: model.to("meta"), "model.embed_tokens.weight is on the meta device"),
        (lambda model: accelerate.cpu_offload(model, torch.device("cpu")), "rather than offloaded"),
        (_mamba, "MambaForCausalLM has no attention module"),
        (lambda model: nn.Linear(2, 2), "Linear is no transformers model"),
        (
            lambda model: torch.compile(nn.Linear(2, 2), backend="eager"),
            "OptimizedModule is no transformers model",
        ),
    ],
)
def test_what_cannot_be_scanned_is_told_in_a_line(
    build: Callable[[str, str], Any], change: Change, said: str
) -> None:
    with pytest.raises(InputError) as caught:
        _scan(change(build("llama", "sdpa").model))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_model_of_images_reads_no_text(build: Callable[[str, str], Any]) -> None:
    with pytest.raises(InputError, match="ViTModel reads pixel_values, not text"):
        _scan(build("vit", "sdpa").model)


def test_an_interception_needs_weights_too(build: Callable[[str, str], Any]) -> None:
    model = build("llama", "sdpa").model.to("meta")
    with (
        pytest.raises(InputError, match="meta device"),
        models.intercept(model, lambda call: None),
    ):
        pass


@pytest.mark.parametrize("token", [50, -1])
def test_a_token_that_the_model_does_not_know(
    build: Callable[[str, str], Any], token: int, tmp_path: Any
) -> None:
    ids = IDS.clone()
    ids[0, 5] = token
    model = build("llama", "sdpa").model
    with pytest.raises(InputError, match=f"token id {token} at place 5 of window 0"):
        headgauge.scan(model, ids, top_n=[1, 4], threads=1, out=tmp_path / "run")
    assert not (tmp_path / "run").exists()
