"""What the examples train: a small causal transformer that reads the bytes of War and Peace."""

from collections.abc import Iterator

import torch
import transformers
from jaxtyping import Int
from torch import Tensor

from headgauge import models

BATCH, LENGTH = 8, 128  # windows of a step and bytes of a window where a training is watched


def small_model(seed: int, length: int = LENGTH, layers: int = 6) -> transformers.LlamaForCausalLM:
    """1.3 million parameters with 6 layers, of 8 heads each."""
    torch.manual_seed(seed)
    config = transformers.LlamaConfig(
        vocab_size=256,
        hidden_size=128,
        intermediate_size=384,
        num_hidden_layers=layers,
        num_attention_heads=8,
        num_key_value_heads=8,
        max_position_embeddings=length,
        tie_word_embeddings=True,
    )
    return transformers.LlamaForCausalLM(config)


def read_bytes() -> tuple[Int[Tensor, "trained"], Int[Tensor, "judged"]]:
    """The first nine tenths of the text, which train, and the last, which judges."""
    tokens = torch.tensor(list(models.read_text(None).text.encode()))
    split = len(tokens) * 9 // 10
    return tokens[:split], tokens[split:]


def batches(
    tokens: Int[Tensor, "tokens"], length: int, batch: int, steps: int, seed: int
) -> Iterator[Int[Tensor, "batch length"]]:
    """Windows drawn at random."""
    drawn = torch.Generator().manual_seed(seed)
    for _ in range(steps):
        starts = torch.randint(len(tokens) - length, (batch,), generator=drawn)
        yield torch.stack([tokens[start : start + length] for start in starts.tolist()])
