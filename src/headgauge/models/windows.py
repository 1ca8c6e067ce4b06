"""Windows of consecutive tokens, cut from a text that was tokenised whole.

Cutting the text first would put word pieces at every border; adding special tokens would put them
into the prose. So the text is tokenised once, without added tokens, and window w holds the tokens
from offset + w·L on. Where the model expects BOS in front of a text (`edge_tokens`), each window
starts with it, as one of its L tokens, and takes L − 1 tokens of the text.
"""

from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor

from headgauge.errors import InputError
from headgauge.models.edge_tokens import Bos, edges
from headgauge.models.facts import LoadedModel
from headgauge.models.text import SourceText


@dataclass(frozen=True, eq=False)
class Windows:
    """The windows, the text token each starts at, and how long the text was."""

    ids: Int[Tensor, "windows length"]
    starts: tuple[int, ...]
    text_tokens: int
    bos: bool


def tokenise(tokenizer: Any, text: str) -> Int[Tensor, "tokens"]:
    """All tokens of a text, without added special tokens."""
    # `verbose=False`: longer than the model's context is what we want here.
    encoded = tokenizer(text, add_special_tokens=False, verbose=False)
    return torch.tensor(encoded["input_ids"], dtype=torch.long)


def cut_windows(
    loaded: LoadedModel,
    text: SourceText,
    length: int = 1024,
    count: int = 1,
    offset: int = 0,
    bos: Bos = "auto",
) -> Windows:
    """`count` windows of `length` tokens, one after the other from text token `offset` on."""
    if length < 1 or count < 1 or offset < 0:
        raise InputError(
            f"length {length} and windows {count} must be at least 1, offset {offset} at least 0"
        )
    check_context(loaded, length)
    check_tokenizer(loaded)
    tokens = tokenise(loaded.tokenizer, text.text)
    first = edges(loaded, bos).bos
    return cut(tokens, length, count, offset, first.id if first.put else None, name=text.name)


def check_context(loaded: LoadedModel, length: int) -> None:
    """Refuse a window that the model cannot read whole."""
    context = loaded.facts.context_length
    if context is not None and length > context:
        raise InputError(
            f"a window of {length} tokens is longer than the context of {loaded.name}: "
            f"at most {context}"
        )


def check_tokenizer(loaded: LoadedModel) -> None:
    """Refuse text for a model that cannot be given any."""
    if loaded.tokenizer is None:
        raise InputError(
            f"{loaded.name} came without a tokenizer: put its tokenizer.json beside the model (in "
            "Python, give tokenizer=…), or give token ids: a JSONL file with "
            '{"input_ids": […]} in each line'
        )


def cut(
    tokens: Int[Tensor, "tokens"],
    length: int,
    count: int,
    offset: int = 0,
    bos_token: int | None = None,
    name: str = "the text",
) -> Windows:
    """Windows of tokens that are at hand, with `bos_token` as the first of each unless None."""
    step = length if bos_token is None else length - 1
    if step < 1:
        raise InputError("a window of 1 token would hold the BOS alone: use a length of 2 or more")
    needed = offset + count * step
    if len(tokens) < needed:
        raise InputError(
            f"{name} has {len(tokens)} tokens, but {needed} are needed "
            f"({count} × {step} from token {offset} on)"
        )
    ids = tokens[offset:needed].reshape(count, step)
    if bos_token is not None:
        ids = torch.cat([torch.full((count, 1), bos_token, dtype=torch.long), ids], dim=1)
    starts = tuple(range(offset, needed, step))
    return Windows(ids, starts, len(tokens), bos_token is not None)
