"""Logits piece by piece are the model's own, and no more of them stand than were asked for."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import transformers as hf
from torch import nn
from torch.nn import functional as F  # noqa: N812

from headgauge import models
from headgauge.models import predicting
from headgauge.models.facts import describe
from tests.model_families import DIRECT, INSIDE, OUTSIDE

IDS = torch.arange(3, 19).reshape(2, 8)
READ = [each for each in (*INSIDE, *OUTSIDE, DIRECT) if each.name != "vit"]
_TINY: dict[str, Any] = {
    "vocab_size": 50, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 1,
    "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 64,
    "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
}  # fmt: skip


def _loaded(model: Any, name: str = "tiny") -> models.LoadedModel:
    kind: Any = {"bert": "encoder", "t5": "encoder-decoder"}.get(name, "decoder")
    return models.LoadedModel(model, None, name, "folder", describe(model, kind))


def _check(loaded: models.LoadedModel) -> None:
    """All logits, and the loss, are those of the model's own call."""
    inputs = models.model_inputs(loaded, IDS)
    with torch.no_grad():
        whole = loaded.model(**inputs)
        made = models.run(loaded, inputs)
        assert made.logits is not None
        assert made.logits.shape == whole.logits.shape
        pieces = list(made.logits.pieces(300))
        loss = models.next_token_loss(loaded, made, IDS)
    assert max(each.numel() for each in pieces) <= 300
    torch.testing.assert_close(torch.cat(pieces, 1), whole.logits)
    expected = models.next_token_loss(loaded, whole, IDS)
    assert loss is not None
    assert expected is not None
    torch.testing.assert_close(loss, expected)


@pytest.mark.parametrize("family", READ, ids=lambda each: each.name)
def test_every_family(family: Any) -> None:
    loaded = _loaded(family.build(family.implementations[0]), family.name)
    if family.name == "bert":  # it makes none
        assert predicting.apart(loaded) is None
        assert models.run(loaded, models.model_inputs(loaded, IDS)).logits is None
        return
    assert predicting.apart(loaded) is not None
    _check(loaded)


def _scaled(factor: float) -> nn.Module:
    return hf.CohereForCausalLM(hf.CohereConfig(**_TINY, logit_scale=factor))


BEHIND = {
    "a factor": lambda: _scaled(0.25),
    "a divisor": lambda: hf.GraniteForCausalLM(hf.GraniteConfig(**_TINY, logits_scaling=3.0)),
    "a softcap": lambda: hf.Gemma2ForCausalLM(
        hf.Gemma2Config(**_TINY, head_dim=8, final_logit_softcapping=0.5)
    ),
}


@pytest.mark.parametrize("what", BEHIND)
def test_what_is_done_behind_the_output_layer(what: str) -> None:
    torch.manual_seed(0)
    model = BEHIND[what]().eval()
    with torch.no_grad():
        model.get_output_embeddings().weight.mul_(30)
    loaded = _loaded(model)
    assert predicting.apart(loaded) is not None
    _check(loaded)


class _Odd(hf.LlamaForCausalLM):
    """Something behind the output layer that nobody knows of."""

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        output: Any = super().forward(*args, **kwargs)
        output.logits = output.logits * 1.01
        return output


def test_what_is_not_known_is_left_to_the_model() -> None:
    torch.manual_seed(0)
    loaded = _loaded(_Odd(hf.LlamaConfig(**_TINY)).eval())
    assert predicting.apart(loaded) is None
    with torch.no_grad():
        made = models.run(loaded, {"input_ids": IDS})
        assert made.logits is not None
        assert torch.equal(next(made.logits.pieces()), loaded.model(IDS).logits)


def _another_vocabulary(model: Any) -> None:
    model.resize_token_embeddings(61, mean_resizing=False)


def _another_layer(model: Any) -> None:
    model.lm_head = nn.Linear(32, 50)


def _another_cap(model: Any) -> None:
    model.config.final_logit_softcapping = 0.1


CHANGES = [_another_vocabulary, _another_layer, _another_cap]


@pytest.mark.parametrize("change", CHANGES)
def test_a_model_that_is_changed_is_looked_at_again(change: Callable[[Any], None]) -> None:
    torch.manual_seed(0)
    config = hf.Gemma2Config(**_TINY, head_dim=8, final_logit_softcapping=0.5)
    model: Any = hf.Gemma2ForCausalLM(config).eval()
    loaded = _loaded(model)
    with torch.no_grad():
        model.lm_head.weight.mul_(30)
    _check(loaded)
    change(model)
    assert predicting.apart(loaded) is not None
    _check(loaded)


def test_gradients_go_through_the_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    loaded = _loaded(hf.LlamaForCausalLM(hf.LlamaConfig(**_TINY)))
    monkeypatch.setattr(predicting, "AT_ONCE", 300)
    inner: Any = loaded.model
    weight = inner.get_input_embeddings().weight
    found = []
    for output in (models.run(loaded, {"input_ids": IDS}), loaded.model(IDS)):
        loss = models.next_token_loss(loaded, output, IDS)
        assert loss is not None
        found.append(torch.autograd.grad(loss.sum(), weight)[0])
    torch.testing.assert_close(*found)


def test_the_loss_is_that_of_the_model(build: Callable[[str, str], Any]) -> None:
    loaded = _loaded(build("llama", "sdpa").model)
    with torch.no_grad():
        output = loaded.model(IDS, labels=IDS)
    loss = models.next_token_loss(loaded, output, IDS)
    assert loss is not None
    torch.testing.assert_close(loss.mean(), output.loss)
    torch.testing.assert_close(loss[1], F.cross_entropy(output.logits[1, :-1], IDS[1, 1:]))


def test_the_loss_of_many_tokens_is_that_of_all_at_once(
    build: Callable[[str, str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = _loaded(build("llama", "sdpa").model)
    source = torch.Generator().manual_seed(0)
    logits = 9 * torch.randn(2, 101, 37, generator=source)
    ids = torch.randint(37, (2, 101), generator=source)
    largest: list[int] = []
    whole = torch.log_softmax

    def watched(rows: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
        largest.append(rows.numel())
        return whole(rows, *args, **kwargs)

    monkeypatch.setattr(predicting, "AT_ONCE", 400)
    monkeypatch.setattr(torch, "log_softmax", watched)
    loss = models.next_token_loss(loaded, SimpleNamespace(logits=logits), ids)
    assert loss is not None
    assert max(largest) <= 400
    wanted = [F.cross_entropy(logits[i, :-1].double(), ids[i, 1:]) for i in range(2)]
    torch.testing.assert_close(loss.double(), torch.stack(wanted), atol=1e-6, rtol=0)
