"""Small models with random weights, one per way of doing attention."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch
import transformers as hf
from torch import Tensor, nn

from headgauge import models

LENGTH = 24

_DECODER: dict[str, Any] = {
    "vocab_size": 50, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8,
    "max_position_embeddings": 64, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
}  # fmt: skip


def _text(batch: int = 2, length: int = LENGTH) -> dict[str, Tensor]:
    ids = torch.randint(3, 50, (batch, length), generator=torch.Generator().manual_seed(1))
    return {"input_ids": ids}


def _padded(left: bool) -> dict[str, Tensor]:
    inputs = _text()
    mask = torch.ones_like(inputs["input_ids"])
    mask[0, slice(0, 5) if left else slice(-5, None)] = 0
    return inputs | {"attention_mask": mask}


@dataclass(frozen=True)
class Family:
    """A tiny model: how to make it, what it reads, how many attention modules it has."""

    name: str
    make: Callable[[], nn.Module]
    attentions: int
    inputs: Callable[[], dict[str, Tensor]] = _text
    implementations: tuple[str, ...] = ("sdpa", "eager")
    gain: float = 8.0

    def build(self, implementation: str) -> Any:
        torch.manual_seed(0)
        model: Any = self.make()
        with torch.no_grad():
            for name, weight in model.named_parameters():
                # Far from uniform attention: a wrong scale or mask must show.
                if weight.ndim > 1:
                    weight.mul_(self.gain if "embed" not in name else 3)
                elif "sinks" in name:
                    weight.normal_()
        if model.config._attn_implementation != implementation:
            model.set_attn_implementation(implementation)
        return model.eval()


def _gpt2(**more: Any) -> nn.Module:
    config = hf.GPT2Config(vocab_size=50, n_embd=32, n_layer=2, n_head=4, n_positions=64, **more)
    return hf.GPT2LMHeadModel(config)


def _gemma2() -> nn.Module:
    config = hf.Gemma2Config(
        **_DECODER, attn_logit_softcapping=0.5, sliding_window=7, query_pre_attn_scalar=16
    )
    return hf.Gemma2ForCausalLM(config)


def _gemma3() -> nn.Module:
    kinds = ["sliding_attention", "full_attention"]
    config = hf.Gemma3TextConfig(
        **_DECODER, sliding_window=7, layer_types=kinds, query_pre_attn_scalar=16
    )
    return hf.Gemma3ForCausalLM(config)


def _gpt_oss() -> nn.Module:
    kinds = ["sliding_attention", "full_attention"]
    config = hf.GptOssConfig(
        **_DECODER, num_local_experts=2, num_experts_per_tok=1, sliding_window=7, layer_types=kinds
    )
    return hf.GptOssForCausalLM(config)


def _t5() -> nn.Module:
    config = hf.T5Config(
        vocab_size=50, d_model=32, d_kv=8, d_ff=48, num_layers=2, num_heads=4, pad_token_id=0,
        eos_token_id=1,
    )  # fmt: skip
    return hf.T5ForConditionalGeneration(config)


def _t5_inputs() -> dict[str, Tensor]:
    return _padded(left=False) | {"decoder_input_ids": _text(length=9)["input_ids"]}


def _bert() -> nn.Module:
    config = hf.BertConfig(
        vocab_size=50, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
        intermediate_size=48, max_position_embeddings=64,
    )  # fmt: skip
    return hf.BertModel(config)


def _vit() -> nn.Module:
    config = hf.ViTConfig(
        hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48,
        image_size=16, patch_size=4,
    )  # fmt: skip
    return hf.ViTModel(config)


def _images() -> dict[str, Tensor]:
    return {"pixel_values": torch.randn(2, 3, 16, 16, generator=torch.Generator().manual_seed(1))}


def _falcon(implementation: str) -> nn.Module:
    config = hf.FalconConfig(
        vocab_size=50, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, alibi=False,
        new_decoder_architecture=False, multi_query=False, max_position_embeddings=64,
    )  # fmt: skip
    # Falcon chooses when it is made: it has no interface through which to change it.
    return hf.FalconForCausalLM._from_config(config, attn_implementation=implementation)


INSIDE = [
    Family("gpt2", _gpt2, 2),
    Family("llama", lambda: hf.LlamaForCausalLM(hf.LlamaConfig(**_DECODER)), 2),
    Family(
        "llama-left-padded",
        lambda: hf.LlamaForCausalLM(hf.LlamaConfig(**_DECODER)),
        2,
        inputs=lambda: _padded(left=True),
    ),
    Family(
        "mistral",
        lambda: hf.MistralForCausalLM(hf.MistralConfig(**_DECODER, sliding_window=7)),
        2,
    ),
    Family("gemma2", _gemma2, 2, implementations=("eager",)),
    Family("gemma3", _gemma3, 2),
    Family("gpt-oss", _gpt_oss, 2, implementations=("eager",)),
    Family("t5", _t5, 6, inputs=_t5_inputs, gain=1.5),
    Family("bert", _bert, 2, inputs=lambda: _padded(left=False)),
    Family("vit", _vit, 2, inputs=_images),
]

OUTSIDE = [
    Family(
        "gptj",
        lambda: hf.GPTJForCausalLM(
            hf.GPTJConfig(
                vocab_size=50, n_embd=32, n_layer=2, n_head=4, n_positions=64, rotary_dim=4
            )
        ),
        2,
        implementations=("eager",),
    ),
    Family(
        "bloom",
        lambda: hf.BloomForCausalLM(
            hf.BloomConfig(vocab_size=50, hidden_size=32, n_layer=2, n_head=4)
        ),
        2,
        inputs=lambda: _padded(left=True),
        implementations=("eager",),
    ),
    Family(
        "gpt-neo",
        lambda: hf.GPTNeoForCausalLM(
            hf.GPTNeoConfig(
                vocab_size=50,
                hidden_size=32,
                num_layers=2,
                num_heads=4,
                window_size=7,
                attention_types=[[["global", "local"], 1]],
                max_position_embeddings=64,
            )
        ),
        2,
        implementations=("eager",),
    ),
    Family(
        "xglm",
        lambda: hf.XGLMForCausalLM(
            hf.XGLMConfig(
                vocab_size=50, d_model=32, ffn_dim=48, num_layers=2, attention_heads=4, dropout=0.0
            )
        ),
        2,
        implementations=("eager",),
    ),
    Family("falcon", lambda: _falcon("eager"), 2, implementations=("eager",)),
]
# Outside the interface, and yet everything can be seen.
DIRECT = Family("falcon-sdpa", lambda: _falcon("sdpa"), 2, implementations=("sdpa",))


def cases(families: list[Family]) -> list[Any]:
    return [
        pytest.param((family, kind), id=f"{family.name}-{kind}")
        for family in families
        for kind in family.implementations
    ]


@dataclass(frozen=True, eq=False)
class Case:
    family: Family
    implementation: str
    model: Any
    inputs: dict[str, Tensor]

    def run(self, **more: Any) -> Any:
        with torch.no_grad():
            return self.model(**self.inputs, **more)

    def gather(self, block_rows: int = 10) -> dict[str, Tensor]:
        """All weights that an observer sees, put together again by module name."""
        found: dict[str, Tensor] = {}

        def observer(call: models.ObservedCall) -> None:
            rows = torch.zeros(call.shape)
            for block in call.blocks(block_rows):
                part = rows[block.batch, block.head, block.start : block.stop]
                part[:, : block.reach] = block.weights
            found[call.module] = rows

        with models.intercept(self.model, observer):
            self.run()
        return found

    def calls(self, **more: Any) -> list[models.ObservedCall]:
        """The calls of one run."""
        found: list[models.ObservedCall] = []
        with models.intercept(self.model, found.append):
            self.run(**more)
        return found

    def weights(self) -> list[Tensor]:
        """The weights that the plain eager model returns, in the order of its modules."""
        eager = self.family.build("eager")
        with torch.no_grad():
            output = eager(**self.inputs, output_attentions=True)
        if self.family.name != "t5":
            return list(output.attentions)
        decoder = zip(output.decoder_attentions, output.cross_attentions, strict=True)
        return [*output.encoder_attentions, *(each for pair in decoder for each in pair)]


def case_of(param: tuple[Family, str]) -> Case:
    family, implementation = param
    return Case(family, implementation, family.build(implementation), family.inputs())


def case(name: str, implementation: str) -> Case:
    """A case by the names of its family and implementation."""
    named = {family.name: family for family in [*INSIDE, *OUTSIDE, DIRECT]}
    return case_of((named[name], implementation))
