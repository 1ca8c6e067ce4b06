"""From a window of tokens to a model's inputs, and the loss that proves its weights right."""

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from headgauge.errors import InputError
from headgauge.models.facts import LoadedModel

_AT_ONCE = 1 << 22  # logits: 16 MB


def model_inputs(loaded: LoadedModel, ids: Int[Tensor, "windows length"]) -> dict[str, Tensor]:
    """The same text for every kind of model.

    A decoder and an encoder read the window; an encoder-decoder reads it in the encoder and, moved
    one place to the right behind its start token, in the decoder.
    """
    model: Any = loaded.model
    ids = ids.to(model.device)
    if loaded.facts.kind != "encoder-decoder":
        return {"input_ids": ids}
    places = (model.config, getattr(model, "generation_config", None))
    named = (getattr(place, "decoder_start_token_id", None) for place in places)
    start = next((token for token in named if token is not None), model.config.pad_token_id)
    if start is None:
        raise InputError(f"{loaded.name} names no decoder start token (decoder_start_token_id)")
    shifted = torch.cat([torch.full_like(ids[:, :1], start), ids[:, :-1]], dim=1)
    return {"input_ids": ids, "decoder_input_ids": shifted}


def next_token_loss(
    loaded: LoadedModel,
    output: Any,
    ids: Int[Tensor, "windows length"],
) -> Float[Tensor, "windows"] | None:
    """Mean −log p of the window's tokens in nats, per window; None for an encoder.

    A decoder predicts tokens 2 to L. An encoder-decoder predicts all L from the encoded text, so
    its loss says little about the text.
    """
    logits = getattr(output, "logits", None)
    if loaded.facts.kind == "encoder" or logits is None:
        return None
    ids = ids.to(logits.device)
    if loaded.facts.kind == "decoder":
        logits, ids = logits[:, :-1], ids[:, 1:]
    losses = [_mean_loss(row, labels) for row, labels in zip(logits, ids, strict=True)]
    return torch.stack(losses)


def _mean_loss(
    logits: Float[Tensor, "tokens vocabulary"], labels: Int[Tensor, "tokens"]
) -> Float[Tensor, ""]:
    """A few tokens at a time: the loss of all at once would make a second copy of all logits."""
    tokens = max(1, _AT_ONCE // logits.shape[-1])
    chunks = zip(logits.split(tokens), labels.split(tokens), strict=True)
    losses = [F.cross_entropy(rows.float(), wanted, reduction="none") for rows, wanted in chunks]
    # On the CPU, because not every device has float64.
    return torch.cat(losses).cpu().double().mean().float().to(logits.device)
