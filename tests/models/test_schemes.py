"""Where layers have their norms, over many families, and over models made for the purpose."""

from typing import Any

import pytest
import torch
from torch import nn

from headgauge import models
from norm_families import FAMILIES, NAMED, mix_ln

# Scheme, whether the norms centre, and where to read what attention adds, under the layer's name.
EXPECTED: dict[str, tuple[str, bool, str]] = {
    "gpt2": ("pre_ln", True, "attn.c_proj"),
    "llama": ("pre_ln", False, "self_attn.o_proj"),
    "llama-left-padded": ("pre_ln", False, "self_attn.o_proj"),
    "mistral": ("pre_ln", False, "self_attn.o_proj"),
    "gemma2": ("peri_ln", False, "post_attention_layernorm"),
    "gemma3": ("peri_ln", False, "post_attention_layernorm"),
    "gpt-oss": ("pre_ln", False, "self_attn.o_proj"),
    "t5": ("pre_ln", False, "layer.0.SelfAttention.o"),
    "bert": ("post_ln", True, "attention.output.dense"),
    "vit": ("pre_ln", True, "attention.o_proj"),
    "gptj": ("pre_ln", True, "attn.out_proj"),
    "bloom": ("pre_ln", True, "self_attention.dense"),
    "gpt-neo": ("pre_ln", True, "attn.attention.out_proj"),
    "xglm": ("pre_ln", True, "self_attn.out_proj"),
    "falcon": ("pre_ln", True, "self_attention.dense"),
    "falcon-sdpa": ("pre_ln", True, "self_attention.dense"),
    "gpt-neox": ("pre_ln", True, "attention.dense"),
    "cohere": ("pre_ln", True, "self_attn.o_proj"),
    "granite": ("pre_ln", False, "self_attn.o_proj"),
    "olmo2": ("other", False, "post_attention_layernorm"),
    "bitnet": ("pre_ln", False, "self_attn.o_proj"),
    "opt": ("pre_ln", True, "self_attn.out_proj"),
    "roberta": ("post_ln", True, "attention.output.dense"),
    "albert": ("post_ln", True, "albert_layers.0.attention.dense"),
    "openai-gpt": ("post_ln", True, "attn.c_proj"),
    "bart": ("post_ln", True, "self_attn.out_proj"),
}


@pytest.mark.parametrize("name", [family.name for family in FAMILIES])
def test_every_family(name: str) -> None:
    family = NAMED[name]
    scheme, centres, added = EXPECTED[name]
    for implementation in family.implementations:
        model = family.build(implementation)
        found = models.layer_norms(model, family.inputs())
        assert [each.scheme for each in found] == [scheme] * model.config.num_hidden_layers
        assert [each.centres for each in found] == [centres] * len(found)
        assert [each.added for each in found] == [f"{each.layer}.{added}" for each in found]
        factor = 0.22 if name == "granite" else 1.0
        assert [each.factor for each in found] == pytest.approx([factor] * len(found), rel=1e-6)


@pytest.mark.parametrize("name", ["llama", "gemma3", "bert", "olmo2", "falcon"])
def test_half_precision(name: str) -> None:
    family = NAMED[name]
    model = family.build(family.implementations[0]).bfloat16()
    found = models.layer_norms(model, family.inputs())
    assert [each.scheme for each in found] == [EXPECTED[name][0]] * 2


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
