"""More small models: one per place that a layer can have its norms at."""

from typing import Any

import transformers as hf
from torch import nn

from model_families import DIRECT, INSIDE, OUTSIDE, Family, _text

_SIZES: dict[str, Any] = {
    "vocab_size": 50, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2,
    "num_attention_heads": 4, "max_position_embeddings": 64, "pad_token_id": 0,
}  # fmt: skip
_CAUSAL: dict[str, Any] = _SIZES | {
    "num_key_value_heads": 2, "bos_token_id": 1, "eos_token_id": 2,
}  # fmt: skip


def _opt(layers: int = 2, **more: Any) -> nn.Module:
    config = hf.OPTConfig(
        vocab_size=50, hidden_size=32, num_hidden_layers=layers, num_attention_heads=4, ffn_dim=48,
        max_position_embeddings=64, word_embed_proj_dim=32, pad_token_id=0, dropout=0.0, **more,
    )  # fmt: skip
    return hf.OPTForCausalLM(config)


def mix_ln(layers: int = 4, post: int = 1) -> Any:
    """A Mix-LN: OPT's layers can be either, and the first `post` are turned to Post-LN."""
    model: Any = _opt(layers)
    for layer in model.model.decoder.layers[:post]:
        layer.do_layer_norm_before = False
    return model.eval()


def _bart() -> nn.Module:
    config = hf.BartConfig(
        vocab_size=50, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
        decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=48, pad_token_id=0,
        max_position_embeddings=64,
    )  # fmt: skip
    return hf.BartForConditionalGeneration(config)


def _openai_gpt() -> nn.Module:
    config = hf.OpenAIGPTConfig(vocab_size=50, n_embd=32, n_layer=2, n_head=4, n_positions=64)
    return hf.OpenAIGPTLMHeadModel(config)


def _albert() -> nn.Module:
    sizes: dict[str, Any] = _SIZES | {"num_hidden_layers": 3}
    return hf.AlbertModel(hf.AlbertConfig(**sizes, embedding_size=16))


def _roberta() -> nn.Module:
    sizes: dict[str, Any] = _SIZES | {"max_position_embeddings": 80}
    return hf.RobertaModel(hf.RobertaConfig(**sizes))


def _granite() -> nn.Module:
    return hf.GraniteForCausalLM(hf.GraniteConfig(**_CAUSAL, residual_multiplier=0.22))


FAMILIES = [
    *INSIDE,
    *OUTSIDE,
    DIRECT,
    Family("gpt-neox", lambda: hf.GPTNeoXForCausalLM(hf.GPTNeoXConfig(**_SIZES)), 2),
    Family("cohere", lambda: hf.CohereForCausalLM(hf.CohereConfig(**_CAUSAL)), 2),
    Family("granite", _granite, 2),
    Family("olmo2", lambda: hf.Olmo2ForCausalLM(hf.Olmo2Config(**_CAUSAL)), 2),
    Family("bitnet", lambda: hf.BitNetForCausalLM(hf.BitNetConfig(**_CAUSAL)), 2),
    Family("opt", _opt, 2),
    Family("roberta", _roberta, 2),
    Family("albert", _albert, 1),
    Family("openai-gpt", _openai_gpt, 2, implementations=("eager",)),
    Family(
        "bart", _bart, 6, inputs=lambda: _text() | {"decoder_input_ids": _text(2, 9)["input_ids"]}
    ),
]
NAMED = {family.name: family for family in FAMILIES}
