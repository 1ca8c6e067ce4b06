"""The stream of every family against what transformers itself returns, and its parts."""

from itertools import pairwise
from typing import Any

import pytest
import torch
import transformers as hf
from torch import Tensor, nn

from headgauge import models
from headgauge.errors import InputError
from headgauge.models.schemes import is_norm
from norm_families import FAMILIES, NAMED, mix_ln


def _read(model: nn.Module, inputs: dict[str, Tensor]) -> list[models.StreamStep]:
    found: list[models.StreamStep] = []
    models.read_stream(model, inputs, models.layer_norms(model, inputs), found.append)
    return found


def _outer_norms(model: nn.Module) -> list[nn.Module]:
    layers = tuple(f"{layer}." for layer in models.stream_layers(model))
    return [
        module
        for name, module in model.named_modules()
        if is_norm(module) and not name.startswith((*layers, "embeddings"))
    ]


@pytest.mark.parametrize("name", [family.name for family in FAMILIES])
def test_the_stream_is_what_the_model_returns(name: str) -> None:
    family = NAMED[name]
    model, inputs = family.build(family.implementations[0]), family.inputs()
    steps = _read(model, inputs)
    with torch.no_grad():
        output = model(**inputs, output_hidden_states=True)
        states = getattr(output, "decoder_hidden_states", None) or output.hidden_states
        assert [step.place for step in steps] == list(range(len(states) - 1))
        for step, state in zip(steps, states, strict=False):
            assert torch.equal(step.entering, state)
        for step, following in pairwise(steps):
            assert torch.equal(step.leaving, following.entering)
        last = steps[-1].leaving
        finals = [last, *(norm(last) for norm in _outer_norms(model))]
    assert any(torch.equal(each, states[-1]) for each in finals)


# What adds to the stream besides the attention, by hand: modules whose outputs are the rest.
_REST = {
    "gpt2": ["mlp"],
    "llama": ["mlp"],
    "mistral": ["mlp"],
    "gemma2": ["post_feedforward_layernorm"],
    "gemma3": ["post_feedforward_layernorm"],
    "olmo2": ["post_feedforward_layernorm"],
    "gpt-neox": ["mlp"],
    "cohere": ["mlp"],
    "gptj": ["mlp"],
    "bitnet": ["mlp"],
    "vit": ["mlp"],
    "gpt-neo": ["mlp"],
    "opt": ["fc2"],
    "t5": ["layer.1.EncDecAttention", "layer.2.DenseReluDense"],
}


@pytest.mark.parametrize("name", list(_REST))
def test_stream_attention_and_rest_add_up(name: str) -> None:
    family = NAMED[name]
    model, inputs = family.build(family.implementations[0]), family.inputs()
    modules = dict(model.named_modules())
    made: dict[str, Tensor] = {}

    def keep(module: nn.Module, args: Any, output: Any, which: str) -> None:
        made[which] = (output[0] if isinstance(output, tuple) else output).clone()

    for layer in models.stream_layers(model):
        for part in _REST[name]:
            which = f"{layer}.{part}"
            modules[which].register_forward_hook(
                lambda *each, which=which: keep(*each, which=which)
            )
    for step in _read(model, inputs):
        assert step.attention is not None
        rest = sum(made[f"{step.norms.layer}.{part}"] for part in _REST[name])
        assert isinstance(rest, Tensor)
        whole = step.entering + step.attention + rest.view_as(step.entering)
        torch.testing.assert_close(whole, step.leaving, rtol=1e-4, atol=1e-4)
        assert step.attention.norm() > 0.01 * step.entering.norm()  # not forgotten


def test_falcon_adds_in_place() -> None:
    family = NAMED["falcon-sdpa"]
    model, inputs = family.build("sdpa"), family.inputs()
    dense: list[Tensor] = []
    for layer in model.transformer.h:
        layer.self_attention.dense.register_forward_hook(
            lambda module, args, output: dense.append(output.clone())
        )
    steps = _read(model, inputs)
    for step, expected in zip(steps, dense[-2:], strict=True):
        assert step.attention is not None
        assert torch.equal(step.attention, expected)


def test_a_layer_that_changes_its_input_in_place() -> None:
    family = NAMED["llama"]
    model, inputs = family.build("sdpa"), family.inputs()
    model.model.layers[0].input_layernorm.register_forward_pre_hook(
        lambda module, args: (args[0].mul_(2),)
    )
    with torch.no_grad():
        expected = model.get_input_embeddings()(inputs["input_ids"])
    assert torch.equal(_read(model, inputs)[0].entering, expected)


@pytest.mark.parametrize(("name", "norm"), [("bert", "attention.output.LayerNorm"),
                                            ("roberta", "attention.output.LayerNorm"),
                                            ("openai-gpt", "ln_1"),
                                            ("bloom", "post_attention_layernorm"),
                                            ("granite", "post_attention_layernorm"),
                                            ("xglm", "final_layer_norm"),
                                            ("gpt-oss", "post_attention_layernorm")])  # fmt: skip
def test_the_next_norm_reads_stream_and_attention(name: str, norm: str) -> None:
    family = NAMED[name]
    model, inputs = family.build(family.implementations[0]), family.inputs()
    modules, read = dict(model.named_modules()), []
    for layer in models.stream_layers(model):
        modules[f"{layer}.{norm}"].register_forward_pre_hook(
            lambda module, args: read.append(args[0].clone())
        )
    steps = _read(model, inputs)
    for step, expected in zip(steps, read[-len(steps) :], strict=True):
        assert step.attention is not None
        torch.testing.assert_close(step.entering + step.attention, expected, rtol=1e-4, atol=1e-4)


def test_a_shared_layer_counts_its_runs() -> None:
    family = NAMED["albert"]
    steps = _read(family.build("sdpa"), family.inputs())
    assert [(step.place, step.occurrence) for step in steps] == [(0, 0), (1, 1), (2, 2)]


def test_a_layer_that_changes_its_scheme() -> None:
    steps = _read(mix_ln(post=2), NAMED["opt"].inputs())
    assert [step.norms.scheme for step in steps] == ["post_ln"] * 2 + ["pre_ln"] * 2
    radii = [float(step.leaving.norm(dim=-1).std()) for step in steps]
    assert max(radii[:2]) < 1e-3 < min(radii[2:])  # all of one length after a norm


def test_layers_are_handed_over_as_they_end() -> None:
    family = NAMED["llama"]
    model, inputs = family.build("sdpa"), family.inputs()
    order: list[str] = []
    for number, layer in enumerate(model.model.layers):
        layer.mlp.register_forward_hook(lambda *each, number=number: order.append(f"mlp {number}"))
    layers = models.layer_norms(model, inputs)
    order.clear()
    models.read_stream(model, inputs, layers, lambda step: order.append(f"step {step.place}"))
    assert order == ["mlp 0", "step 0", "mlp 1", "step 1"]


def test_hooks_are_removed_even_when_it_fails() -> None:
    family = NAMED["llama"]
    model, inputs = family.build("sdpa"), family.inputs()

    def fail(step: models.StreamStep) -> None:
        raise RuntimeError("observer")

    with pytest.raises(RuntimeError, match="observer"):
        models.read_stream(model, inputs, models.layer_norms(model, inputs), fail)
    assert not any(m._forward_pre_hooks or m._forward_hooks for m in model.modules())


def test_another_model_than_the_traced_one() -> None:
    family = NAMED["llama"]
    model, inputs = family.build("sdpa"), family.inputs()
    layers = models.layer_norms(model, inputs)[:1]
    layers = [layers[0], layers[0]]  # as a shared layer would be
    twice = nn.ModuleList([model.model.layers[0]] * 3)
    model.model.layers = twice
    model.config.num_hidden_layers = 3
    with pytest.raises(InputError, match="more layers ran than the 2 that were traced"):
        models.read_stream(model, inputs, layers, lambda step: None)


def test_no_stream_of_three_axes() -> None:
    config = hf.SwinConfig(
        image_size=16, patch_size=4, embed_dim=16, depths=[1], num_heads=[2], window_size=2
    )
    model = hf.SwinModel(config).eval()
    images = {"pixel_values": torch.randn(1, 3, 16, 16)}
    for layer in models.stream_layers(model):
        dict(model.named_modules())[layer].register_forward_pre_hook(
            lambda module, args: (args[0][0], *args[1:]), prepend=True
        )
    with pytest.raises(InputError, match="not a stream of shape"):
        models.layer_norms(model, images)
