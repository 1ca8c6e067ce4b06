"""A GGUF file as they are made: a llama of one layer with a byte-level tokenizer, and what its
header says of BOS and EOS."""

from pathlib import Path
from typing import Any

import numpy as np

WIDTH, HIDDEN, BOS, EOS = 16, 24, 257, 258


def write_gguf(path: Path, pre: str = "default", **said: Any) -> Path:
    """Write it; `said` are the header's own words, such as add_bos_token=True."""
    import gguf
    from transformers.convert_slow_tokenizer import bytes_to_unicode

    tokens = [*bytes_to_unicode().values(), "th", "<s>", "</s>", "<unk>"]
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_block_count(1)
    writer.add_context_length(256)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(HIDDEN)
    writer.add_head_count(2)
    writer.add_head_count_kv(1)
    writer.add_rope_dimension_count(WIDTH // 2)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(tokens))
    writer.add_file_type(0)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(pre)
    writer.add_token_list(tokens)
    writer.add_token_types([1] * 257 + [3] * 3)
    writer.add_token_merges(["t h"])
    for key, value in ({"bos_token_id": BOS, "eos_token_id": EOS} | said).items():
        add: Any = writer.add_bool if isinstance(value, bool) else writer.add_uint32
        add(f"tokenizer.ggml.{key}", value)
    draw = np.random.default_rng(0)
    shapes = {
        "token_embd": (len(tokens), WIDTH),
        "output": (len(tokens), WIDTH),
        "blk.0.attn_q": (WIDTH, WIDTH),
        "blk.0.attn_k": (WIDTH // 2, WIDTH),
        "blk.0.attn_v": (WIDTH // 2, WIDTH),
        "blk.0.attn_output": (WIDTH, WIDTH),
        "blk.0.ffn_gate": (HIDDEN, WIDTH),
        "blk.0.ffn_up": (HIDDEN, WIDTH),
        "blk.0.ffn_down": (WIDTH, HIDDEN),
        "blk.0.attn_norm": (WIDTH,),
        "blk.0.ffn_norm": (WIDTH,),
        "output_norm": (WIDTH,),
    }
    for name, shape in shapes.items():
        weight = draw.normal(size=shape) if len(shape) > 1 else np.ones(shape)
        writer.add_tensor(f"{name}.weight", weight.astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
