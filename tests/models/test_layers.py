"""The vectors of the keys against what transformers itself returns."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from headgauge import models
from headgauge.errors import InputError

Build = Callable[[str, str], Any]
KINDS = models.VECTOR_KINDS


def _collect(case: Any, kinds: tuple[str, ...] = KINDS) -> dict[str, dict[str, Tensor | None]]:
    found: dict[str, dict[str, Tensor | None]] = {}
    with models.KeyVectors(case.model, case.inputs, kinds) as vectors:

        def observer(call: models.ObservedCall) -> None:
            found[call.module] = {kind: vectors.of(call, kind) for kind in kinds}

        with models.intercept(case.model, observer):
            case.run()
    return found


@pytest.mark.parametrize("name", ["gpt2", "llama", "mistral", "gemma3", "gptj", "bloom", "bert"])
def test_one_stack(build: Build, name: str) -> None:
    case = build(name, "eager")
    found = list(_collect(case).values())
    states = case.run(output_hidden_states=True).hidden_states
    table = case.model.get_input_embeddings()(case.inputs["input_ids"])
    assert len(found) == len(states) - 1
    for layer, vectors in enumerate(found):
        assert torch.equal(vectors["hidden"].squeeze(1), states[layer])  # type: ignore[union-attr]
        assert torch.equal(vectors["final"].squeeze(1), states[-1])  # type: ignore[union-attr]
        assert torch.equal(vectors["embedding"].squeeze(1), table)  # type: ignore[union-attr]


def test_values_are_per_key_head_and_unknown_outside_the_interface(build: Build) -> None:
    for vectors in _collect(build("llama", "sdpa"), ("value",)).values():
        assert vectors["value"] is not None
        assert vectors["value"].shape == (2, 2, 24, 8)
    for vectors in _collect(build("bloom", "eager"), ("value",)).values():
        assert vectors["value"] is None


def test_encoder_decoder_and_cross(build: Build) -> None:
    case = build("t5", "sdpa")
    found = {
        name: {kind: each.squeeze(1) for kind, each in vectors.items() if each is not None}
        for name, vectors in _collect(case, ("embedding", "hidden", "final")).items()
    }
    output = case.run(output_hidden_states=True)
    table = case.model.get_input_embeddings()
    encoded, decoded = table(case.inputs["input_ids"]), table(case.inputs["decoder_input_ids"])
    for layer in range(2):
        encoder = found[f"encoder.block.{layer}.layer.0.SelfAttention"]
        decoder = found[f"decoder.block.{layer}.layer.0.SelfAttention"]
        cross = found[f"decoder.block.{layer}.layer.1.EncDecAttention"]
        assert torch.equal(encoder["hidden"], output.encoder_hidden_states[layer])
        assert torch.equal(decoder["hidden"], output.decoder_hidden_states[layer])
        assert torch.equal(cross["hidden"], output.encoder_last_hidden_state)
        assert torch.equal(decoder["final"], output.decoder_hidden_states[-1])
        for each in (encoder, cross):
            assert torch.equal(each["final"], output.encoder_last_hidden_state)
            assert torch.equal(each["embedding"], encoded)
        assert torch.equal(decoder["embedding"], decoded)


def test_hooks_are_removed(build: Build) -> None:
    case = build("llama", "sdpa")
    _collect(case)
    assert not any(module._forward_pre_hooks for module in case.model.modules())


def test_mistakes(build: Build) -> None:
    case = build("llama", "sdpa")
    with pytest.raises(InputError, match="there are embedding, hidden, final, value"):
        models.KeyVectors(case.model, case.inputs, ("keys",))
    call = case.calls()[0]
    with pytest.raises(InputError, match="not asked for"):
        models.KeyVectors(case.model, case.inputs, ("value",)).of(call, "hidden")
    shorter = {"input_ids": case.inputs["input_ids"][:, :9]}
    with (
        models.KeyVectors(case.model, shorter, ("embedding",)) as vectors,
        pytest.raises(InputError, match="24 keys but 9 embedding vectors"),
    ):
        vectors.of(call, "embedding")
