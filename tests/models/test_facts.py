"""Models as units get them."""

import pickle
from pathlib import Path
from typing import Any

import pytest
import torch

from elsewhere import Elsewhere
from headgauge import models
from headgauge.errors import InputError


def test_a_source_loads_once_and_travels(build: Any, tmp_path: Path) -> None:
    build("llama", "sdpa").model.save_pretrained(tmp_path)
    source = models.ModelSource(str(tmp_path))
    first = source.open()
    assert source.open() is first
    copy = pickle.loads(pickle.dumps(source))
    assert copy.open() is first
    other = models.ModelSource(str(tmp_path), dtype="float64").open()
    assert other is not first
    again = copy.open()  # one model at a time is kept
    assert again is not first
    assert models.fingerprint(again.model) == models.fingerprint(first.model)


def test_a_model_in_memory(build: Any) -> None:
    loaded = models.wrap(build("llama", "sdpa").model)
    assert loaded.open() is loaded


@pytest.mark.parametrize(
    ("name", "kind"),
    [("llama", "decoder"), ("gpt2", "decoder"), ("bert", "encoder"), ("t5", "encoder-decoder")],
)
def test_wrapped(build: Any, name: str, kind: str) -> None:
    model = build(name, "eager").model
    loaded = models.wrap(model)
    assert (loaded.facts.kind, loaded.source, loaded.facts.heads) == (kind, "memory", 4)
    assert loaded.name == type(model).__name__


def test_only_transformers_models(build: Any) -> None:
    with pytest.raises(InputError, match="Linear is no transformers model"):
        models.wrap(torch.nn.Linear(2, 2))


def test_a_fingerprint_sees_weights_and_names(build: Any) -> None:
    model = build("llama", "sdpa").model
    before = models.fingerprint(model)
    assert before == models.fingerprint(build("llama", "eager").model)
    with torch.no_grad():
        model.model.norm.weight[-1] += 1e-3
    assert models.fingerprint(model) != before
    assert models.fingerprint(build("mistral", "sdpa").model) != before


def test_a_fingerprint_is_the_same_on_a_device_without_double(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(torch.cuda, "_lazy_init", lambda: None)
    layer = torch.nn.Linear(9, 20)
    before, weights = models.fingerprint(layer), dict(layer.state_dict())
    with Elsewhere(double=False) as mode:
        far = {name: mode.far(weight) for name, weight in weights.items()}
        monkeypatch.setattr(layer, "state_dict", lambda: far)
        assert models.fingerprint(layer) == before
