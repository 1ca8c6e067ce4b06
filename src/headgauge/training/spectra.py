"""What is told without data: where a model makes queries and keys, and those weights' spectra."""

from typing import Any

import torch
from torch import nn

from headgauge.engine.qk_spectra import NAMES, qk_spectra
from headgauge.errors import InputError
from headgauge.models import facts, in_eval, model_inputs, vocabulary, with_attention
from headgauge.models.circuits import InputRows, input_rows, single_tokens
from headgauge.models.structure import IMPLEMENTATIONS
from headgauge.training.buffers import Rows


def found_rows(model: nn.Module) -> dict[str, InputRows]:
    """What makes q and k of each attention module, told from a pass over a few single tokens.

    In eval mode and without gradients, so that nothing of the training is drawn or counted.
    """
    name, inner = _reader(model)
    for parameter in inner.parameters():
        # Read by one process alone, weights that lie in several would wait for the others for ever.
        if type(parameter) is not nn.Parameter or hasattr(parameter, "ds_id"):
            kind = type(parameter).__name__
            raise InputError(f"its parameters are {kind}, sharded or quantised")
    device = next(inner.parameters()).device
    used = inner.config._attn_implementation
    kernel = used if used in IMPLEMENTATIONS else "sdpa"  # the modules are the same under any
    plain = torch.autocast(device.type, enabled=False)
    with torch.no_grad(), in_eval(inner), plain, with_attention(inner, kernel):
        loaded = facts.wrap(inner)
        tokens = single_tokens(vocabulary(loaded) or 1)
        found = input_rows(inner, model_inputs(loaded, tokens))
    return {f"{name}.{each}" if name else each: rows for each, rows in found.items()}


def _reader(model: nn.Module) -> tuple[str, Any]:
    """The transformers model, be it the model itself or a part of it, and its name there."""
    for name, module in model.named_modules():
        if hasattr(module, "get_input_embeddings") and hasattr(module, "config"):
            return name, module
    raise InputError(f"{type(model).__name__} is no transformers model, and none of its parts is")


def spectra(rows: dict[str, InputRows], layers: list[str], heads: list[int]) -> dict[str, Rows]:
    """Those of W_Q W_Kᵀ of every head, None where the weights were not found."""
    found: dict[str, Rows] = {name: [] for name in NAMES}
    for layer, count in zip(layers, heads, strict=True):
        made = rows.get(layer)
        columns: list[dict[str, float | None]] = [{}] * count
        if made is not None and made.query is not None and made.key is not None:
            columns = qk_spectra(made.query.weights(), made.key.weights())
        for name, several in found.items():
            several.append([each.get(name) for each in columns])
    return found
