"""Windows of consecutive tokens, and a model's inputs from them.

Cutting a text before it is tokenised would put word pieces at every border; adding special tokens
would put them into the prose. So the text is tokenised once, without added tokens, and window w
holds the tokens from offset + w·L on. Where the model expects BOS in front of a text
(`edge_tokens`), each window starts with it, as one of its L tokens, and takes L − 1 of the text.
"""

from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor

from headgauge.errors import InputError
from headgauge.models.facts import LoadedModel


def token_ids(tokenizer: Any, text: str) -> list[int]:
    """All tokens of a text, without added special tokens."""
    # `verbose=False`: longer than the model's context is what we want here.
    return tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"]


def tokenise(tokenizer: Any, text: str) -> Int[Tensor, "tokens"]:
    return torch.tensor(token_ids(tokenizer, text), dtype=torch.long)


def cut_windows(
    tokens: Int[Tensor, "tokens"],
    length: int,
    count: int,
    offset: int = 0,
    bos_token: int | None = None,
    name: str = "the text",
) -> list[tuple[int, Int[Tensor, "length"]]]:
    """Windows and the places they start at; each has `bos_token` first unless that is None."""
    if length < 1 or count < 1 or offset < 0:
        raise InputError(
            f"length {length} and windows {count} must be at least 1, offset {offset} at least 0"
        )
    first = tokens.new_tensor([] if bos_token is None else [bos_token])
    step = length - len(first)
    if step < 1:
        raise InputError("a window of 1 token would hold the BOS alone: use a length of 2 or more")
    needed = offset + count * step
    if len(tokens) < needed:
        raise InputError(
            f"{name} has {len(tokens)} tokens, but {needed} are needed "
            f"({count} × {step} from token {offset} on)"
        )
    starts = range(offset, needed, step)
    return [(start, torch.cat([first, tokens[start : start + step]])) for start in starts]


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
            '{"input_ids": […]} in each line' + (f"; {loaded.note}" if loaded.note else "")
        )


def check_ids(loaded: LoadedModel, ids: Tensor, window: int | None = None) -> None:
    """Refuse what is no row of token ids, or none that the model has an embedding for; `window` is
    the number of a single row, for the message."""
    whole = not (ids.is_floating_point() or ids.is_complex() or ids.dtype == torch.bool)
    if not whole or ids.ndim not in (1, 2) or ids.numel() == 0:
        raise InputError(
            "token ids must be whole numbers of shape (length,) or (windows, length), got "
            f"{ids.dtype} of shape {tuple(ids.shape)}"
        )
    size = vocabulary(loaded)
    # Before the model sees them: on another device than the CPU it would fail without a reason.
    wrong = (ids < 0) if size is None else (ids < 0) | (ids >= size)
    if bool(wrong.any()):
        *row, place = wrong.nonzero()[0].tolist()
        number = row[0] if row else window
        where = f"place {place}" + ("" if number is None else f" of window {number}")
        known = "" if size is None else f": {loaded.name} knows the tokens 0 to {size - 1}"
        raise InputError(f"token id {int(ids[wrong][0])} at {where} is none{known}")


def vocabulary(loaded: LoadedModel) -> int | None:
    """How many tokens the model can read: the rows of its input embedding."""
    model: Any = loaded.model
    weight = getattr(model.get_input_embeddings(), "weight", None)
    return loaded.facts.vocabulary if weight is None else len(weight)


def ordinary_tokens(loaded: LoadedModel) -> Int[Tensor, "tokens"]:
    """The tokens that stand for text: neither special nor added, as far as it is known."""
    model: Any = loaded.model
    config, tokenizer = model.config.get_text_config(), loaded.tokenizer
    given = [value for name, value in vars(config).items() if name.endswith("_token_id")]
    special = {each for each in given if isinstance(each, int)}
    size = vocabulary(loaded) or 0
    if tokenizer is not None:
        special |= {*tokenizer.all_special_ids, *getattr(tokenizer, "added_tokens_decoder", {})}
        size = min(size, len(tokenizer))
    return torch.tensor([each for each in range(size) if each not in special], dtype=torch.long)


def model_inputs(loaded: LoadedModel, ids: Int[Tensor, "windows length"]) -> dict[str, Tensor]:
    """The same text for every kind of model.

    A decoder and an encoder read the window; an encoder-decoder reads it in the encoder and, moved
    to the right behind what its own output starts with, in the decoder.
    """
    check_ids(loaded, ids)
    model: Any = loaded.model
    ids = ids.to(model.device)
    if loaded.facts.kind != "encoder-decoder":
        return {"input_ids": ids}
    start = ids.new_tensor(decoder_start(loaded, ids)).expand(len(ids), -1)
    shifted = torch.cat([start, ids], dim=1)[:, : ids.shape[1]]
    return {"input_ids": ids, "decoder_input_ids": shifted}


def decoder_start(loaded: LoadedModel, ids: Int[Tensor, "windows length"]) -> list[int]:
    """What a decoder's input starts with, as when the model generates.

    Its start token (BOS where it names none, else padding, as T5 does), then the token its output
    is made to begin with (BART's BOS, a language), unless the windows begin with that already.
    """
    model: Any = loaded.model
    places = (model.config, getattr(model, "generation_config", None))

    def named(*names: str) -> int | None:
        found = (getattr(place, name, None) for name in names for place in places)
        return next((token for token in found if token is not None), None)

    start = named("decoder_start_token_id", "bos_token_id", "pad_token_id")
    if start is None:
        raise InputError(f"{loaded.name} names no decoder start token (decoder_start_token_id)")
    forced = named("forced_bos_token_id")
    if forced is None or bool((ids[:, 0] == forced).all()):
        return [start]
    return [start, forced]
