"""Where layers have their norms, and their stream against what transformers itself returns."""

from itertools import pairwise
from typing import Any, NamedTuple

import pytest
import torch
import transformers as hf
from torch import Tensor, nn

from headgauge import models
from headgauge.errors import InputError
from headgauge.models.norm_placement import is_norm
from headgauge.models.structure import stream_layers
from norm_families import FAMILIES, NAMED, mix_ln


class Expected(NamedTuple):
    """Of a family: scheme, whether the norms centre, and, under the layer's name, where to read
    what attention adds. By hand, which modules make the rest of what is added (`rest`), or which
    norm reads the sum of stream and attention (`reader`)."""

    scheme: str
    centres: bool
    added: str
    rest: tuple[str, ...] = ()
    reader: str | None = None


EXPECTED = {
    "gpt2": Expected("pre_ln", True, "attn.c_proj", ("mlp",)),
    "llama": Expected("pre_ln", False, "self_attn.o_proj", ("mlp",)),
    "llama-left-padded": Expected("pre_ln", False, "self_attn.o_proj", ("mlp",)),
    "mistral": Expected("pre_ln", False, "self_attn.o_proj", ("mlp",)),
    "gemma2": Expected(
        "peri_ln", False, "post_attention_layernorm", ("post_feedforward_layernorm",)
    ),
    "gemma3": Expected(
        "peri_ln", False, "post_attention_layernorm", ("post_feedforward_layernorm",)
    ),
    "gpt-oss": Expected("pre_ln", False, "self_attn.o_proj", reader="post_attention_layernorm"),
    "t5": Expected(
        "pre_ln",
        False,
        "layer.0.SelfAttention.o",
        ("layer.1.EncDecAttention", "layer.2.DenseReluDense"),
    ),
    "bert": Expected(
        "post_ln", True, "attention.output.dense", reader="attention.output.LayerNorm"
    ),
    "vit": Expected("pre_ln", True, "attention.o_proj", ("mlp",)),
    "gptj": Expected("pre_ln", True, "attn.out_proj", ("mlp",)),
    "bloom": Expected("pre_ln", True, "self_attention.dense", reader="post_attention_layernorm"),
    "gpt-neo": Expected("pre_ln", True, "attn.attention.out_proj", ("mlp",)),
    "xglm": Expected("pre_ln", True, "self_attn.out_proj", reader="final_layer_norm"),
    "falcon": Expected("pre_ln", True, "self_attention.dense"),
    "falcon-sdpa": Expected("pre_ln", True, "self_attention.dense"),
    "gpt-neox": Expected("pre_ln", True, "attention.dense", ("mlp",)),
    "cohere": Expected("pre_ln", True, "self_attn.o_proj", ("mlp",)),
    "granite": Expected("pre_ln", False, "self_attn.o_proj", reader="post_attention_layernorm"),
    "olmo2": Expected("other", False, "post_attention_layernorm", ("post_feedforward_layernorm",)),
    "bitnet": Expected("pre_ln", False, "self_attn.o_proj", ("mlp",)),
    "opt": Expected("pre_ln", True, "self_attn.out_proj", ("fc2",)),
    "roberta": Expected(
        "post_ln", True, "attention.output.dense", reader="attention.output.LayerNorm"
    ),
    "albert": Expected("post_ln", True, "albert_layers.0.attention.dense"),
    "openai-gpt": Expected("post_ln", True, "attn.c_proj", reader="ln_1"),
    "bart": Expected("post_ln", True, "self_attn.out_proj"),
}


def _read(model: nn.Module, inputs: dict[str, Tensor]) -> list[models.StreamStep]:
    found: list[models.StreamStep] = []
    models.read_stream(model, inputs, models.layer_norms(model, inputs), found.append)
    return found


def _outer_norms(model: nn.Module) -> list[nn.Module]:
    layers = tuple(f"{layer}." for layer in stream_layers(model))
    return [
        module
        for name, module in model.named_modules()
        if is_norm(module) and not name.startswith((*layers, "embeddings"))
    ]


def _copy(found: Any) -> Tensor:
    return (found[0] if isinstance(found, tuple) else found).clone()


@pytest.mark.parametrize("name", [family.name for family in FAMILIES])
def test_every_family(name: str) -> None:
    """Norms and stream of each; stream, attention and the rest of a layer add up."""
    family, expected = NAMED[name], EXPECTED[name]
    inputs = family.inputs()

    def norms(implementation: str) -> tuple[Any, Any]:
        model = family.build(implementation)
        found = models.layer_norms(model, inputs)
        count = model.config.num_hidden_layers
        assert [each.scheme for each in found] == [expected.scheme] * count
        assert [each.centres for each in found] == [expected.centres] * count
        assert [each.added for each in found] == [
            f"{each.layer}.{expected.added}" for each in found
        ]
        factor = 0.22 if name == "granite" else 1.0
        assert [each.factor for each in found] == pytest.approx([factor] * count, rel=1e-6)
        return model, found

    *_, (model, found) = map(norms, reversed(family.implementations))
    modules, made, read = dict(model.named_modules()), {}, {}
    for layer in stream_layers(model):
        for part in expected.rest:
            modules[f"{layer}.{part}"].register_forward_hook(
                lambda module, args, output, at=(layer, part): made.update({at: _copy(output)})
            )
        if expected.reader is not None:
            modules[f"{layer}.{expected.reader}"].register_forward_pre_hook(
                lambda module, args, at=layer: read.update({at: _copy(args)})
            )
    steps: list[models.StreamStep] = []
    models.read_stream(model, inputs, found, steps.append)
    for step in steps:
        assert step.attention is not None
        assert step.attention.norm() > 0.01 * step.entering.norm()  # not forgotten
        layer, summed = step.norms.layer, step.entering + step.attention
        if expected.rest:
            rest = sum(made[layer, part].view_as(summed) for part in expected.rest)
            torch.testing.assert_close(summed + rest, step.leaving, rtol=1e-4, atol=1e-4)
        if expected.reader is not None:
            torch.testing.assert_close(summed, read[layer], rtol=1e-4, atol=1e-4)
    _is_what_the_model_returns(model, inputs, steps)


def _is_what_the_model_returns(
    model: Any, inputs: dict[str, Tensor], steps: list[models.StreamStep]
) -> None:
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


@pytest.mark.parametrize("name", ["llama", "gemma3", "bert", "olmo2", "falcon"])
def test_half_precision(name: str) -> None:
    family = NAMED[name]
    model = family.build(family.implementations[0]).bfloat16()
    found = models.layer_norms(model, family.inputs())
    assert [each.scheme for each in found] == [EXPECTED[name].scheme] * 2


def test_a_shared_layer_has_a_place_for_each_run() -> None:
    family = NAMED["albert"]
    found = models.layer_norms(family.build("sdpa"), family.inputs())
    assert [each.layer for each in found] == ["encoder.albert_layer_groups.0"] * 3


def test_only_the_decoder_of_an_encoder_decoder() -> None:
    family = NAMED["t5"]
    model = family.build("eager")
    found = models.layer_norms(model, family.inputs())
    assert [each.layer for each in found] == ["decoder.block.0", "decoder.block.1"]
    assert [each.attention for each in found] == [
        f"decoder.block.{layer}.layer.0.SelfAttention" for layer in range(2)
    ]


@pytest.mark.parametrize("post", [1, 2])
def test_mix_ln(post: int) -> None:
    found = models.layer_norms(mix_ln(post=post), NAMED["opt"].inputs())
    schemes = [each.scheme for each in found]
    assert schemes == ["post_ln"] * post + ["pre_ln"] * (4 - post)
    told = models.recognise(schemes)
    assert told.scheme == "mix_ln"
    assert ("0 has no norm before" if post == 1 else "0 to 1 have no norm before") in told.evidence
    assert f"{post} to 3 have a norm before" in told.evidence


def test_what_the_model_as_a_whole_is() -> None:
    told = models.recognise(["peri_ln"] * 3)
    assert told.scheme == "peri_ln"
    assert told.evidence.startswith("All 3 layers have a norm before the attention and one on what")
    olmo = models.recognise(["other"] * 2)
    assert olmo.scheme is None
    assert "nearest scheme is Peri-LN" in olmo.evidence
    for unknown in (["pre_ln", "post_ln"], ["post_ln", "pre_ln", "post_ln"], [None, None], []):
        assert models.recognise(unknown).scheme is None


def test_names_do_not_decide() -> None:
    """A norm that is there and does not run where its name says counts for nothing."""
    family = NAMED["llama"]
    model = family.build("sdpa")
    for layer in model.model.layers:
        layer.post_self_attn_layernorm = nn.LayerNorm(32)
    found = models.layer_norms(model, family.inputs())
    assert [each.scheme for each in found] == ["pre_ln"] * 2


def test_a_norm_after_the_attention_is_none_before_it() -> None:
    family = NAMED["gpt-neox"]
    model = family.build("sdpa")
    for layer in model.gpt_neox.layers:
        layer.input_layernorm = nn.Identity()
    found = models.layer_norms(model, family.inputs())
    assert [each.scheme for each in found] == [None] * 2


def test_no_scheme_where_the_sum_is_none() -> None:
    """The MLP's norm reads twice the attention's sum, componentwise: no scheme says that."""
    family = NAMED["llama"]
    model = family.build("sdpa")
    gate = torch.linspace(0.5, 1.5, 32)
    for layer in model.model.layers:
        layer.post_attention_layernorm.register_forward_pre_hook(
            lambda module, args: (args[0] * gate,)
        )
    found = models.layer_norms(model, family.inputs())
    assert [(each.scheme, each.added) for each in found] == [(None, None)] * 2


def test_hooks_are_removed_even_when_it_fails() -> None:
    family = NAMED["llama"]
    model: Any = family.build("sdpa")
    models.layer_norms(model, family.inputs())
    with pytest.raises(IndexError):
        models.layer_norms(model, {"input_ids": torch.tensor([[77]])})
    assert not any(m._forward_pre_hooks or m._forward_hooks for m in model.modules())


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


def test_hooks_are_removed_when_an_observer_fails() -> None:
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
    for layer in stream_layers(model):
        dict(model.named_modules())[layer].register_forward_pre_hook(
            lambda module, args: (args[0][0], *args[1:]), prepend=True
        )
    with pytest.raises(InputError, match="not a stream of shape"):
        models.layer_norms(model, images)
